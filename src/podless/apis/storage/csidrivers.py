"""Strategy of CSIDriver."""

from __future__ import annotations

from collections.abc import Sequence

from podless.apis.shared.checks import token_lifetime, validate_immutable, validate_immutable_fields
from podless.apis.shared.typed import TypedStrategy
from podless.kinds.kind import Version
from podless.kinds.strategy import Faults, MetadataPolicy
from podless.meta import field
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has

_GROUP_POLICIES = ("File", "None", "ReadWriteOnceWithFSType")
_LIFECYCLES = ("Persistent", "Ephemeral")
_PERIOD = 10  # the minimum in seconds
_DISABLED = "preventPodSchedulingIfMissing"
_NO_TOKENS = "serviceAccountTokenInSecrets is set but no tokenRequests are specified"
_SECRETS = (
    "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible "
    "logging of tokens in volume attributes"
)


class CSIDriverStrategy(TypedStrategy):
    """Strategy of CSIDriver. Changes of the mutable fields increase metadata.generation."""

    allow_unconditional_update = False
    metadata = MetadataPolicy(on_update=(0, 1))

    def prepare_create(self, version: Version, obj: Object) -> None:
        obj["spec"].pop(_DISABLED, None)

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        if _DISABLED not in old["spec"]:
            obj["spec"].pop(_DISABLED, None)
        if obj["spec"] != old["spec"]:
            obj["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1

    def validate_create(self, version: Version, obj: Object) -> Faults:
        spec = obj["spec"]
        errors = []
        if (policy := spec.get("fsGroupPolicy")) not in (None, *_GROUP_POLICIES):
            errors.append(field.not_supported("spec.fsGroupPolicy", policy, _GROUP_POLICIES))
        errors += _validate_tokens(spec.get("tokenRequests") or [])
        for mode in each(spec.get("volumeLifecycleModes") or []):
            errors += field.one_of("spec.volumeLifecycleModes", mode, _LIFECYCLES)
        period = spec.get("nodeAllocatableUpdatePeriodSeconds")
        if period is not None and period < _PERIOD:
            text = f"must be greater than or equal to {_PERIOD} seconds"
            errors.append(field.invalid("spec.nodeAllocatableUpdatePeriodSeconds", period, text))
        secret = spec.get("serviceAccountTokenInSecrets")
        if secret is not None and not spec.get("tokenRequests"):
            errors.append(field.invalid("spec.serviceAccountTokenInSecrets", secret, _NO_TOKENS))
        return errors

    def validate_update(self, version: Version, obj: Object, old: Object) -> Faults:
        spec, before = obj["spec"], old["spec"]
        errors = [*self.validate_create(version, obj)]
        errors += validate_immutable("spec.attachedRequired", spec.get("attachRequired"), before.get("attachRequired"))
        return [*errors, *validate_immutable_fields(spec, before, "volumeLifecycleModes", path="spec")]

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        spec, before = obj["spec"], old["spec"] if old is not None else {}
        changed = spec.get("tokenRequests") and spec.get("tokenRequests") != before.get("tokenRequests")
        if changed and spec.get("serviceAccountTokenInSecrets") is None and has("TokensInSecrets"):
            return [_SECRETS]
        return []


def _validate_tokens(requests: Sequence[Object]) -> field.Errors:
    seen: set[str] = set()
    for index, request in enumerate(each(requests)):
        path, audience, seconds = f"spec.tokenRequests[{index}]", request["audience"], request.get("expirationSeconds")
        if audience in seen:
            yield field.duplicate(f"{path}.audience", audience)
            continue
        seen.add(audience)
        if seconds is not None:
            yield from token_lifetime(f"{path}.expirationSeconds", seconds)


STRATEGY = CSIDriverStrategy()
