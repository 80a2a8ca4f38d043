"""Ingress: how requests from outside get to Services."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.networking import INGRESS


class IngressStrategy(DescribedStrategy):
    """How requests from outside get to Services."""

    generation = True


STRUCT = INGRESS
STRATEGY = IngressStrategy(STRUCT)
