"""What the objects of a namespace use together; what is known of one is kept until it changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from podless.cache.entry import Entry
from podless.kinds.builtin import usage
from podless.kinds.builtin.usage import Usage
from podless.kinds.kind import Kind
from podless.kinds.strategy import Object
from podless.meta import quantity

_MOST = 10000  # objects of which the usage is kept


class Meter:
    """Adds up what is measured on objects."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, Usage]] = {}

    def used(self, kind: Kind, entries: Iterable[Entry], quota: Object, names: Sequence[str]) -> dict[str, str]:
        """How much of what a quota names is used by those of the objects that it is about."""
        given: dict[str, list[str]] = {name: [] for name in names}
        for entry in entries:
            known = self._usage(kind, entry)
            if known is None or not usage.applies(quota, known):
                continue
            for name in names:
                if (text := known.amounts.get(name)) is not None:
                    given[name].append(text)
        return {name: quantity.total(texts) for name, texts in given.items()}

    def _usage(self, kind: Kind, entry: Entry) -> Usage | None:
        measure = usage.of(kind)
        if measure is None:
            return None
        revision, known = self._known.get(entry.key, (0, None))
        if known is None or revision != entry.revision:
            if len(self._known) >= _MOST:
                self._known.clear()
            known = measure(entry.decode())
            self._known[entry.key] = entry.revision, known
        return known
