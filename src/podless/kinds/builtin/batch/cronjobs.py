"""CronJob: jobs that are made by the clock."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.batch import CRON_JOB


class CronJobStrategy(DescribedStrategy):
    """Jobs that are made by the clock."""

    generation = True


STRUCT = CRON_JOB
STRATEGY = CronJobStrategy(STRUCT)
