"""A plan as annotations of a GitHub workflow."""

from __future__ import annotations

from podless.plan.output.values import SIGNS, describe_field
from podless.plan.result import Action, Change, Plan

_LEVELS = {Action.REFUSED: "error", Action.UNKNOWN: "error", Action.DELETE: "warning"}
_FIELDS = 10  # fields in one annotation


def render(plan: Plan, *, color: bool, details: bool) -> str:
    """Return a workflow command for each change of the set, each warning and all that is missing."""
    lines = []
    for change in plan.changes:
        if change.action is Action.UNCHANGED or (change.consequence and change.action is not Action.DELETE):
            continue
        lines.append(_format_command(_LEVELS.get(change.action, "notice"), change, _describe_change(change)))
        lines += [_format_command("warning", change, text) for text in change.warnings]
    lines += [f"::error title=podless plan::{_escape_text(f'not read: {missing}')}" for missing in plan.missing]
    lines.append(f"::notice title=podless plan::{_escape_text(plan.summary())}")
    return "\n".join(lines) + "\n"


def _describe_change(change: Change) -> str:
    if change.message:
        return change.message
    if change.action is Action.UPDATE:
        descriptions = [describe_field(field) for field in change.fields[:_FIELDS]]
        left_out = len(change.fields) - len(descriptions)
        return "\n".join([*descriptions, *([f"and {left_out} more"] if left_out > 0 else [])])
    return f"to {change.action}"


def _format_command(level: str, change: Change, text: str) -> str:
    title = f"{SIGNS[change.action]} {change.identity}"
    location = f"file={_escape_property(change.file)},line={change.line},col={change.column}," if change.file else ""
    return f"::{level} {location}title={_escape_property(title)}::{_escape_text(text)}"


def _escape_text(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_text(text).replace(":", "%3A").replace(",", "%2C")
