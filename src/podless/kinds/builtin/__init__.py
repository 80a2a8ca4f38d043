"""The built-in kinds: tables and rules of their own, the same pipeline."""

from __future__ import annotations

from podless.kinds.builtin.configmaps import CONFIG_MAPS
from podless.kinds.builtin.definitions import DEFINITIONS
from podless.kinds.builtin.namespaces import NAMESPACES

ALL = (NAMESPACES, CONFIG_MAPS, DEFINITIONS)

__all__ = ["ALL", "CONFIG_MAPS", "DEFINITIONS", "NAMESPACES"]
