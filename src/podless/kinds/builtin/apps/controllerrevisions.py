"""ControllerRevision. Source: Kubernetes' pkg/apis/apps/validation."""

from __future__ import annotations

from collections.abc import Sequence

from podless.kinds.builtin import counts
from podless.kinds.builtin.typed import TypedStrategy
from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import Object
from podless.kinds.types.apps import CONTROLLER_REVISION
from podless.meta import codec, field
from podless.meta.field import FieldError


class ControllerRevisionStrategy(TypedStrategy):
    """A state to go back to, which does not change."""

    rechecks = (1, 1)

    def validate_create(self, kind: Kind, version: Version, obj: Object) -> Sequence[FieldError]:
        """There is a state, and a number."""
        missing = [] if obj.get("data") is not None else [field.required("data", "data is mandatory")]
        return [*missing, *counts.nonnegative("revision", obj.get("revision"))]

    def validate_update(
        self, kind: Kind, version: Version, obj: Object, old: Object, warnings: list[str]
    ) -> Sequence[FieldError]:
        """The same; the state stays, as it was written."""
        errors = list(self.validate_create(kind, version, obj))
        if codec.encode(obj.get("data")) != codec.encode(old.get("data")):
            errors.append(field.invalid("data", obj.get("data"), "field is immutable"))
        return errors


STRUCT = CONTROLLER_REVISION
STRATEGY = ControllerRevisionStrategy()
