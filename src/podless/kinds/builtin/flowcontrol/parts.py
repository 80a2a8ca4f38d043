"""What both kinds of flow control have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from podless.kinds.builtin.statused import keep_metadata
from podless.kinds.builtin.typed import TypedStrategy
from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import Object
from podless.meta import field
from podless.meta.field import FieldError


class FlowStrategy(TypedStrategy):
    """The spec counts as a generation; the status has its own endpoint."""

    generation = True
    rechecks = (1, 0)

    def prepare_create(self, version: Version, obj: Object) -> None:
        """Nothing is known of it yet."""
        obj["status"] = {}

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        """The status stays."""
        obj["status"] = old["status"]

    def prepare_status(self, version: Version, obj: Object, old: Object) -> None:
        """The spec stays."""
        obj["spec"] = old["spec"]
        keep_metadata(obj, old)

    def changed(self, version: Version, obj: Object, old: Object) -> bool:
        """Only the spec counts."""
        return bool(obj["spec"] != old["spec"])

    def validate_update(
        self, kind: Kind, version: Version, obj: Object, old: Object, warnings: list[str]
    ) -> Sequence[FieldError]:
        """As a new one."""
        return self.validate_create(kind, version, obj)

    def validate_status(
        self, kind: Kind, version: Version, obj: Object, old: Object, warnings: list[str]
    ) -> Sequence[FieldError]:
        """Each condition once."""
        return [*conditions(obj)]


def conditions(obj: Object) -> Iterator[FieldError]:
    """Conditions of different types."""
    seen: set[str] = set()
    for place, condition in enumerate((obj.get("status") or {}).get("conditions") or []):
        name, path = condition.get("type") or "", f"status.conditions[{place}].type"
        if name in seen:
            yield field.duplicate(path, name)
        seen.add(name)
        if not name:
            yield field.required(path)
