"""Kinds whose generation counts how a change is written: an empty list or map is not what leaving it out is.

A real server compares these as Go values, in which a list that is empty and one that is not there differ; what it
stores has neither, so that each change that writes one counts. Source: `reflect.DeepEqual` in the strategies of
NetworkPolicy and of the webhook configurations.
"""

from __future__ import annotations

from typing import Any, ClassVar

from podless.apis.shared.typed import TypedStrategy
from podless.codec import serializer
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each


class _Map(dict[str, Any]):
    """What is wanted, written with something empty."""


class _List(list[Any]):
    """The same of several."""


class LiteralStrategy(TypedStrategy):
    """Notes whether what is wanted was written with something empty that is not stored.

    part: the field that says what is wanted. empties: the lists, maps and bytes in it, by their names.
    """

    part: ClassVar[str] = "spec"
    empties: ClassVar[frozenset[str]] = frozenset()

    def complete(self, obj: Object, given: Object) -> None:
        super().complete(obj, given)
        self._mark(obj, given)

    def note_raw_json(self, obj: Object, raw: bytes) -> None:
        """Record it again, because the object was copied since."""
        self._mark(obj, serializer.decode_json(raw))

    def differs(self, obj: Object, old: Object) -> bool:
        """Return whether an object wants something else than it did."""
        wanted = obj.get(self.part)
        return isinstance(wanted, _Map | _List) or wanted != old.get(self.part)

    def _mark(self, obj: Object, given: Object) -> None:
        kept = obj.get(self.part)
        if kept and self._lost(given.get(self.part), kept):
            obj[self.part] = _Map(kept) if isinstance(kept, dict) else _List(kept)

    def _lost(self, given: Any, kept: Any) -> bool:
        """Return whether something empty was given that was not kept."""
        if isinstance(given, dict) and isinstance(kept, dict):
            return any(
                (name in self.empties and item in ([], {}, "") and not kept.get(name))
                or self._lost(item, kept.get(name))
                for name, item in each(given).items()
            )
        if isinstance(given, list) and isinstance(kept, list):
            return any(map(self._lost, given, kept))
        return False
