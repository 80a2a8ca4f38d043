"""Fields that stay as they were given."""

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
    """The fields that differ. path: of the object that they are in. blank: what is shown of one that is gone."""
    for name in names:
        if obj.get(name) != old.get(name):
            yield immutable_error(f"{path}.{name}" if path else name, obj.get(name, blank))


def immutable_error(at: At, value: Any) -> FieldError:
    """A field that has changed and may not."""
    return field.invalid(at, value, IMMUTABLE)


def validate_immutable(at: At, value: Any, old: Any, shown: Any = None) -> list[FieldError]:
    """A value is what it was. shown: what is shown of it, where that is not the value itself."""
    return [] if value == old else [immutable_error(at, value if shown is None else shown)]
