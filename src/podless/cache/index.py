"""Which objects have which labels, for selectors that are asked for again and again."""

from __future__ import annotations

from collections.abc import Iterable

from podless.cache.entry import Entry

_MOST = 8  # labels of a resource that are followed; the one that was asked for longest ago gives way


class LabelIndex:
    """By the name of a label and its value, the keys of the objects that have it.

    A name is followed once it is asked for.
    """

    def __init__(self) -> None:
        self._names: dict[str, dict[str, set[str]]] = {}

    def find(self, name: str, values: Iterable[str], entries: Iterable[Entry]) -> list[str]:
        """The keys of the objects whose label has one of the values, in order. entries: all objects there are."""
        known = self._names.pop(name, None)
        if known is None:
            known = {}
            for entry in entries:
                _add(known, entry.read_labels().get(name), entry)
            while len(self._names) >= _MOST:
                del self._names[next(iter(self._names))]
        self._names[name] = known
        return sorted(key for value in dict.fromkeys(values) for key in known.get(value, ()))

    def change(self, before: Entry | None, after: Entry | None) -> None:
        """An object is another one now."""
        if not self._names:
            return
        had = before.read_labels() if before is not None else {}
        has = after.read_labels() if after is not None else {}
        for name, known in self._names.items():
            if before is not None and (value := had.get(name)) is not None:
                keys = known.get(value)
                if keys is not None:
                    keys.discard(before.key)
                    if not keys:
                        del known[value]
            if after is not None:
                _add(known, has.get(name), after)


def _add(known: dict[str, set[str]], value: str | None, entry: Entry) -> None:
    if value is not None:
        known.setdefault(value, set()).add(entry.key)
