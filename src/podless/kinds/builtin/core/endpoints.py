"""Endpoints: where the traffic of a Service goes, in the older form."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.cluster import ENDPOINTS


class EndpointsStrategy(DescribedStrategy):
    """Where the traffic of a Service goes, in the older form."""


STRUCT = ENDPOINTS
STRATEGY = EndpointsStrategy(STRUCT)
