"""Strategy of Lease."""

from __future__ import annotations

from podless.apis.shared import checks
from podless.apis.shared.typed import TypedStrategy
from podless.kinds.kind import Version
from podless.kinds.strategy import MetadataPolicy
from podless.meta import field
from podless.runtime.jsonobject import Object


class LeaseStrategy(TypedStrategy):
    """Strategy of Lease, without the fields of coordinated leader election.

    Coordinated leader election is an alpha feature, off by default in kube-apiserver.
    """

    rearranged = False
    allow_unconditional_update = False
    allow_create_on_update = True
    metadata = MetadataPolicy(on_update=(0, 1), qualified_finalizers=False)

    def prepare_create(self, version: Version, obj: Object) -> None:
        for name in ("strategy", "preferredHolder"):
            obj["spec"].pop(name, None)

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        self.prepare_create(version, obj)

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        spec = obj["spec"]
        duration = spec.get("leaseDurationSeconds")
        if duration is not None and duration <= 0:
            yield field.invalid("spec.leaseDurationSeconds", duration, "must be greater than 0")
        yield from checks.validate_nonnegative("spec.leaseTransitions", spec.get("leaseTransitions"))


STRATEGY = LeaseStrategy()
