"""ReplicationController: as many pods of one kind as are wanted, in the older form."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.cluster import REPLICATION_CONTROLLER


class ReplicationControllerStrategy(DescribedStrategy):
    """As many pods of one kind as are wanted, in the older form."""

    generation = True


STRUCT = REPLICATION_CONTROLLER
STRATEGY = ReplicationControllerStrategy(STRUCT)
