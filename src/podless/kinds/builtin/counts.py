"""Numbers and shares in specs: what they have to be. Source: Kubernetes' pkg/apis/apps/validation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from podless.kinds.strategy import Object
from podless.meta import field, gonumber, names
from podless.meta.field import FieldError

NONNEGATIVE = "must be greater than or equal to 0"
_WHOLE = 100  # percent
_MOST = (1 << 63) - 1


def nonnegative(path: str, value: int | None) -> list[FieldError]:
    """A number, where there is one, is not negative."""
    return [field.invalid(path, value, NONNEGATIVE)] if value is not None and value < 0 else []


def all_nonnegative(obj: Object, path: str, fields: Iterable[str]) -> list[FieldError]:
    """None of these fields of an object is negative."""
    return [error for name in fields for error in nonnegative(f"{path}.{name}", obj.get(name))]


def share(path: str, value: Any) -> list[FieldError]:
    """A number that is not negative, or a percentage."""
    if isinstance(value, str):
        return [field.invalid(path, value, text) for text in names.percent(value)]
    return nonnegative(path, value)


def at_most_all(path: str, value: Any) -> list[FieldError]:
    """A percentage is at most 100%."""
    parts = _percent(value)
    return [field.invalid(path, value, "must not be greater than 100%")] if parts is not None and parts > _WHOLE else []


def amount(value: Any) -> int:
    """A number or percentage as a number; 0 for what is neither."""
    parts = _percent(value)
    if parts is not None:
        return parts
    if isinstance(value, str):
        try:
            return gonumber.parse_int(value)
        except ValueError:
            return 0
    return int(value or 0)


def _percent(value: Any) -> int | None:
    if not isinstance(value, str) or names.percent(value):
        return None
    return min(gonumber.natural(value[:-1]), _MOST)


def immutable(path: str, value: Any, old: Any, shown: Any = None) -> list[FieldError]:
    """A value stays what it is. shown: what is shown of it, where that is not the value itself."""
    return [] if value == old else [field.invalid(path, value if shown is None else shown, "field is immutable")]
