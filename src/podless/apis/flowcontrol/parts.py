"""The common part of both kinds of flow control."""

from __future__ import annotations

from collections.abc import Iterator

from podless.apis.shared import checks
from podless.apis.shared.carried import keep_metadata
from podless.apis.shared.typed import SpecStrategy
from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import NOT_STATUS, Faults, MetadataPolicy
from podless.meta import field
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each


class FlowStrategy(SpecStrategy):
    """Strategy with a status subresource and metadata.generation."""

    metadata = MetadataPolicy(on_update=(1, 0))
    status_resets = NOT_STATUS

    def prepare_status(self, version: Version, obj: Object, old: Object) -> None:
        super().prepare_status(version, obj, old)
        keep_metadata(obj, old)

    def validate_status(self, kind: Kind, version: Version, obj: Object, old: Object, warnings: list[str]) -> Faults:
        return [*validate_conditions(obj)]


def validate_conditions(obj: Object) -> Iterator[FieldError]:
    """Require conditions to have unique types."""
    seen: set[str] = set()
    for index, condition in enumerate(each((obj.get("status") or {}).get("conditions") or [])):
        name, path = condition.get("type") or "", f"status.conditions[{index}].type"
        yield from checks.validate_unique(path, name, seen)
        if not name:
            yield field.required(path, "must not be empty")
