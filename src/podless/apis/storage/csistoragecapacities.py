"""Strategy of CSIStorageCapacity."""

from __future__ import annotations

from podless.apis.shared import nodelabels
from podless.apis.shared.checks import immutable_error, validate_immutable_fields
from podless.apis.shared.typed import TypedStrategy
from podless.codec import quantity
from podless.kinds.kind import Version
from podless.kinds.strategy import Faults
from podless.meta import field, labelselector, names
from podless.runtime.jsonobject import Object
from podless.structs import gostructs
from podless.structs.structfiles import load_struct

LABEL_SELECTOR = load_struct("meta/v1", "LabelSelector")


class CSIStorageCapacityStrategy(TypedStrategy):
    """Strategy of CSIStorageCapacity. Topology and class are immutable; the capacity is not."""

    allow_unconditional_update = False

    def validate_create(self, version: Version, obj: Object) -> Faults:
        name, amount = obj["storageClassName"], obj.get("capacity")
        errors = labelselector.validate_selector(obj.get("nodeTopology") or {}, "nodeTopology")
        errors += field.invalid_details("storageClassName", name, names.check_subdomain(name))
        if amount is not None and quantity.parse_nanos(amount) < 0:
            errors.append(field.invalid("capacity", amount, "must be greater than or equal to 0"))
        return errors

    def validate_update(self, version: Version, obj: Object, old: Object) -> Faults:
        topology = obj.get("nodeTopology")
        errors = [*self.validate_create(version, obj)]
        if topology != old.get("nodeTopology"):
            errors.append(immutable_error("nodeTopology", gostructs.format_struct(LABEL_SELECTOR, topology)))
        return [*errors, *validate_immutable_fields(obj, old, "storageClassName")]

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        return [*nodelabels.list_selector_warnings(obj.get("nodeTopology") or {}, "nodeTopology")]


STRATEGY = CSIStorageCapacityStrategy()
