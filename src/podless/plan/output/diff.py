"""A plan as unified diffs of YAML, as `kubectl diff` prints them."""

from __future__ import annotations

import difflib

from podless.codec import serializer
from podless.plan.output.values import show_object
from podless.plan.result import Action, Change, Plan
from podless.runtime.jsonobject import Object


def render(plan: Plan, *, color: bool, details: bool) -> str:
    """Return a diff for each changed object, and comments for rejected ones."""
    blocks = []
    for change in plan.changes:
        if change.action in (Action.REFUSED, Action.UNKNOWN):
            message_lines = change.message.splitlines() or [""]
            blocks.append("\n".join(f"# {change.place} {change.identity}: {line}".rstrip() for line in message_lines))
        elif change.action is not Action.UNCHANGED and not (change.consequence and change.action is not Action.DELETE):
            blocks += _format_diff(change)
    return "\n".join([*blocks, f"# {plan.summary()}"]) + "\n"


def _format_diff(change: Change) -> list[str]:
    identity = change.identity
    name = ".".join(text for text in (identity.api_version, identity.kind, identity.namespace, identity.name) if text)
    after = None if change.action is Action.DELETE else change.after
    old, new = (_list_lines(change, obj) for obj in (change.before, after))
    if old == new and change.before is not None:
        new = _mark_lines(change, new)
    return [*difflib.unified_diff(old, new, f"LIVE/{name}", f"PLAN/{name}", lineterm="")]


def _list_lines(change: Change, obj: Object | None) -> list[str]:
    lines = show_object(change, obj)
    if lines is None:
        return []
    server_set = ("resourceVersion", *(("uid", "creationTimestamp") if change.before is None else ()))
    metadata = {key: value for key, value in lines["metadata"].items() if key not in server_set}
    return serializer.encode_yaml({**lines, "metadata": metadata}).decode().splitlines()


def _mark_lines(change: Change, lines: list[str]) -> list[str]:
    """Return the lines, with a mark on lines whose hidden values differ."""
    keys = {field.path.rpartition(".")[2] for field in change.fields if field.secret}
    return [f"{line} # changed" if line.strip().partition(":")[0] in keys else line for line in lines]
