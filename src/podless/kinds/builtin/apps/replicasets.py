"""ReplicaSet: as many pods of one kind as are wanted."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.apps import REPLICA_SET


class ReplicaSetStrategy(DescribedStrategy):
    """As many pods of one kind as are wanted."""

    generation = True


STRUCT = REPLICA_SET
STRATEGY = ReplicaSetStrategy(STRUCT)
