"""Validation of the fields that the scale subresource uses.

Source: the recorded validation of objects whose kind has the scale subresource.
"""

from __future__ import annotations

from typing import Any

from podless.codec import gotext
from podless.kinds.version import Scale
from podless.meta import field
from podless.meta.field import FieldError

_MAX = 2**31 - 1


def validate_scale(obj: dict[str, Any], scale: Scale | None, *, required: bool = True) -> list[FieldError]:
    """Require replicas from 0 to 2147483647 and a string as selector; missing fields are valid.

    required: also check spec replicas, which a status write does not change.
    """
    if scale is None:
        return []
    errors = _validate_replicas(obj, scale.spec_replicas_path) if required else []
    errors += _validate_replicas(obj, scale.status_replicas_path)
    path = scale.label_selector_path
    if path:
        _, fault = read_typed(obj, path, str)
        if fault:
            errors.append(field.invalid(path, "", fault))
    return errors


def _validate_replicas(obj: dict[str, Any], path: str) -> list[FieldError]:
    value, fault = read_typed(obj, path, int)
    if fault:
        return [field.invalid(path, 0, fault)]
    if value is None:
        return []
    if value < 0:
        return [field.invalid(path, value, "should be a non-negative integer")]
    if value > _MAX:
        return [field.invalid(path, value, f"should be less than or equal to {_MAX}")]
    return []


def read_typed(obj: dict[str, Any], path: str, expected: type) -> tuple[Any, str]:
    """Return the value at a path such as .spec.replicas, and "" or a real server's text for a value of another type.

    The value is None if there is none.
    """
    value: Any = obj
    reached = ""
    for name in filter(None, path.split(".")):
        if value is None:
            return None, ""
        reached += f".{name}"
        if not isinstance(value, dict):
            return None, _explain_type(reached, value, "map[string]interface{}")
        if name not in value:
            return None, ""
        value = value[name]
    if type(value) is expected:
        return value, ""
    return None, _explain_type(reached, value, gotext.TYPE_NAMES[expected])


def _explain_type(path: str, value: Any, expected: str) -> str:
    found = f"{gotext.format_plain(value)} is of the type {gotext.name_type(value)}"
    return f"{path} accessor error: {found}, expected {expected}"
