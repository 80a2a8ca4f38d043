"""The differences between two states of an object, field by field."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from podless.codec import serializer
from podless.runtime.jsonobject import Object
from podless.runtime.meter import charge, each_part

# server fields that change with every write and add nothing to the log
_LEFT_OUT = ("managedFields", "resourceVersion")
# fields that identify list items in Kubernetes' types; the first one that all items have with different values is used
_KEYS = (
    "name", "key", "type", "id", "containerPort", "port", "mountPath", "devicePath", "ip", "topologyKey", "uid", "path",
    "manager",
)  # fmt: skip
_PLAIN = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*")
_STEP_BYTES = 64  # bytes of JSON that count as one step
Step = str | int | tuple[str, Any]  # a field, a list index, or (key, value) of an identified item


class _Absent:
    def __repr__(self) -> str:
        return "(absent)"

    def __bool__(self) -> bool:
        return False


ABSENT: Any = _Absent()  # in place of the value of a field that is missing


class Difference(NamedTuple):
    """One field that differs. before, after: its values, ABSENT if it is missing."""

    path: tuple[Step, ...]
    before: Any
    after: Any

    @property
    def field(self) -> str:
        """The path as text."""
        return format_path(self.path)


def format_path(path: tuple[Step, ...]) -> str:
    """Return a path such as spec.containers[name=app].image or metadata.labels["a/b"]."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif isinstance(step, tuple):
            text += f"[{step[0]}={step[1]}]"
        elif _PLAIN.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += f'["{step}"]'
    return text


def compare_objects(before: Object | None, after: Object | None) -> list[Difference]:
    """Return the fields that differ, in the order of the newer state. None: an absent object."""
    return list(_compare_values((), strip_object(before), strip_object(after)))


def strip_object(obj: Object | None, left_out: Collection[str] = _LEFT_OUT) -> Any:
    """Return an object without some metadata, by default what changes with every write; ABSENT for None."""
    if obj is None:
        return ABSENT
    metadata = {name: value for name, value in obj.get("metadata", {}).items() if name not in left_out}
    return {**obj, "metadata": metadata}


def _compare_values(path: tuple[Step, ...], before: Any, after: Any) -> Iterator[Difference]:
    charge(1)
    if isinstance(before, dict) and isinstance(after, dict):
        for name in [*after, *(name for name in before if name not in after)]:
            yield from _compare_values((*path, name), before.get(name, ABSENT), after.get(name, ABSENT))
    elif isinstance(before, list) and isinstance(after, list):
        yield from _compare_lists(path, before, after)
    elif not is_same(before, after):
        yield Difference(path, before, after)


def _compare_lists(path: tuple[Step, ...], before: list[Any], after: list[Any]) -> Iterator[Difference]:
    if is_same(before, after):
        return
    key = find_key(before, after)
    if not key:
        for index in range(max(len(before), len(after))):
            old = before[index] if index < len(before) else ABSENT
            yield from _compare_values((*path, index), old, after[index] if index < len(after) else ABSENT)
        return
    old, new = ({item[key]: item for part in each_part(items) for item in part} for items in (before, after))
    different = False
    for name in [*new, *(name for name in old if name not in new)]:
        for difference in _compare_values((*path, (key, name)), old.get(name, ABSENT), new.get(name, ABSENT)):
            different = True
            yield difference
    if not different:  # only the order differs
        yield Difference(path, before, after)


def is_same(before: Any, after: Any) -> bool:
    """Return whether two values are equal as JSON: true is not 1."""
    if type(before) is not type(after):
        return False
    if not isinstance(before, dict | list):
        return bool(before == after)
    encoded = serializer.encode_sorted(before)
    charge(len(encoded) // _STEP_BYTES)
    return encoded == serializer.encode_sorted(after)


def find_key(*lists: list[Any]) -> str:
    """Return the field that identifies the items of all lists, "" if there is none."""
    if not any(lists):
        return ""
    return next((key for key in _KEYS if all(_is_identified(items, key) for items in lists)), "")


def _is_identified(items: list[Any], key: str) -> bool:
    """Return whether all items are objects with different values of this field."""
    values: set[str | int] = set()
    for part in each_part(items):
        if not all(isinstance(item, dict) and isinstance(item.get(key), str | int) for item in part):
            return False
        values.update(item[key] for item in part)
    return len(values) == len(items)
