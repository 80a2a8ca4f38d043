"""The common part of both kinds of flow control."""

from __future__ import annotations

from podless.apis.shared import checks
from podless.apis.shared.typed import KeptMetadataStrategy, SpecStrategy
from podless.codec.gotext import Named
from podless.kinds.kind import Version
from podless.kinds.strategy import Faults, MetadataPolicy
from podless.meta import field
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each


class FlowStrategy(KeptMetadataStrategy, SpecStrategy):
    """Strategy with a status subresource and metadata.generation."""

    metadata = MetadataPolicy(on_update=(1, 0))

    def validate_status(self, version: Version, obj: Object, old: Object) -> Faults:
        return [*validate_conditions(obj)]


def validate_conditions(obj: Object) -> field.Errors:
    """Require conditions to have unique types."""
    seen: set[str] = set()
    for index, condition in enumerate(each((obj.get("status") or {}).get("conditions") or [])):
        name, path = Named(condition.get("type") or ""), f"status.conditions[{index}].type"
        yield from checks.validate_unique(path, name, seen)
        if not name:
            yield field.required(path, "must not be empty")
