"""PodDisruptionBudget: how many pods may be away at a time."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.policy import POD_DISRUPTION_BUDGET


class PodDisruptionBudgetStrategy(DescribedStrategy):
    """How many pods may be away at a time."""

    generation = True


STRUCT = POD_DISRUPTION_BUDGET
STRATEGY = PodDisruptionBudgetStrategy(STRUCT)
