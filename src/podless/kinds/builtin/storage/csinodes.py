"""CSINode: which CSI drivers a node has."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.storage import CSI_NODE


class CSINodeStrategy(DescribedStrategy):
    """Which CSI drivers a node has."""


STRUCT = CSI_NODE
STRATEGY = CSINodeStrategy(STRUCT)
