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
        keys = self._names.pop(name, None)
        if keys is None:
            walk = _LabelScan(name)
            self._walks.append(walk)
            try:
                keys = _collect_keys(name, list(entries))
            finally:
                self._walks.remove(walk)
            for key, (before, after) in walk.missed.items():
                _move_key(keys, key, before, after)
            while len(self._names) >= _MAX:
                del self._names[next(iter(self._names))]
        self._names[name] = keys

    def is_indexed(self, name: str) -> bool:
        """Return whether a label is indexed."""
        return name in self._names

    def find_keys(self, name: str, values: Iterable[str]) -> list[str] | None:
        """Return the sorted keys of objects whose label has one of the values; None if the label is not indexed."""
        keys_by_value = self._names.get(name)
        if keys_by_value is None:
            return None
        return sorted(key for value in dict.fromkeys(values) for key in keys_by_value.get(value, ()))

    def update_entry(self, before: Entry | None, after: Entry | None) -> None:
        """Update the index for a changed object."""
        entry = before or after
        if entry is None:
            return
        old_labels = before.read_labels() if before is not None else _NO_LABELS
        new_labels = after.read_labels() if after is not None else _NO_LABELS
        for name, keys in self._names.items():
            _move_key(keys, entry.key, old_labels.get(name), new_labels.get(name))
        for walk in self._walks:
            walk.note_labels(entry.key, old_labels, new_labels)


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
