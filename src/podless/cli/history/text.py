"""The output of podless blame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import orjson

from podless.history.blame import Blamed
from podless.history.difference import Step
from podless.history.story import format_author
from podless.runtime.jsonobject import Object


def format_blame(fields: Sequence[Blamed[Object]]) -> Iterator[str]:
    """Yield an object as YAML, each field preceded by the change that set it."""
    width = max((len(_blamed(one.change)) for one in fields), default=0)
    shown: tuple[Step, ...] = ()
    for one in fields:
        common = 0
        while common < min(len(shown), len(one.path) - 1) and shown[common] == one.path[common]:
            common += 1
        for depth in range(common, len(one.path) - 1):
            if isinstance(one.path[depth], str):
                yield f"{'':{width}}  {_indent(one.path, depth)}{_name(one.path[depth])}:"
        shown = one.path
        last, start = one.path[-1], _indent(one.path, len(one.path) - 1, first=_is_first(one.path, common))
        value = orjson.dumps(one.value).decode()
        text = f"{_name(last)}: {value}" if isinstance(last, str) else value
        yield f"{_blamed(one.change):{width}}  {start}{text}"


def _is_first(path: tuple[Step, ...], common: int) -> bool:
    """Return whether a field is the first shown one of a list item."""
    return len(path) > 1 and not isinstance(path[-2], str) and common <= len(path) - 2


def _indent(path: tuple[Step, ...], depth: int, *, first: bool = False) -> str:
    steps = sum(1 for step in path[:depth])
    if isinstance(path[depth], str):
        return "  " * (steps - 1) + "- " if first and steps else "  " * steps
    return "  " * steps + "- "


def _name(step: Step) -> str:
    if isinstance(step, str):
        return step if step.replace("-", "").replace("_", "").isalnum() else orjson.dumps(step).decode()
    return ""


def _blamed(change: Object) -> str:
    return f"{change['revision']:>7} {change['time'][:19]}Z {format_author(change['author'])}"
