"""A plan as a comment on a pull request, within the size limit of forges."""

from __future__ import annotations

from podless.check.findings import format_count
from podless.plan.output.text import _write_change as _text_of
from podless.plan.output.values import SIGNS
from podless.plan.result import Action, Change, Plan

MAX_CHARACTERS = 60_000  # characters; GitHub accepts 65,536 in a comment
_TABLE = 200  # maximum rows of the table
_ORDER = (Action.REFUSED, Action.UNKNOWN, Action.DELETE, Action.UPDATE, Action.CREATE)
_CELL = 200  # maximum characters of a cell


def render(plan: Plan, *, color: bool, details: bool) -> str:
    """Return the plan as Markdown of at most MAX_CHARACTERS characters."""
    mark = {0: "nothing to do", 1: "something is rejected or unknown", 2: "changes"}[plan.exit_code]
    blocks = [f"### podless plan: {mark}", "", plan.summary()]
    blocks += ["", f"From {_format_cell(plan.source)}, Kubernetes {plan.release}."]
    changes = [change_ for action in _ORDER for change_ in plan.of(action) if not _is_quiet(change_)]
    if changes:
        blocks += ["", "| | object | where | |", "|---|---|---|---|"]
        blocks += [_format_row(change) for change in changes[:_TABLE]]
        if len(changes) > _TABLE:
            blocks.append(f"| | and {len(changes) - _TABLE} more | | |")
    if plan.webhooks:
        names = sorted({call.webhook for call in plan.webhooks if not call.asked})
        if names:
            blocks += ["", f"Webhooks that were not asked: {', '.join(map(_format_code, names))}"]
    if plan.missing:
        blocks += ["", "**Not read, so the plan is not complete:**", ""]
        blocks += [f"- {_format_cell(str(missing))}" for missing in plan.missing[:20]]
    text = "\n".join(blocks)[: MAX_CHARACTERS - 200]
    return _with_details(text, changes, details) + "\n"


def _is_quiet(change: Change) -> bool:
    return change.consequence and change.action is not Action.DELETE


def _format_code(text: str) -> str:
    return f"`{text}`"


def _format_cell(text: str) -> str:
    plain = " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())
    return plain if len(plain) <= _CELL else f"{plain[:_CELL]}..."


def _format_row(change: Change) -> str:
    location = f"`{_format_cell(change.place)}`" if change.place else ""
    text = change.message or (format_count(len(change.fields), "field") if change.action is Action.UPDATE else "")
    cells = (_format_code(SIGNS[change.action]), _format_cell(str(change.identity)), location, _format_cell(text))
    return f"| {' | '.join(cells)} |"


def _with_details(text: str, changes: list[Change], details: bool) -> str:
    """Return the text with the fields of as many changes as fit."""
    head, foot = "\n\n<details><summary>Fields</summary>\n\n```diff\n", "\n```\n\n</details>"
    room = MAX_CHARACTERS - len(text) - len(head) - len(foot) - 100
    lines: list[str] = []
    left_out = 0
    for change in changes:
        block = "\n".join(_as_diff(line) for line in _text_of(change, False, details)).replace("```", "'''")
        if len(block) + 1 > room:
            left_out += 1
            continue
        room -= len(block) + 1
        lines.append(block)
    if left_out:
        lines.append(f"# {format_count(left_out, 'object')} left out: the comment would be too long")
    return text + head + "\n".join(lines) + foot if lines else text


def _as_diff(line: str) -> str:
    """Return a line with its sign in the first column, where forges color it."""
    plain = line.lstrip()
    indent = len(line) - len(plain)
    sign = {"+": "+", "-": "-", "~": "!", "!": "-"}.get(plain[:1], "") if plain[1:2] == " " else ""
    return f"{sign}{' ' * indent}{plain[1:]}" if sign else f" {line}"
