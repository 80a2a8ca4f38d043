"""Pod: containers that run together."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.pods import POD


class PodStrategy(DescribedStrategy):
    """Containers that run together."""

    generation = True


STRUCT = POD
STRATEGY = PodStrategy(STRUCT)
