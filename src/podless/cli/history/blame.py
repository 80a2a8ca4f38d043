"""podless blame: show who set each field of an object."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

import orjson

from podless.cli.history.server import run_command
from podless.cli.history.source import HistorySource, InvalidArguments
from podless.history.blame import Blamed, blame_object
from podless.history.difference import Step
from podless.history.story import format_author
from podless.runtime.jsonobject import Object


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
