"""Strategies of kinds that increase metadata.generation for a field that is written empty instead of omitted.

kube-apiserver compares Go values, in which an empty and a missing list differ. It stores neither, so each update that
writes an empty one increases the generation. Source: `reflect.DeepEqual` in the strategies of NetworkPolicy and of the
webhook configurations.
"""

from __future__ import annotations

from typing import Any, ClassVar

from podless.apis.shared.typed import TypedStrategy
from podless.codec import serializer
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each


class _Map(dict[str, Any]):
    """A part with the desired state (a map) that was written with empty fields."""


class _List(list[Any]):
    """The same for a list."""


class LiteralStrategy(TypedStrategy):
    """Records whether the desired state was written with empty fields, which are not stored.

    part: the field with the desired state. empties: names of the lists, maps and bytes in it.
    """

    marks = True
    part: ClassVar[str] = "spec"
    empties: ClassVar[frozenset[str]] = frozenset()

    def complete(self, obj: Object, given: Object) -> None:
        super().complete(obj, given)
        self._mark_part(obj, given)

    def note_raw_json(self, obj: Object, raw: bytes) -> None:
        """Record it again, because the object was copied since."""
        self._mark_part(obj, serializer.decode_json(raw))

    def unmark_object(self, obj: Object) -> Object:
        part = obj.get(self.part)
        if isinstance(part, _Map | _List):
            return {**obj, self.part: dict(part) if isinstance(part, _Map) else list(part)}
        return obj

    def is_changed(self, obj: Object, old: Object) -> bool:
        """Return whether the desired state differs."""
        wanted = obj.get(self.part)
        return isinstance(wanted, _Map | _List) or wanted != old.get(self.part)

    def _mark_part(self, obj: Object, given: Object) -> None:
        kept = obj.get(self.part)
        if kept and self._has_lost(given.get(self.part), kept):
            obj[self.part] = _Map(kept) if isinstance(kept, dict) else _List(kept)

    def _has_lost(self, value: Any, kept: Any) -> bool:
        """Return whether an empty field was given and dropped."""
        if isinstance(value, dict) and isinstance(kept, dict):
            return any(
                (name in self.empties and item in ([], {}, "") and not kept.get(name))
                or self._has_lost(item, kept.get(name))
                for name, item in each(value).items()
            )
        if isinstance(value, list) and isinstance(kept, list):
            return any(map(self._has_lost, value, kept))
        return False
