"""Checks the arguments that programs give for declared options (option.py): their names and types."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from os import PathLike
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from podless.runtime.option import StartError, suggest_name


def bind_arguments(of: type, called: str, values: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a dataclass of options, by name. called: what the caller has called.

    Raises TypeError for an unknown name and for too many values, StartError for a value of another type.
    """
    signature = inspect.signature(of)
    reject_unknown_names(named, signature.parameters, f"{called} has no argument")
    try:
        given = signature.bind(*values, **named).arguments
    except TypeError as error:
        raise TypeError(f"{called}: {error}") from None
    _check_types(of, given)
    return given


def reject_unknown_names(given: Iterable[str], known: Collection[str], text: str) -> None:
    """Raise TypeError for a name that is not known. text: the error, without the name and the name most like it."""
    for name in given:
        if name not in known:
            raise TypeError(f"{text} {name!r}{suggest_name(name, [*known])}")


def _check_types(of: type, given: Mapping[str, Any], within: str = "") -> None:
    """Raise StartError for a value that does not have the declared type, and for a negative number."""
    hints = get_type_hints(of)
    for name, value in given.items():
        for wrong in _find_misfits(value, hints[name]):
            shown = repr(wrong) if isinstance(wrong, int | float | str | None) else f"a {type(wrong).__name__}"
            raise StartError(f"{within}{name}: expected {_describe_type(hints[name])}, not {shown}")
        if isinstance(value, int | float) and value < 0:
            raise StartError(f"{within}{name}: expected a number from 0, not {value}")
        if is_dataclass(value):
            inner = {each.name: getattr(value, each.name) for each in fields(value)}
            _check_types(type(value), inner, f"{within}{name}.")


def _find_misfits(value: Any, hint: Any) -> Iterator[Any]:
    """Yield the value if it does not have a type; of a list or a mapping, the items that do not have theirs."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        if all([*_find_misfits(value, each)] for each in inner):
            yield value
    elif hint in (int, float):
        if not isinstance(value, int if hint is int else int | float) or isinstance(value, bool):
            yield value
    elif origin is None:
        if hint is not Any and not isinstance(value, hint):
            yield value
    elif not isinstance(value, origin) or isinstance(value, str):
        yield value
    elif issubclass(origin, Mapping):
        for key, each in value.items():
            yield from (*_find_misfits(key, inner[0]), *_find_misfits(each, inner[1]))
    elif issubclass(origin, Sequence):
        for each in value:
            yield from _find_misfits(each, inner[0])


# one value, and several
_NAMES: Mapping[Any, tuple[str, str]] = {
    bool: ("True or False", "True or False"),
    float: ("a number", "numbers"),
    int: ("a whole number", "whole numbers"),
    str: ("a text", "texts"),
    NoneType: ("None", "None"),
    PathLike: ("a path", "paths"),
}


def _describe_type(hint: Any, several: bool = False) -> str:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return " or ".join(_describe_type(each, several) for each in inner)
    if (origin or hint) in _NAMES:
        return _NAMES[origin or hint][several]
    if origin is None:
        return f"podless.{hint.__name__}"
    if issubclass(origin, Mapping):
        return f"a mapping from {_describe_type(inner[0], True)} to {_describe_type(inner[1], True)}"
    return f"a list of {_describe_type(inner[0], True)}" if issubclass(origin, Sequence) else "a list"
