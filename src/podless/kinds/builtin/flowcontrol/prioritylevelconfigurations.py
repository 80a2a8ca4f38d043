"""PriorityLevelConfiguration: what requests of one priority get."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.flowcontrol import PRIORITY_LEVEL_CONFIGURATION


class PriorityLevelConfigurationStrategy(DescribedStrategy):
    """What requests of one priority get."""

    generation = True


STRUCT = PRIORITY_LEVEL_CONFIGURATION
STRATEGY = PriorityLevelConfigurationStrategy(STRUCT)
