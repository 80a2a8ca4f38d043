"""Formats changes as text: a line for each change, and the lines of a difference."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import orjson

from podless.history.difference import ABSENT
from podless.runtime.jsonobject import Object

Paint = Callable[[str, str], str]  # returns a text in a colour, given the ANSI code
ACTIONS = {"create": "32", "update": "33", "delete": "31"}
_MAX_VALUE = 200  # maximum characters of a value in one line


def leave_plain(text: str, colour: str) -> str:
    """Return the text without a colour."""
    return text


def format_change(change: Object, paint: Paint = leave_plain) -> str:
    """Return a change in one line: time, revision, operation, object, author, and fields."""
    obj, author = change["object"], change["author"]
    prefix = f"{obj['namespace']}/" if obj.get("namespace") else ""
    resource = f"{obj['resource']}.{obj['group']}" if obj.get("group") else obj["resource"]
    operation = change["operation"]
    operation_text = paint(f"{operation:6}", ACTIONS[operation])
    parts = [change["time"][:23] + "Z", f"{change['revision']:>8}", operation_text, f"{resource} {prefix}{obj['name']}"]
    parts.append(format_author(author))
    if change.get("summary"):
        parts.append(f"[{change['summary']}]")
    return "  ".join(parts)


def format_author(author: Object) -> str:
    """Return the user and the client that made a change."""
    user = author.get("user") or "unknown"
    if author.get("impersonatedBy"):
        user += f" (impersonated by {author['impersonatedBy']})"
    manager, verb = author.get("fieldManager", ""), author.get("verb", "")
    subresource = f"/{author['subresource']}" if author.get("subresource") else ""
    client = " ".join(part for part in (f"{verb}{subresource}", manager) if part)
    return f"{user} ({client})" if client else user


def format_fields(fields: Iterable[Object], paint: Paint = leave_plain) -> Iterator[str]:
    """Yield the lines of a difference."""
    for field in fields:
        before, after = field.get("before", ABSENT), field.get("after", ABSENT)
        if before is ABSENT:
            yield paint(f"    + {field['path']}: {format_value(after)}", "32")
        elif after is ABSENT:
            yield paint(f"    - {field['path']}: {format_value(before)}", "31")
        else:
            yield paint(f"    ~ {field['path']}: {format_value(before)} -> {format_value(after)}", "33")


def format_value(value: Any) -> str:
    """Return a value as JSON, shortened if it is long."""
    text = orjson.dumps(value).decode()
    return text if len(text) <= _MAX_VALUE else f"{text[:_MAX_VALUE]}... ({len(text)} characters)"
