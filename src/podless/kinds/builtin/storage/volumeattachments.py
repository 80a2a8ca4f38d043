"""VolumeAttachment: a volume that is to be attached to a node."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.storage import VOLUME_ATTACHMENT


class VolumeAttachmentStrategy(DescribedStrategy):
    """A volume that is to be attached to a node."""


STRUCT = VOLUME_ATTACHMENT
STRATEGY = VolumeAttachmentStrategy(STRUCT)
