"""IngressClass: who carries out Ingresses."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.networking import INGRESS_CLASS


class IngressClassStrategy(DescribedStrategy):
    """Who carries out Ingresses."""

    generation = True


STRUCT = INGRESS_CLASS
STRATEGY = IngressClassStrategy(STRUCT)
