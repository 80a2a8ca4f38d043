"""An index of objects by label, for selectors that clients use repeatedly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from podless.cache.entry import Entry
from podless.runtime.meter import charge

_MAX = 8  # indexed labels of a resource; the least recently used one is dropped
_LOOK = 16  # steps to decode a short object

Keys = dict[str, set[str]]
Labels = Mapping[str, str]
_NO_LABELS: Labels = {}


class _LabelScan:
    """A scan of all objects for a label. missed: by key, the label's values before and after changes meanwhile."""

    __slots__ = ("missed", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.missed: dict[str, tuple[str | None, str | None]] = {}

    def note_labels(self, key: str, before: Labels, after: Labels) -> None:
        first = self.missed[key][0] if key in self.missed else before.get(self.name)
        self.missed[key] = first, after.get(self.name)


class LabelIndex:
    """The keys of objects, by label name and label value. in_use: changed objects must be passed to `update_entry`."""

    def __init__(self) -> None:
        self._names: dict[str, Keys] = {}
        self._walks: list[_LabelScan] = []  # scans under way, suspended at a charge
        self.in_use = False

    def index_label(self, name: str, entries: Iterable[Entry]) -> None:
        """Index a label from now on. entries: all objects; copied for the scan, because they can change during it."""
        self.in_use = True
        known = self._names.pop(name, None)
        if known is None:
            walk = _LabelScan(name)
            self._walks.append(walk)
            try:
                known = _collect_keys(name, list(entries))
            finally:
                self._walks.remove(walk)
            for key, (had, has) in walk.missed.items():
                _move_key(known, key, had, has)
            while len(self._names) >= _MAX:
                del self._names[next(iter(self._names))]
        self._names[name] = known

    def is_indexed(self, name: str) -> bool:
        """Return whether a label is indexed."""
        return name in self._names

    def find_keys(self, name: str, values: Iterable[str]) -> list[str] | None:
        """Return the sorted keys of objects whose label has one of the values; None if the label is not indexed."""
        known = self._names.get(name)
        if known is None:
            return None
        return sorted(key for value in dict.fromkeys(values) for key in known.get(value, ()))

    def update_entry(self, before: Entry | None, after: Entry | None) -> None:
        """Update the index for a changed object."""
        one = before or after
        if one is None:
            return
        had = before.read_labels() if before is not None else _NO_LABELS
        has = after.read_labels() if after is not None else _NO_LABELS
        for name, known in self._names.items():
            _move_key(known, one.key, had.get(name), has.get(name))
        for walk in self._walks:
            walk.note_labels(one.key, had, has)


def _collect_keys(name: str, entries: Sequence[Entry]) -> Keys:
    keys: Keys = {}
    for entry in entries:
        charge(_LOOK)
        if (value := entry.read_labels().get(name)) is not None:
            keys.setdefault(value, set()).add(entry.key)
    return keys


def _move_key(index: Keys, key: str, before: str | None, after: str | None) -> None:
    """Move an object from one label value to another; None means that it does not have the label."""
    if before == after:
        return
    if before is not None and (keys := index.get(before)) is not None:
        keys.discard(key)
        if not keys:
            del index[before]
    if after is not None:
        index.setdefault(after, set()).add(key)
