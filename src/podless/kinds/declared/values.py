"""Converts values of CEL to JSON, by their type."""

from __future__ import annotations

import base64
import math
from typing import Any, Final

from podless.cel.convert import Unknown
from podless.cel.escape import unescape_field
from podless.cel.library.standard import to_string
from podless.cel.types import DYN, Type
from podless.cel.values import Duration, Optional, Timestamp, Uint
from podless.runtime.meter import charge

VALUES_MOST: Final = 4 << 20  # approximate bytes of all values of an object; the answer of a webhook has the same limit
_PART: Final = 64  # minimum bytes that each part of a value counts
_DEEP: Final = 100  # maximum depth
_TEXTS: Final = 64  # bytes of a text that count as one step of the meter
_PLAIN: Final = (str, bool, int, float)


class ValueTooLarge(Exception):
    """A value has no JSON form, or is too large; the message says which."""


class Account:
    """The bytes that values of one object may still have.

    Nested lists share their items, so small expressions can make huge values.
    """

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = VALUES_MOST

    def charge(self, size: int) -> None:
        """Subtract the bytes of a part. Raises ValueTooLarge."""
        charge(1 + size // _TEXTS)
        self.left -= max(size, _PART)
        if self.left < 0:
            raise ValueTooLarge(f"the values have more than {VALUES_MOST} bytes")


def to_json(value: Any, type_: Type, account: Account) -> Any:
    """Return a value of a type as JSON that shares nothing with it; None for optional.none(). Raises ValueTooLarge."""
    return _convert(value, type_, account, 0)


def _convert(value: Any, type_: Type, account: Account, depth: int) -> Any:
    if depth > _DEEP:
        raise ValueTooLarge(f"the value nests deeper than {_DEEP} levels")
    if isinstance(value, Unknown):
        value = value.value
    if isinstance(value, Optional):
        inner = type_.params[0] if type_.params else DYN
        return _convert(value.value, inner, account, depth + 1) if value.present else None
    if isinstance(value, dict):
        return _object(value, type_, account, depth + 1)
    if isinstance(value, list):
        inner = type_.params[0] if type_.kind == "list" and type_.params else DYN
        account.charge(2)
        return [_convert(item, inner, account, depth + 1) for item in value]
    return _scalar(value, account)


def _object(value: dict[Any, Any], type_: Type, account: Account, depth: int) -> dict[str, Any]:
    named = type_.kind == "struct"
    inner = type_.params[1] if type_.kind == "map" and len(type_.params) > 1 else DYN
    account.charge(2)
    made = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise ValueTooLarge("the value has a key that is not a string")
        account.charge(len(key) + 4)
        # podless.cel.convert puts a space before names that no expression can write
        name = key[1:] if isinstance(item, Unknown) else unescape_field(key) if named else key
        made[name] = _convert(item, inner, account, depth)
    return made


def _scalar(value: Any, account: Account) -> Any:
    if isinstance(value, str):
        account.charge(len(value) + 2)
        return str(value)
    account.charge(4)
    if value is None or value.__class__ in _PLAIN:
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueTooLarge("the value is not a finite number")
        return value
    if isinstance(value, Uint):
        return int(value)
    if isinstance(value, bytes):
        account.charge(len(value) * 4 // 3)
        return base64.b64encode(value).decode()
    if isinstance(value, Timestamp | Duration):
        return to_string(value)
    raise ValueTooLarge("the value has no form in JSON")
