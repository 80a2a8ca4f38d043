"""How these commands write changes, differences and blame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson

from podless.cli.history.server import ACTIONS, paint
from podless.history.blame import Blamed
from podless.history.difference import ABSENT, Step
from podless.runtime.jsonobject import Object

_VALUE = 200  # characters of a value in one line


def format_change(change: Object, *, colour: bool) -> str:
    """Return a change in one line: when, revision, what, which object, who, and the fields."""
    obj, author = change["object"], change["author"]
    where = f"{obj['namespace']}/" if obj.get("namespace") else ""
    resource = f"{obj['resource']}.{obj['group']}" if obj.get("group") else obj["resource"]
    operation = change["operation"]
    done = paint(f"{operation:6}", ACTIONS[operation], wanted=colour)
    parts = [change["time"][:23] + "Z", f"{change['revision']:>8}", done, f"{resource} {where}{obj['name']}"]
    parts.append(format_author(author))
    if change.get("summary"):
        parts.append(f"[{change['summary']}]")
    return "  ".join(parts)


def format_author(author: Object) -> str:
    """Return who made a change, by which client."""
    user = author.get("user") or "unknown"
    if author.get("impersonatedBy"):
        user += f" (impersonated by {author['impersonatedBy']})"
    manager, verb = author.get("fieldManager", ""), author.get("verb", "")
    subresource = f"/{author['subresource']}" if author.get("subresource") else ""
    told = " ".join(part for part in (f"{verb}{subresource}", manager) if part)
    return f"{user} ({told})" if told else user


def format_fields(fields: Iterable[Object], *, colour: bool) -> Iterator[str]:
    """Yield the lines of a difference."""
    for one in fields:
        before, after = one.get("before", ABSENT), one.get("after", ABSENT)
        if before is ABSENT:
            yield paint(f"    + {one['path']}: {format_value(after)}", "32", wanted=colour)
        elif after is ABSENT:
            yield paint(f"    - {one['path']}: {format_value(before)}", "31", wanted=colour)
        else:
            text = f"    ~ {one['path']}: {format_value(before)} -> {format_value(after)}"
            yield paint(text, "33", wanted=colour)


def format_value(value: Any) -> str:
    """Return a value as JSON, cut where it is long."""
    text = orjson.dumps(value).decode()
    return text if len(text) <= _VALUE else f"{text[:_VALUE]}... ({len(text)} characters)"


def format_blame(fields: Sequence[Blamed[Object]]) -> Iterator[str]:
    """Yield an object as YAML, before each field the change that set it."""
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
    """Whether a field is the first that is shown of a list's item."""
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
