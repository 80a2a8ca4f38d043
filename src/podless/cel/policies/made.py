"""What mutations make, as JSON."""

from __future__ import annotations

from typing import Any

from podless.cel.values import Message
from podless.meta import gotext


class TypeMismatch(Exception):
    """An object or a patch is not what it should be; the text says why."""


def plain_json(value: Any) -> Any:
    """A value as JSON. Raises TypeMismatch for one that has no form there, or whose types do not fit their places."""
    if isinstance(value, Message):
        wrong = list(_misplaced(value, value.name))
        if wrong:
            raise TypeMismatch("type mismatch: " + "\n".join(wrong))
    return _converted(value)


def _misplaced(value: Any, path: str) -> list[str]:
    """Messages whose type's name is not the path of the field that they stand in."""
    found: list[str] = []
    if isinstance(value, Message):
        if value.name != path:
            found.append(
                f"unexpected type name {gotext.quote(value.name)}, expected {gotext.quote(path)}, which matches field "
                "name path from root Object type"
            )
        for name, item in value.items():
            found += _misplaced(item, f"{path}.{name}")
    elif isinstance(value, list):
        for item in value:
            found += _misplaced(item, path)
    elif isinstance(value, dict):
        for item in value.values():
            found += _misplaced(item, path)
    return found


def _converted(value: Any) -> Any:
    if value is None or isinstance(value, str | bool | float):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, list):
        return [_converted(item) for item in value]
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise TypeMismatch(f"map key {gotext.quote(str(key))} is not a string")
        return {key: _converted(item) for key, item in value.items()}
    raise TypeMismatch("JSONPath valueExpression evaluated to a type that could not marshal to JSON")
