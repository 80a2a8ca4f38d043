"""Strategy of ComponentStatus: the state of control plane components."""

from __future__ import annotations

from podless.apis.shared.typed import TypedStrategy
from podless.kinds.strategy import ReadPolicy


class ComponentStatusStrategy(TypedStrategy):
    """Strategy of ComponentStatus, which is only read."""

    reads = ReadPolicy(revisioned=False)

    def resource_name(self, plural: str) -> str:
        return "componentstatus"


STRATEGY = ComponentStatusStrategy()
