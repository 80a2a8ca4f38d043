"""Validates that fields do not change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from podless.meta import field
from podless.meta.field import At, FieldError
from podless.meta.objectmeta import IMMUTABLE
from podless.runtime.jsonobject import Object


def validate_immutable_fields(
    obj: Object, old: Object, *names: str, path: str = "", blank: Any = None
) -> Iterator[FieldError]:
    """Yield an error for each field that differs. path: of the object. blank: shown for a removed field."""
    for name in names:
        if obj.get(name) != old.get(name):
            yield immutable_error(f"{path}.{name}" if path else name, obj.get(name, blank))


def immutable_error(at: At, value: Any) -> FieldError:
    """Return the error for a changed immutable field."""
    return field.invalid(at, value, IMMUTABLE)


def validate_immutable(at: At, value: Any, old: Any, shown: Any = None) -> list[FieldError]:
    """Require a value to equal the old one. shown: the value in errors, if it differs."""
    return [] if value == old else [immutable_error(at, value if shown is None else shown)]
