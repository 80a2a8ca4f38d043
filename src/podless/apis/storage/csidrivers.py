"""Strategy of CSIDriver."""

from __future__ import annotations

from collections.abc import Sequence

from podless.apis.shared.checks import (
    validate_immutable,
    validate_immutable_fields,
    validate_token_lifetime,
    validate_unique,
)
from podless.apis.shared.typed import TypedStrategy
from podless.kinds.kind import Version
from podless.kinds.strategy import MetadataPolicy
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

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        spec, before = obj["spec"], (old or obj)["spec"]
        yield from field.one_of("spec.fsGroupPolicy", spec.get("fsGroupPolicy"), _GROUP_POLICIES)
        yield from _validate_tokens(spec.get("tokenRequests") or [])
        for mode in each(spec.get("volumeLifecycleModes") or []):
            yield from field.one_of("spec.volumeLifecycleModes", mode, _LIFECYCLES)
        period = spec.get("nodeAllocatableUpdatePeriodSeconds")
        if period is not None and period < _PERIOD:
            text = f"must be greater than or equal to {_PERIOD} seconds"
            yield field.invalid("spec.nodeAllocatableUpdatePeriodSeconds", period, text)
        secret = spec.get("serviceAccountTokenInSecrets")
        if secret is not None and not spec.get("tokenRequests"):
            yield field.invalid("spec.serviceAccountTokenInSecrets", secret, _NO_TOKENS)
        yield from validate_immutable("spec.attachedRequired", spec.get("attachRequired"), before.get("attachRequired"))
        yield from validate_immutable_fields(spec, before, "volumeLifecycleModes", path="spec")

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        spec, before = obj["spec"], old["spec"] if old is not None else {}
        changed = spec.get("tokenRequests") and spec.get("tokenRequests") != before.get("tokenRequests")
        if changed and spec.get("serviceAccountTokenInSecrets") is None and has("TokensInSecrets"):
            return [_SECRETS]
        return []


def _validate_tokens(requests: Sequence[Object]) -> field.Errors:
    seen: set[str] = set()
    for index, request in enumerate(each(requests)):
        path, seconds = f"spec.tokenRequests[{index}]", request.get("expirationSeconds")
        repeated = validate_unique(f"{path}.audience", request["audience"], seen)
        yield from repeated
        if seconds is not None and not repeated:
            yield from validate_token_lifetime(f"{path}.expirationSeconds", seconds)


STRATEGY = CSIDriverStrategy()
