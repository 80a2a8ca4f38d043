"""Checks the arguments that programs give for declared options (option.py): their names and types."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from os import PathLike
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from podless.runtime.messages import suggest_name
from podless.runtime.option import StartError


def bind_arguments(of: type, called: str, values: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a dataclass of options, by name. called: the name of the function, for errors.

    Raises TypeError for an unknown name and for too many values, StartError for a value of another type.
    """
    signature = inspect.signature(of)
    reject_unknown_names(named, signature.parameters, f"{called} has no argument")
    try:
        arguments = signature.bind(*values, **named).arguments
    except TypeError as error:
        raise TypeError(f"{called}: {error}") from None
    _check_types(of, arguments)
    return arguments


def reject_unknown_names(names: Iterable[str], known_names: Collection[str], text: str) -> None:
    """Raise TypeError for a name that is not known.

    text: the start of the error; the name and the most similar known name follow.
    """
    for name in names:
        if name not in known_names:
            raise TypeError(f"{text} {name!r}{suggest_name(name, [*known_names])}")


def _check_types(of: type, arguments: Mapping[str, Any], within: str = "") -> None:
    """Raise StartError for a value that does not have the declared type, and for a negative number."""
    hints = get_type_hints(of)
    for name, value in arguments.items():
        for wrong in _find_misfits(value, hints[name]):
            described = repr(wrong) if isinstance(wrong, int | float | str | None) else f"a {type(wrong).__name__}"
            raise StartError(f"{within}{name}: expected {_describe_type(hints[name])}, not {described}")
        if isinstance(value, int | float) and value < 0:
            raise StartError(f"{within}{name}: expected a number from 0, not {value}")
        if is_dataclass(value):
            nested = {option.name: getattr(value, option.name) for option in fields(value)}
            _check_types(type(value), nested, f"{within}{name}.")


def _find_misfits(value: Any, hint: Any) -> Iterator[Any]:
    """Yield the value if its type is wrong; for a list or a mapping, yield the items whose type is wrong."""
    origin, hints = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        if all([*_find_misfits(value, item_hint)] for item_hint in hints):
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
        for key, item in value.items():
            yield from (*_find_misfits(key, hints[0]), *_find_misfits(item, hints[1]))
    elif issubclass(origin, Sequence):
        for item in value:
            yield from _find_misfits(item, hints[0])


# names for one value, and for several
_NAMES: Mapping[Any, tuple[str, str]] = {
    bool: ("True or False", "True or False"),
    float: ("a number", "numbers"),
    int: ("a whole number", "whole numbers"),
    str: ("a text", "texts"),
    NoneType: ("None", "None"),
    PathLike: ("a path", "paths"),
}


def _describe_type(hint: Any, several: bool = False) -> str:
    origin, hints = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return " or ".join(_describe_type(item_hint, several) for item_hint in hints)
    if (origin or hint) in _NAMES:
        return _NAMES[origin or hint][several]
    if origin is None:
        return f"podless.{hint.__name__}"
    if issubclass(origin, Mapping):
        return f"a mapping from {_describe_type(hints[0], True)} to {_describe_type(hints[1], True)}"
    return f"a list of {_describe_type(hints[0], True)}" if issubclass(origin, Sequence) else "a list"
