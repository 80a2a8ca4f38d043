"""StorageClass: how storage is made."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.storage import STORAGE_CLASS


class StorageClassStrategy(DescribedStrategy):
    """How storage is made."""


STRUCT = STORAGE_CLASS
STRATEGY = StorageClassStrategy(STRUCT)
