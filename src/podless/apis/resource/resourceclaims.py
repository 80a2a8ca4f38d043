"""Strategy of ResourceClaim. Source: pkg/registry/resource/resourceclaim."""

from __future__ import annotations

from podless.apis.resource import allocations, parts, requests
from podless.apis.shared.carried import keep_metadata, put_part
from podless.apis.shared.checks import immutable_error
from podless.apis.shared.typed import StatusStrategy
from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import NOT_STATUS, Checking, Faults
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.structs import gostructs
from podless.structs.structfiles import load_struct

RESOURCE_CLAIM_SPEC = load_struct("resource/v1", "ResourceClaimSpec")


class ResourceClaimStrategy(StatusStrategy):
    """Strategy of ResourceClaim, whose spec is immutable."""

    status_resets = NOT_STATUS
    checking = Checking(preload=True, cost=parts.STRAIN)

    def load_rules(self) -> None:
        parts.load_cel()

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        requests.default_requests(obj["spec"])

    def prepare_status(self, version: Version, obj: Object, old: Object) -> None:
        super().prepare_status(version, obj, old)
        keep_metadata(obj, old)
        status = obj["status"]
        gone = allocations.allocated_devices(old["status"]) - allocations.allocated_devices(status)
        told = [one for one in each(status.get("devices") or ()) if allocations.device_key(one) not in gone]
        put_part(status, "devices", told or None)

    def validate_create(self, kind: Kind, version: Version, obj: Object) -> Faults:
        return [*requests.validate_claim(obj["spec"], "spec")]

    def validate_update(self, kind: Kind, version: Version, obj: Object, old: Object, warnings: list[str]) -> Faults:
        spec = obj["spec"]
        same = requests.is_same_spec(spec, old["spec"])
        return [] if same else [immutable_error("spec", gostructs.format_struct(RESOURCE_CLAIM_SPEC, spec))]

    def validate_status(self, kind: Kind, version: Version, obj: Object, old: Object, warnings: list[str]) -> Faults:
        return [*allocations.validate_allocation(obj, old)]


STRATEGY = ResourceClaimStrategy()
