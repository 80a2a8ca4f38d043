"""ControllerRevision: a state that a controller can go back to."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.apps import CONTROLLER_REVISION


class ControllerRevisionStrategy(DescribedStrategy):
    """A state that a controller can go back to."""


STRUCT = CONTROLLER_REVISION
STRATEGY = ControllerRevisionStrategy(STRUCT)
