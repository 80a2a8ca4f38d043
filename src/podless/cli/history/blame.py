"""podless blame: show who set each field of an object."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import orjson

from podless.cli.history.sources import HistorySource, InvalidArguments, run_command
from podless.history.difference import ABSENT, Step, find_key, is_same, strip_object
from podless.history.story import format_author
from podless.runtime.jsonobject import Object
from podless.runtime.meter import charge


def run(args: argparse.Namespace) -> int:
    """Run the command. Returns the exit code."""
    return run_command(args, _run)


async def _run(args: argparse.Namespace, server: HistorySource) -> int:
    resource = await server.find_resource(args.kind)
    namespace = args.namespace if resource.namespaced else ""
    states: list[tuple[Object, Object]] = []
    async for change in server.list_changes(resource, namespace, args.name, states=True):
        if change["operation"] == "delete" and states:
            break  # a change of an earlier object with the same name
        if change["operation"] != "delete":
            states.append((change, change["state"]))
        if change["operation"] == "create":
            break
    if not states:
        raise InvalidArguments(f"{resource.full_name} {args.name}: the log has no changes of it")
    for line in format_blame(blame_object(reversed(states))):
        print(line)
    return 0


def format_blame(fields: Sequence[Blamed[Object]]) -> Iterator[str]:
    """Yield an object as YAML, each field preceded by the change that set it."""
    width = max((len(_format_change(item.change)) for item in fields), default=0)
    previous: tuple[Step, ...] = ()
    for item in fields:
        common = 0
        while common < min(len(previous), len(item.path) - 1) and previous[common] == item.path[common]:
            common += 1
        for depth in range(common, len(item.path) - 1):
            if isinstance(item.path[depth], str):
                yield f"{'':{width}}  {_indent_step(item.path, depth)}{_format_step(item.path[depth])}:"
        previous = item.path
        last, start = (item.path[-1], _indent_step(item.path, len(item.path) - 1, first=_is_first(item.path, common)))
        value = orjson.dumps(item.value).decode()
        text = f"{_format_step(last)}: {value}" if isinstance(last, str) else value
        yield f"{_format_change(item.change):{width}}  {start}{text}"


def _is_first(path: tuple[Step, ...], common: int) -> bool:
    """Return whether a field is the first shown one of a list item."""
    return len(path) > 1 and not isinstance(path[-2], str) and common <= len(path) - 2


def _indent_step(path: tuple[Step, ...], depth: int, *, first: bool = False) -> str:
    steps = sum(1 for step in path[:depth])
    if isinstance(path[depth], str):
        return "  " * (steps - 1) + "- " if first and steps else "  " * steps
    return "  " * steps + "- "


def _format_step(step: Step) -> str:
    if isinstance(step, str):
        return step if step.replace("-", "").replace("_", "").isalnum() else orjson.dumps(step).decode()
    return ""


def _format_change(change: Object) -> str:
    return f"{change['revision']:>7} {change['time'][:19]}Z {format_author(change['author'])}"


C = TypeVar("C")


class Blamed(NamedTuple, Generic[C]):
    """One field without fields below it, its value, and the change that set it."""

    path: tuple[Step, ...]
    value: Any
    change: C


def blame_object(states: Iterable[tuple[C, Object]]) -> list[Blamed[C]]:
    """Return the fields of an object's last state, in its order, with the change that gave each its value.

    states: changes and the states that they made, of one object, oldest first. The first one is blamed for its whole
    state. An empty map or list counts as a field.
    """
    owned: Any = None
    last: Any = ABSENT
    for change, obj in states:
        state = strip_object(obj)
        owned = _find_owners(last, state, owned, change)
        last = state
    return list(_list_fields((), last, owned)) if last is not ABSENT else []


# The owners of a value have the value's shape: a dict by name, a dict by key or index, or the change itself.


def _find_owners(before: Any, after: Any, owned: Any, change: C) -> Any:
    """Return the owners of a value after a change. owned: those of the value before it."""
    charge(1)
    if isinstance(after, dict) and after:
        old = before if isinstance(before, dict) and before else {}
        return {
            name: _find_owners(old.get(name, ABSENT), value, owned.get(name) if old else None, change)
            for name, value in after.items()
        }
    if isinstance(after, list) and after:
        old_items = before if isinstance(before, list) else []
        key = find_key(after)
        if old_items and find_key(old_items) != key:
            old_items = []  # the old items have other keys, so the change set them all
        old_by_step = dict(zip(_name_items(key, old_items), old_items, strict=True))
        return {
            step: _find_owners(old_by_step.get(step, ABSENT), item, owned.get(step) if old_by_step else None, change)
            for step, item in zip(_name_items(key, after), after, strict=True)
        }
    return owned if before is not ABSENT and is_same(before, after) else change


def _name_items(key: str, items: list[Any]) -> list[Step]:
    """Return the steps of a path that lead to the items of a list."""
    return [(key, item[key]) for item in items] if key else list(range(len(items)))


def _list_fields(path: tuple[Step, ...], value: Any, owned: Any) -> Iterable[Blamed[Any]]:
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from _list_fields((*path, name), item, owned[name])
    elif isinstance(value, list) and value:
        for (step, owners), item in zip(owned.items(), value, strict=True):
            yield from _list_fields((*path, step), item, owners)
    else:
        yield Blamed(path, value, owned)
