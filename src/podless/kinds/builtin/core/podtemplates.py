"""PodTemplate: what pods may be made of."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.pods import POD_TEMPLATE


class PodTemplateStrategy(DescribedStrategy):
    """What pods may be made of."""

    generation = True


STRUCT = POD_TEMPLATE
STRATEGY = PodTemplateStrategy(STRUCT)
