"""RuntimeClass: what runs containers."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.runtimeclasses import RUNTIME_CLASS


class RuntimeClassStrategy(DescribedStrategy):
    """What runs containers."""


STRUCT = RUNTIME_CLASS
STRATEGY = RuntimeClassStrategy(STRUCT)
