"""PersistentVolume: storage that can be claimed."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.claims import PERSISTENT_VOLUME


class PersistentVolumeStrategy(DescribedStrategy):
    """Storage that can be claimed."""


STRUCT = PERSISTENT_VOLUME
STRATEGY = PersistentVolumeStrategy(STRUCT)
