"""PriorityClass: how much pods count."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.scheduling import PRIORITY_CLASS


class PriorityClassStrategy(DescribedStrategy):
    """How much pods count."""

    generation = True


STRUCT = PRIORITY_CLASS
STRATEGY = PriorityClassStrategy(STRUCT)
