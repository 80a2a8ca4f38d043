"""Modules and patterns that are made at first use, so that a server starts without them, and modules to call."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any, AnyStr, cast


class _Late:
    """A placeholder for a value that is made at the first access. It keeps what is found as attributes."""

    def __init__(self, make: Callable[[], object]) -> None:
        self._make = make

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._make(), name)
        setattr(self, name, value)
        return value


class LateModule(_Late):
    """A placeholder for a module, which is imported at the first access.

    Type checkers do not see through it: import the module under TYPE_CHECKING, too.
    """

    def __init__(self, module: str) -> None:
        super().__init__(lambda: import_module(module))


def compile_late(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a regular expression that is compiled at first use, for patterns that few servers need."""
    return cast("re.Pattern[AnyStr]", _Late(lambda: re.compile(text, flags)))


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a package's __getattr__ that imports names at first use. homes: public name -> module of the package.

    Raises ValueError for a name that equals its module's: importing that module would replace the name. Type checkers
    do not see through it: import the same names under TYPE_CHECKING.
    """

    for name, home in homes.items():
        if name == home:
            raise ValueError(f"{package}: {name} is in a module of the same name")

    def import_name(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f"{package}.{home}")
        for sibling, sibling_home in homes.items():
            if sibling_home == home:  # next time Python finds the name without this function
                setattr(sys.modules[package], sibling, getattr(module, sibling))
        return getattr(module, name)

    return import_name


def deprecated_names(package: str, successors: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a package's __getattr__ for names that users may still import. successors: old name -> new name.

    The caller's line gets a DeprecationWarning. For type checkers, define the old names under TYPE_CHECKING.
    """

    def import_name(name: str) -> Any:
        successor = successors.get(name)
        if successor is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        message = f"{package}.{name} is deprecated: use {package}.{successor}"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return getattr(sys.modules[package], successor)

    return import_name


def make_callable(module: str, function: Callable[..., Any]) -> None:
    """Make a loaded module call this function when it is called itself."""

    class CallableModule(ModuleType):
        def __call__(self, *args: Any, **options: Any) -> Any:
            return function(*args, **options)

    sys.modules[module].__class__ = CallableModule
