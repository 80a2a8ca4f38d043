"""ComponentStatus: what is known of the control plane's components."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.cluster import COMPONENT_STATUS


class ComponentStatusStrategy(DescribedStrategy):
    """What is known of the control plane's components."""

    missing = "componentstatus"
    revisioned = False


STRATEGY = ComponentStatusStrategy(COMPONENT_STATUS)
