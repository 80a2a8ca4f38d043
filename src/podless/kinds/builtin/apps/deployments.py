"""Deployment: pods that are replaced step by step."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.apps import DEPLOYMENT


class DeploymentStrategy(DescribedStrategy):
    """Pods that are replaced step by step."""

    generation = True


STRUCT = DEPLOYMENT
STRATEGY = DeploymentStrategy(STRUCT)
