"""Strategy of CSIStorageCapacity."""

from __future__ import annotations

from podless.apis.shared import nodelabels
from podless.apis.shared.checks import immutable_error, validate_immutable_fields
from podless.apis.shared.typed import TypedStrategy
from podless.codec import quantity
from podless.kinds.kind import Version
from podless.meta import field, names, validation
from podless.runtime.jsonobject import Object
from podless.structs import gostructs


class CSIStorageCapacityStrategy(TypedStrategy):
    """Strategy of CSIStorageCapacity. Topology and class are immutable; the capacity is not."""

    allow_unconditional_update = False

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        topology, name, amount = obj.get("nodeTopology"), obj["storageClassName"], obj.get("capacity")
        yield from validation.validate_selector(topology or {}, "nodeTopology")
        yield from field.invalid_details("storageClassName", name, names.check_subdomain(name))
        if amount is not None and quantity.parse_nanos(amount) < 0:
            yield field.invalid("capacity", amount, "must be greater than or equal to 0")
        if old is not None and topology != old.get("nodeTopology"):
            yield immutable_error("nodeTopology", gostructs.format_struct("meta/v1.LabelSelector", topology))
        yield from validate_immutable_fields(obj, old or obj, "storageClassName")

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        return [*nodelabels.list_selector_warnings(obj.get("nodeTopology") or {}, "nodeTopology")]


STRATEGY = CSIStorageCapacityStrategy()
