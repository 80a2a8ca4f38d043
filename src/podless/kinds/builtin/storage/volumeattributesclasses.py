"""VolumeAttributesClass: properties of volumes that may change."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.storage import VOLUME_ATTRIBUTES_CLASS


class VolumeAttributesClassStrategy(DescribedStrategy):
    """Properties of volumes that may change."""


STRUCT = VOLUME_ATTRIBUTES_CLASS
STRATEGY = VolumeAttributesClassStrategy(STRUCT)
