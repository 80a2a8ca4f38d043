"""Node: a machine that pods run on."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.nodes import NODE


class NodeStrategy(DescribedStrategy):
    """A machine that pods run on."""


STRUCT = NODE
STRATEGY = NodeStrategy(STRUCT)
