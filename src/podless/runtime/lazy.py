"""Modules that are imported when they are first asked for: a server starts without what it does not use yet."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


class Late:
    """Stands for a module, and imports it when something of it is first asked for; that is found at once afterwards.

    A type checker does not see through it: whoever has it imports the module under TYPE_CHECKING.
    """

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(import_module(self._module), name)
        setattr(self, name, found)
        return found


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A package's __getattr__. homes: a public name -> the module of the package that has it.

    Raises ValueError for a name that is its module's own: whoever imports that module puts it in the name's place.
    A type checker does not see through it: the package imports the same names under TYPE_CHECKING.
    """

    for name, home in homes.items():
        if name == home:
            raise ValueError(f"{package}: {name} is in a module of the same name")

    def get(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f"{package}.{home}")
        for one, place in homes.items():
            if place == home:  # the next time they are found without us
                setattr(sys.modules[package], one, getattr(module, one))
        return getattr(module, name)

    return get
