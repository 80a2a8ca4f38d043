"""CSIDriver: what a CSI driver can do."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.storage import CSI_DRIVER


class CSIDriverStrategy(DescribedStrategy):
    """What a CSI driver can do."""

    generation = True


STRUCT = CSI_DRIVER
STRATEGY = CSIDriverStrategy(STRUCT)
