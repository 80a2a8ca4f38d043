"""DaemonSet: a pod on each node."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.apps import DAEMON_SET


class DaemonSetStrategy(DescribedStrategy):
    """A pod on each node."""

    generation = True


STRUCT = DAEMON_SET
STRATEGY = DaemonSetStrategy(STRUCT)
