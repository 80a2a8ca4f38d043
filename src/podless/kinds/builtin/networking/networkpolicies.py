"""NetworkPolicy: which traffic pods may have."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.networking import NETWORK_POLICY


class NetworkPolicyStrategy(DescribedStrategy):
    """Which traffic pods may have."""

    generation = True


STRUCT = NETWORK_POLICY
STRATEGY = NetworkPolicyStrategy(STRUCT)
