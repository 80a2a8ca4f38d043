"""Lease."""

from __future__ import annotations

from collections.abc import Sequence

from podless.kinds.builtin.typed import TypedStrategy
from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import Object
from podless.kinds.types import LEASE
from podless.meta import field
from podless.meta.field import FieldError


class LeaseStrategy(TypedStrategy):
    """Who holds a lease says since when and how long; what belongs to coordinated election is left out.

    Coordinated leader election is an alpha feature of a real server, off unless asked for.
    """

    unconditional = False
    qualified = False
    created_by_update = True

    def prepare_create(self, version: Version, obj: Object) -> None:
        """Drop what only coordinated election has."""
        for name in ("strategy", "preferredHolder"):
            obj["spec"].pop(name, None)

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        """The same."""
        self.prepare_create(version, obj)

    def validate_create(self, kind: Kind, version: Version, obj: Object) -> Sequence[FieldError]:
        """Numbers that make sense."""
        spec = obj["spec"]
        errors = []
        duration, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
        if duration is not None and duration <= 0:
            errors.append(field.invalid("spec.leaseDurationSeconds", duration, "must be greater than 0"))
        if transitions is not None and transitions < 0:
            errors.append(field.invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0"))
        return errors

    def validate_update(
        self, kind: Kind, version: Version, obj: Object, old: Object, warnings: list[str]
    ) -> Sequence[FieldError]:
        """As a new one."""
        return self.validate_create(kind, version, obj)


LEASES = Kind(
    group="coordination.k8s.io",
    plural="leases",
    kind="Lease",
    singular="lease",
    list_kind="LeaseList",
    namespaced=True,
    versions=(Version("v1"),),
    storage_version="v1",
    strategy=LeaseStrategy(),
    struct=LEASE,
    verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
)
