"""HorizontalPodAutoscaler: how many pods there are to be, by what they use."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types import scalers1, scalers2


class HorizontalPodAutoscalerStrategy(DescribedStrategy):
    """How many pods there are to be, by what they use. Stored as v2."""


STRUCTS = {"v1": scalers1.HORIZONTAL_POD_AUTOSCALER, "v2": scalers2.HORIZONTAL_POD_AUTOSCALER}
STRATEGY = HorizontalPodAutoscalerStrategy(STRUCTS["v2"])
