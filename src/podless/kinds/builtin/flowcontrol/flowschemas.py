"""FlowSchema: which requests are of which priority."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.flowcontrol import FLOW_SCHEMA


class FlowSchemaStrategy(DescribedStrategy):
    """Which requests are of which priority."""

    generation = True


STRUCT = FLOW_SCHEMA
STRATEGY = FlowSchemaStrategy(STRUCT)
