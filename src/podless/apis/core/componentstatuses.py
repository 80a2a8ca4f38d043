"""Strategy of ComponentStatus: the state of control plane components."""

from __future__ import annotations

from podless.apis.shared.typed import DescribedStrategy
from podless.kinds.strategy import MetadataPolicy, ReadPolicy
from podless.structs.structfiles import load_struct

COMPONENT_STATUS = load_struct("core/v1", "ComponentStatus")


class ComponentStatusStrategy(DescribedStrategy):
    """Strategy of ComponentStatus."""

    reads = ReadPolicy(revisioned=False)
    metadata = MetadataPolicy(on_update=(0, 1))

    def resource_name(self, plural: str) -> str:
        return "componentstatus"


STRATEGY = ComponentStatusStrategy(COMPONENT_STATUS)
