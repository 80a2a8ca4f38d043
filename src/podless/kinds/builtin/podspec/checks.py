"""Small checks that many fields share; each gives the errors of one field.

Source: Kubernetes' pkg/apis/core/validation and k8s.io/apimachinery's util/validation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from podless.kinds.strategy import Object
from podless.meta import field, gotext, names, quantity
from podless.meta.field import FieldError

Errors = Iterator[FieldError]

NONNEGATIVE = "must be greater than or equal to 0"
POSITIVE = "must be greater than zero"
_MODES = "must be a number between 0 and 0777 (octal), both inclusive"
_MOST_MODE = 0o777
_MOST_ID = (1 << 31) - 1


def between(low: int, high: int) -> str:
    """What is said of a number that is out of range."""
    return f"must be between {low} and {high}, inclusive"


def texts(path: str, value: Any, found: Iterable[str]) -> Errors:
    """One error for each text that is said of a value."""
    return (field.invalid(path, value, text) for text in found)


def unsupported(path: str, value: str, supported: Iterable[str]) -> FieldError:
    """A word of a fixed set is none of it; values of such types are shown as JSON."""
    return field.not_supported(path, field.Literal(gotext.json(value)), supported)


def word(path: str, value: str | None, supported: Sequence[str], *, needed: bool = True) -> Errors:
    """A word of a fixed set. needed: whether the empty word is said to be missing, not unsupported."""
    if value in supported:
        return
    yield field.required(path) if needed and not value else unsupported(path, value or "", supported)


def named(path: str, value: str, check: Callable[[str], list[str]] = names.label) -> Errors:
    """A name that has to be there."""
    return texts(path, value, check(value)) if value else iter((field.required(path),))


def needed(obj: Object, path: str, *keys: str) -> Errors:
    """Fields that must not be empty."""
    return (field.required(f"{path}.{key}") for key in keys if not obj.get(key))


def nonnegative(obj: Object, path: str, *keys: str) -> Errors:
    """Numbers that must not be negative."""
    return (field.invalid(f"{path}.{key}", obj[key], NONNEGATIVE) for key in keys if obj.get(key, 0) < 0)


def sound(path: str, amount: str) -> Errors:
    """An amount that is not negative, and shown in whole units where it is."""
    if amount.startswith("-"):
        yield field.invalid(path, quantity.units(amount), "must be a valid resource quantity")


def port_number(path: str, value: int) -> Errors:
    """The number of a port."""
    if not 0 < value < 65536:
        yield field.invalid(path, value, between(1, 65535))


def port(path: str, value: int | str | None) -> Errors:
    """A port by its number or name."""
    if isinstance(value, str):
        return texts(path, value, names.port(value))
    return port_number(path, value or 0)


def identity(obj: Object, path: str, *keys: str) -> Errors:
    """The numbers of users and groups."""
    for key in keys:
        value = obj.get(key)
        if value is not None and not 0 <= value <= _MOST_ID:
            yield field.invalid(f"{path}.{key}", value, between(0, _MOST_ID))


def mode(obj: Object, path: str, key: str = "defaultMode") -> Errors:
    """Permissions of files."""
    value = obj.get(key)
    if value is not None and not 0 <= value <= _MOST_MODE:
        yield field.invalid(f"{path}.{key}", value, _MODES)


def no_backsteps(path: str, value: str) -> Errors:
    """A path that does not lead upwards."""
    if ".." in value and ".." in value.split("/"):
        yield field.invalid(path, value, "must not contain '..'")


def descending(path: str, value: str) -> Errors:
    """A relative path that does not lead upwards."""
    if value.startswith("/"):
        yield field.invalid(path, value, "must be a relative path")
    yield from no_backsteps(path, value)


def unreserved(path: str, value: str) -> Errors:
    """A relative path that does not lead upwards, nor begins like one that does."""
    yield from descending(path, value)
    if value.startswith("..") and not value.startswith("../"):
        yield field.invalid(path, value, "must not start with '..'")


def label_key(path: str, value: str) -> Errors:
    """The key of a label."""
    return texts(path, value, names.qualified_name(value))
