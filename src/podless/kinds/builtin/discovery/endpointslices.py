"""EndpointSlice: where the traffic of a Service goes."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.discovery import ENDPOINT_SLICE


class EndpointSliceStrategy(DescribedStrategy):
    """Where the traffic of a Service goes."""

    generation = True


STRUCT = ENDPOINT_SLICE
STRATEGY = EndpointSliceStrategy(STRUCT)
