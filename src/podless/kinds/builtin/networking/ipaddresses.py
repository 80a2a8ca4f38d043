"""IPAddress: an address that has been given away."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.networking import IP_ADDRESS


class IPAddressStrategy(DescribedStrategy):
    """An address that has been given away."""


STRUCT = IP_ADDRESS
STRATEGY = IPAddressStrategy(STRUCT)
