"""Structural schemas, rule 2: fields in logic (allOf, anyOf, oneOf, not) must also be declared outside of it."""

from __future__ import annotations

from podless.meta import field
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Schema
from podless.runtime.meter import charge, each


def validate_completeness(schema: Schema, path: str) -> list[FieldError]:
    """Return errors for fields that the root's allOf, anyOf, oneOf or not validates without declaring them outside."""
    errors: list[FieldError] = []
    _logic(schema, schema, path, path, errors)
    return errors


def _logic(value: Schema, declared: Schema, at: str, said: str, errors: list[FieldError]) -> None:
    if value.get("not") is not None:
        _nested(value["not"], declared, at, f"{said}.not", errors)
    for keyword in ("allOf", "anyOf", "oneOf"):
        for place, part in enumerate(each(value.get(keyword) or ())):
            _nested(part or {}, declared, at, f"{said}.{keyword}[{place}]", errors)


def _nested(value: Schema, declared: Schema | None, at: str, said: str, errors: list[FieldError]) -> None:
    charge(1)
    if declared is None:
        errors.append(field.required(at, f"because it is defined in {said}"))
        return
    _logic(value, declared, at, said, errors)
    if isinstance(value.get("items"), dict):
        items = declared.get("items")
        below = items if isinstance(items, dict) else None
        _nested(value["items"], below, f"{at}.items", f"{said}.items", errors)
    properties = declared.get("properties") or {}
    for name, part in each(value.get("properties") or {}).items():
        step = f".properties[{name}]"
        below = (properties[name] or {}) if name in properties else None
        _nested(part or {}, below, at + step, said + step, errors)
