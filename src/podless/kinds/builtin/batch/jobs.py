"""Job: pods that run to their end."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.batch import JOB


class JobStrategy(DescribedStrategy):
    """Pods that run to their end."""

    generation = True


STRUCT = JOB
STRATEGY = JobStrategy(STRUCT)
