"""PersistentVolumeClaim: a request for storage."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.claims import PERSISTENT_VOLUME_CLAIM


class PersistentVolumeClaimStrategy(DescribedStrategy):
    """A request for storage."""


STRUCT = PERSISTENT_VOLUME_CLAIM
STRATEGY = PersistentVolumeClaimStrategy(STRUCT)
