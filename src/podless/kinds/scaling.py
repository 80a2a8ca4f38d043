"""Validation of the fields that the scale subresource uses.

Source: the recorded validation of objects whose kind has the scale subresource.
"""

from __future__ import annotations

from typing import Any

from podless.codec import gotext
from podless.kinds.version import Scale
from podless.meta import field
from podless.meta.field import FieldError

_MOST = 2**31 - 1
NOTHING = object()
_GO_TYPES = {
    type(None): "<nil>",
    str: "string",
    bool: "bool",
    float: "float64",
    list: "[]interface {}",
    dict: "map[string]interface {}",
}


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
        value, fault = get_path(obj, path)
        if not fault and value is not NOTHING and not isinstance(value, str):
            fault = f"{gotext.format_plain(value)} is of the type {_go_type(value)}, expected string"
        if fault:
            errors.append(field.invalid(path, "", f"{path} accessor error: {fault}"))
    return errors


def _validate_replicas(obj: dict[str, Any], path: str) -> list[FieldError]:
    value, fault = get_path(obj, path)
    if not fault and value is not NOTHING and type(value) is not int:
        fault = f"{gotext.format_plain(value)} is of the type {_go_type(value)}, expected int64"
    if fault:
        return [field.invalid(path, 0, f"{path} accessor error: {fault}")]
    if value is NOTHING:
        return []
    if value < 0:
        return [field.invalid(path, value, "should be a non-negative integer")]
    if value > _MOST:
        return [field.invalid(path, value, f"should be less than or equal to {_MOST}")]
    return []


def _go_type(value: Any) -> str:
    return _GO_TYPES.get(type(value), "int64")


def get_path(obj: dict[str, Any], path: str) -> tuple[Any, str]:
    """Return the value at a path such as .spec.replicas (NOTHING if unreachable), and why it is unreachable."""
    value: Any = obj
    for name in filter(None, path.split(".")):
        if value is None:
            return NOTHING, ""
        if not isinstance(value, dict):
            return (
                NOTHING,
                f"{gotext.format_plain(value)} is of the type {_go_type(value)}, expected map[string]interface{{}}",
            )
        if name not in value:
            return NOTHING, ""
        value = value[name]
    return value, ""
