"""Values of fields for users: short, and without the data of Secrets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from podless.codec import serializer
from podless.plan.result import GONE, By, Change, FieldChange
from podless.plan.secrecy import HIDDEN, hide_object
from podless.runtime.jsonobject import Object

LATER = "(known after apply)"
_MAX_CHARACTERS = 100  # maximum characters of a value
_BY = {By.SERVER: "server", By.POLICY: "policy"}
SIGNS = {"create": "+", "update": "~", "delete": "-", "refused": "!", "unchanged": "=", "unknown": "?"}


def format_value(value: Any) -> str:
    """Return a value as JSON, shortened if it is long."""
    text = serializer.encode_unescaped(value)
    return text if len(text) <= _MAX_CHARACTERS else f"{text[: _MAX_CHARACTERS - 3]}..."


def sign_of(field: FieldChange) -> str:
    """Return + for an added field, - for a removed one, ~ for a changed one."""
    return "+" if field.before is GONE else "-" if field.after is GONE else "~"


def describe_field(field: FieldChange) -> str:
    """Return a field's path with its old and new value."""
    if is_ownership(field):
        return (
            f"{field.path}: managers {_format_managers(field.old_managers)} -> {_format_managers(field.new_managers)}"
        )
    if field.secret:
        values = HIDDEN if GONE in (field.before, field.after) else f"{HIDDEN} -> {HIDDEN}, changed"
    else:
        old, new = (_format_value(value, field.generated) for value in (field.before, field.after))
        values = new if field.before is GONE else old if field.after is GONE else f"{old} -> {new}"
    return f"{field.path}: {values}{_format_notes(field)}"


def is_ownership(field: FieldChange) -> bool:
    """Return whether only the managers of a field change."""
    return field.before is None and field.after is None and bool(field.new_managers)


def _format_value(value: Any, generated: bool) -> str:
    return LATER if generated and value is not GONE else format_value(value) if value is not GONE else ""


def _format_notes(field: FieldChange) -> str:
    notes = []
    if field.by in _BY:
        notes.append(f"{_BY[field.by]}: {field.plugin}" if field.plugin else _BY[field.by])
    if field.new_managers:
        notes.append(f"managers {_format_managers(field.old_managers)} -> {_format_managers(field.new_managers)}")
    return f"  # {'; '.join(notes)}" if notes else ""


def _format_managers(managers: Sequence[str]) -> str:
    return ", ".join(managers) or "nobody"


def split_fields(change: Change) -> tuple[list[FieldChange], list[FieldChange]]:
    """Return the fields that the set and policies change, and those that only the server adds."""
    set_fields = [field for field in change.fields if field.by is not By.SERVER]
    return set_fields, [field for field in change.fields if field.by is By.SERVER]


def show_object(change: Change, obj: Object | None) -> Object | None:
    """Return an object without managed fields, and without the data of a Secret."""
    if obj is None:
        return None
    metadata = {key: value for key, value in obj["metadata"].items() if key != "managedFields"}
    return hide_object(change.identity, {**obj, "metadata": metadata})
