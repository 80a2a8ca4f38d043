"""LimitRange: what objects of a namespace may ask for, and what they get by default."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.cluster import LIMIT_RANGE


class LimitRangeStrategy(DescribedStrategy):
    """What objects of a namespace may ask for, and what they get by default."""


STRUCT = LIMIT_RANGE
STRATEGY = LimitRangeStrategy(STRUCT)
