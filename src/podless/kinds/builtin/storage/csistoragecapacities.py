"""CSIStorageCapacity: how much storage there is somewhere."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.storage import CSI_STORAGE_CAPACITY


class CSIStorageCapacityStrategy(DescribedStrategy):
    """How much storage there is somewhere."""


STRUCT = CSI_STORAGE_CAPACITY
STRATEGY = CSIStorageCapacityStrategy(STRUCT)
