"""StatefulSet: pods with names and storage of their own."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.apps import STATEFUL_SET


class StatefulSetStrategy(DescribedStrategy):
    """Pods with names and storage of their own."""

    generation = True


STRUCT = STATEFUL_SET
STRATEGY = StatefulSetStrategy(STRUCT)
