"""ComponentStatus: what is known of the control plane's components."""

from __future__ import annotations

from podless.apis.shared.typed import DescribedStrategy
from podless.structs.structfiles import load_struct

COMPONENT_STATUS = load_struct("core/v1", "ComponentStatus")


class ComponentStatusStrategy(DescribedStrategy):
    """What is known of the control plane's components."""

    missing = "componentstatus"
    revisioned = False


STRATEGY = ComponentStatusStrategy(COMPONENT_STATUS)
