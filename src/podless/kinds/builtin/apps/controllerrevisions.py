"""ControllerRevision. Source: Kubernetes' pkg/apis/apps/validation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from podless.kinds.builtin import counts
from podless.kinds.builtin.typed import TypedStrategy
from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import Object
from podless.kinds.types.apps import CONTROLLER_REVISION
from podless.meta import codec, field
from podless.meta.field import FieldError

_DATA = re.compile(rb'"data"[ \t\r\n]*+:[ \t\r\n]*+')


class _Spaced(dict[str, Any]):
    """A state that was written with blanks."""


class ControllerRevisionStrategy(TypedStrategy):
    """A state to go back to, which does not change.

    It is stored without blanks, and its bytes are compared: a client that writes some has written another one.
    """

    rechecks = (1, 1)
    literal = True

    def written(self, obj: Object, raw: bytes) -> None:
        """Whether the state is written as it would be stored."""
        data = obj.get("data")
        if isinstance(data, dict):
            stored = codec.encode(data)
            if not any(raw.startswith(stored, found.end()) for found in _DATA.finditer(raw)):
                obj["data"] = _Spaced(data)

    def validate_create(self, kind: Kind, version: Version, obj: Object) -> Sequence[FieldError]:
        """A number, and a state, which is an object."""
        errors, data = list(counts.nonnegative("revision", obj.get("revision"))), obj.get("data")
        if data is None:
            errors.append(field.required("data", "data is mandatory"))
        elif not isinstance(data, dict):
            errors.append(field.required("data", "data must be a valid JSON object"))
        return errors

    def validate_update(
        self, kind: Kind, version: Version, obj: Object, old: Object, warnings: list[str]
    ) -> Sequence[FieldError]:
        """The number; the state stays, as it was written."""
        errors = list(counts.nonnegative("revision", obj.get("revision")))
        data = obj.get("data")
        if isinstance(data, _Spaced) or codec.encode(data) != codec.encode(old.get("data")):
            errors.append(field.invalid("data", obj.get("data"), "field is immutable"))
        return errors


STRUCT = CONTROLLER_REVISION
STRATEGY = ControllerRevisionStrategy()
