"""ServiceCIDR: where the addresses of Services come from."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.networking import SERVICE_CIDR


class ServiceCIDRStrategy(DescribedStrategy):
    """Where the addresses of Services come from."""


STRUCT = SERVICE_CIDR
STRATEGY = ServiceCIDRStrategy(STRUCT)
