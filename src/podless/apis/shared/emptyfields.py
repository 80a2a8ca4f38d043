"""The strategy of kinds that increase metadata.generation for a field that is written empty instead of omitted.

kube-apiserver compares Go values, in which an empty and a missing list differ. It stores neither, so each update that
writes an empty one increases the generation. Source: `reflect.DeepEqual` in the strategies of NetworkPolicy and of the
webhook configurations.
"""

from __future__ import annotations

from typing import Any, ClassVar

from podless.apis.shared.typed import TypedStrategy
from podless.codec import serializer
from podless.kinds.kind import Version
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each


class _Map(dict[str, Any]):
    """A part with the desired state (a map) that was written with empty fields."""


class _List(list[Any]):
    """A part with the desired state (a list) that was written with empty fields."""


class EmptyFieldsStrategy(TypedStrategy):
    """Records whether the desired state was written with empty fields, which are not stored.

    desired_field: the field with the desired state. empties: names of the lists, maps and bytes in it.
    """

    has_generation = True
    marks = True
    desired_field: ClassVar[str] = "spec"
    empties: ClassVar[frozenset[str]] = frozenset()

    def complete(self, obj: Object, raw: Object) -> None:
        super().complete(obj, raw)
        self._mark_part(obj, raw)

    def note_raw_json(self, obj: Object, raw: bytes) -> None:
        """Record it again, because the object was copied since."""
        self._mark_part(obj, serializer.decode_json(raw))

    def unmark_object(self, obj: Object) -> Object:
        marked = obj.get(self.desired_field)
        if isinstance(marked, _Map | _List):
            return {**obj, self.desired_field: dict(marked) if isinstance(marked, _Map) else list(marked)}
        return obj

    def increases_generation(self, version: Version, obj: Object, old: Object) -> bool:
        desired = obj.get(self.desired_field)
        return isinstance(desired, _Map | _List) or desired != old.get(self.desired_field)

    def _mark_part(self, obj: Object, raw: Object) -> None:
        decoded = obj.get(self.desired_field)
        if decoded and self._has_lost(raw.get(self.desired_field), decoded):
            obj[self.desired_field] = _Map(decoded) if isinstance(decoded, dict) else _List(decoded)

    def _has_lost(self, value: Any, decoded: Any) -> bool:
        """Return whether an empty field was given and dropped."""
        if isinstance(value, dict) and isinstance(decoded, dict):
            return any(
                (name in self.empties and item in ([], {}, "") and not decoded.get(name))
                or self._has_lost(item, decoded.get(name))
                for name, item in each(value).items()
            )
        if isinstance(value, list) and isinstance(decoded, list):
            return any(map(self._has_lost, value, decoded))
        return False
