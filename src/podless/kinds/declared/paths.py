"""Paths to fields of an object, such as spec.ports[*].name and metadata.annotations["example.com/size"]."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from podless.runtime.jsonobject import Object
from podless.runtime.meter import charge

_STEP = re.compile(
    r"""(?:^|\.)(?P<name>[A-Za-z_$][A-Za-z0-9_$-]*+)|\[(?P<each>\*)\]|\[(?P<quoted>"(?:[^"\\]|\\.)*+")\]"""
)
_MAX_STEPS = 64
_TEXTS: Object = {"type": "object", "additionalProperties": {"type": "string"}}
ANY_VALUE: Object = {}  # the schema of a field that may have any value


class BadPath(Exception):
    """The text is not a path; the message says why."""


class PathMisfit(Exception):
    """A value on the way of a path is not an object; the message names the place."""


class DeclaredPath(NamedTuple):
    """A path. steps: names of fields and keys; None stands for each item of a list or map."""

    text: str
    steps: tuple[str | None, ...]

    @property
    def name(self) -> str:
        """The last step."""
        name = self.steps[-1]
        assert name is not None
        return name

    @property
    def prefix(self) -> tuple[str | None, ...]:
        """The steps up to the last [*]."""
        last = max((index for index, step in enumerate(self.steps, 1) if step is None), default=0)
        return self.steps[:last]

    def relative_to(self, prefix: tuple[str | None, ...]) -> DeclaredPath:
        """Return the path as seen from an item of its prefix."""
        return DeclaredPath(self.text, self.steps[len(prefix) :])


def parse_path(text: Any) -> DeclaredPath:
    """Read a path. Raises BadPath."""
    if not isinstance(text, str) or not text:
        raise BadPath("must be the path of a field, such as spec.size")
    steps: list[str | None] = []
    offset = 0
    while offset < len(text):
        match = _STEP.match(text, offset) if offset or text[0] != "." else None
        if match is None or len(steps) == _MAX_STEPS:
            raise BadPath('must be names separated by dots; write [*] for each item and ["name"] for other names')
        if match["quoted"]:
            try:
                steps.append(json.loads(match["quoted"]))
            except ValueError:
                raise BadPath(f"{match['quoted']} is not a JSON string") from None
        else:
            steps.append(match["name"])
        offset = match.end()
    if steps[0] is None or steps[-1] is None:
        raise BadPath("must begin and end with the name of a field")
    head = tuple(steps[:2])
    if head[0] in ("apiVersion", "kind") or (
        head[0] == "metadata" and (len(steps) < 3 or head[1] not in ("labels", "annotations"))
    ):
        raise BadPath("of metadata, only single labels and annotations can be converted")
    return DeclaredPath(text, tuple(steps))


def find_schema(schema: Object, path: DeclaredPath) -> Object | None:
    """Return the schema of a field: None if the schema has no such field, ANY_VALUE if it allows any value."""
    node: Any = schema
    steps = path.steps
    if steps[0] == "metadata":
        node, steps = _TEXTS, steps[2:]
    for step in steps:
        if not node:
            return ANY_VALUE
        values = node.get("additionalProperties")
        child = (node.get("properties") or {}).get(step) if step is not None else node.get("items")
        if child is not None:
            node = child
        elif values is True or isinstance(values, dict):
            node = values if isinstance(values, dict) else ANY_VALUE
        elif node.get("x-kubernetes-preserve-unknown-fields") and step is not None:
            return ANY_VALUE
        else:
            return None
    return node if isinstance(node, dict) else ANY_VALUE


def find_holders(obj: Any, steps: tuple[str | None, ...], *, make: bool = False) -> Iterator[Object]:
    """Yield the objects that hold the field at a path. make: create missing objects on the way.

    Raises PathMisfit if `make` is set and a value on the way is not an object.
    """
    if len(steps) == 1:
        if isinstance(obj, dict):
            yield obj
        elif make:
            raise PathMisfit("")
        return
    step, remaining = steps[0], steps[1:]
    if step is None:
        items = obj.values() if isinstance(obj, dict) else obj if isinstance(obj, list) else ()
        for item in list(items):
            charge(1)
            yield from find_holders(item, remaining, make=make)
        return
    if not isinstance(obj, dict):
        if make:
            raise PathMisfit("")
        return
    child = obj.get(step)
    if child is None:
        if not make or remaining[0] is None:
            return
        child = obj[step] = {}
    yield from find_holders(child, remaining, make=make)


def put_value(obj: Object, path: DeclaredPath, value: Any) -> None:
    """Set a field, and create missing objects on the way to it. Raises PathMisfit."""
    try:
        for holder in find_holders(obj, path.steps, make=True):
            holder[path.name] = value
    except PathMisfit:
        raise PathMisfit(f"{path.text}: something on the way to it is not an object") from None


def remove_value(obj: Object, path: DeclaredPath) -> None:
    """Drop a field."""
    for holder in find_holders(obj, path.steps):
        holder.pop(path.name, None)


def is_within(path: DeclaredPath, other: DeclaredPath) -> bool:
    """Return whether a path equals another one, or leads to something below it."""
    return path.steps[: len(other.steps)] == other.steps


def sort_moves(
    moves: Mapping[DeclaredPath, DeclaredPath],
) -> list[tuple[tuple[str | None, ...], list[tuple[DeclaredPath, DeclaredPath]]]]:
    """Return moves grouped by the list that contains their fields, the deepest lists first. Paths start at an item."""
    by_prefix: dict[tuple[str | None, ...], list[tuple[DeclaredPath, DeclaredPath]]] = {}
    for source, target in moves.items():
        prefix = source.prefix
        by_prefix.setdefault(prefix, []).append((source.relative_to(prefix), target.relative_to(prefix)))
    return sorted(by_prefix.items(), key=lambda one: -len(one[0]))


_MISSING: Any = object()


def move_values(
    obj: Object, moves: list[tuple[tuple[str | None, ...], list[tuple[DeclaredPath, DeclaredPath]]]]
) -> None:
    """Carry out moves. All values of one list are taken first, so that two fields can be swapped. Raises PathMisfit."""
    for prefix, together in moves:
        for item in list(find_holders(obj, (*prefix, ""))):
            moved = [(target, _take_value(item, source)) for source, target in together]
            for target, value in moved:
                if value is not _MISSING:
                    put_value(item, target, value)


def _take_value(obj: Object, path: DeclaredPath) -> Any:
    for holder in find_holders(obj, path.steps):
        return holder.pop(path.name, _MISSING)
    return _MISSING
