"""The forms of a plan, for users and programs. No form contains values of Secrets."""

from __future__ import annotations

import difflib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from podless.check.output import format_command
from podless.codec import serializer
from podless.history.difference import ABSENT
from podless.plan.result import Action, By, Change, FieldChange, Plan, UnreadPart
from podless.plan.secrecy import HIDDEN, hide_object
from podless.runtime.jsonobject import Object
from podless.runtime.messages import format_count

MAX_CHARACTERS = 60_000  # characters of a comment; GitHub accepts 65,536
_MAX_ROWS = 200  # maximum rows of the table
_ORDER = (Action.REFUSED, Action.UNKNOWN, Action.DELETE, Action.UPDATE, Action.CREATE)
_CELL = 200  # maximum characters of a cell
_LEVELS = {Action.REFUSED: "error", Action.UNKNOWN: "error", Action.DELETE: "warning"}
_MAX_FIELDS = 10  # fields in one annotation
_LATER = "(known after apply)"
_MAX_VALUE = 100  # maximum characters of a value
_BY = {By.SERVER: "server", By.POLICY: "policy"}
_SIGNS = {"create": "+", "update": "~", "delete": "-", "refused": "!", "unchanged": "=", "unknown": "?"}
_COLORS = {"+": "32", "~": "33", "-": "31", "!": "31;1", "?": "35", "=": "2"}


def _mark_text(sign: str, text: str, color: bool) -> str:
    return f"\x1b[{_COLORS[sign]}m{sign} {text}\x1b[0m" if color and sign in _COLORS else f"{sign} {text}"


def _render_text(plan: Plan, color: bool, details: bool) -> str:
    return "\n".join(_write_lines(plan, color, details)) + "\n"


def _write_lines(plan: Plan, color: bool, details: bool) -> Iterator[str]:
    yield f"Starting from {plan.source}, Kubernetes {plan.release}"
    if plan.requests:
        yield from _write_requests(plan)
    yield ""
    for change in plan.changes:
        if change.action is not Action.UNCHANGED and not _is_quiet(change):
            yield from _write_change(change, color, details)
    if plan.others:
        counts = Counter(change.identity.kind for change in plan.others)
        kinds = ", ".join(f"{number} {kind}" for kind, number in counts.items())
        yield f"  The server itself makes or changes: {kinds}"
        if details:
            for change in plan.others:
                yield from _write_change(change, color, details)
        yield ""
    if plan.webhooks:
        yield from _write_webhooks(plan)
    if plan.missing:
        yield "Not read, so the plan is not complete:"
        yield from (f"  ? {missing}" for missing in _join_missing(plan.missing))
        yield ""
    yield from (f"Note: {note}" for note in plan.notes)
    yield plan.summary()


def _join_missing(missing: Sequence[UnreadPart]) -> list[UnreadPart]:
    """Join failed reads that share a reason."""
    joined: dict[tuple[str, str], list[str]] = {}
    for unread in missing:
        joined.setdefault((unread.why, unread.effect), []).append(unread.what)
    return [UnreadPart(", ".join(whats), reason, effect) for (reason, effect), whats in joined.items()]


def _write_requests(plan: Plan) -> Iterator[str]:
    """Yield the number of reads, by verb."""
    by_verb: dict[str, list[str]] = {}
    for request, number in plan.requests.items():
        verb, _, resource = request.partition(" ")
        by_verb.setdefault(verb, []).append(f"{resource} ({number})" if number > 1 else resource)
    yield f"  {format_count(sum(plan.requests.values()), 'request')}, all of them reads"
    yield from (f"    {verb} {', '.join(resources)}" for verb, resources in by_verb.items())


def _write_change(change: Change, color: bool, details: bool) -> Iterator[str]:
    sign = _SIGNS[change.action]
    location = f"  {change.place}" if change.place else ""
    label = str(change.identity) if change.identity.kind else "a document"
    yield "  " + _mark_text(sign, label, color) + location
    if change.message:
        for line in change.message.splitlines():
            yield f"      {line}"
        for cause in change.causes if len(change.causes) > 1 else ():  # a single cause is in the message already
            if cause.field:
                yield f"      {change.file}:{cause.line}:{cause.column}: {cause.field}: {cause.message}"
    if change.waits:
        yield f"      waits for finalizers: {', '.join(change.waits)}"
    if change.action is not Action.DELETE:
        yield from _write_fields(change, color, details)
    yield from (f"      warning: {text}" for text in change.warnings)
    yield ""


def _write_fields(change: Change, color: bool, details: bool) -> Iterator[str]:
    added = [field for field in change.fields if field.by is By.SERVER]
    shows_added = details or change.action is Action.UPDATE
    fields = change.fields if shows_added else [field for field in change.fields if field.by is not By.SERVER]
    for field in fields:
        if change.action is Action.CREATE and field.path in ("metadata.name", "metadata.namespace"):
            continue
        if _is_ownership(field):
            if details:
                yield f"      ~ {_describe_field(field)}"
            continue
        sign = "+" if field.before is ABSENT else "-" if field.after is ABSENT else "~"
        yield "      " + _mark_text(sign, _describe_field(field), color)
    moved = [field for field in change.fields if _is_ownership(field)]
    if moved and not details:
        new_managers = sorted({name for field in moved for name in {*field.new_managers} - {*field.old_managers}})
        removed = sorted({name for field in moved for name in {*field.old_managers} - {*field.new_managers}})
        texts = [f"added {', '.join(new_managers)}"] if new_managers else []
        texts += [f"removed {', '.join(removed)}"] if removed else []
        yield f"      ~ managers of {format_count(len(moved), 'unchanged field')}: {'; '.join(texts)}"
    if change.action is Action.CREATE and added and not details:
        yield f"      the server adds {format_count(len(added), 'field')}"


def _write_webhooks(plan: Plan) -> Iterator[str]:
    yield "Webhooks that the API asks about these writes:"
    counts = Counter[tuple[str, str, str]]()
    for call in plan.webhooks:
        state = "asked with dryRun" if call.asked else f"not asked{': ' + call.why if call.why else ''}"
        counts[call.configuration, call.webhook, state] += 1
    for (configuration, webhook, state), number in counts.items():
        yield f"  ? {webhook} of {configuration}, about {format_count(number, 'object')}: {state}"
    yield ""


def _describe_field(field: FieldChange) -> str:
    if _is_ownership(field):
        return (
            f"{field.path}: managers {_format_managers(field.old_managers)} -> {_format_managers(field.new_managers)}"
        )
    if field.secret:
        values = HIDDEN if ABSENT in (field.before, field.after) else f"{HIDDEN} -> {HIDDEN}, changed"
    else:
        old, new = (_format_value(value, field.generated) for value in (field.before, field.after))
        values = new if field.before is ABSENT else old if field.after is ABSENT else f"{old} -> {new}"
    return f"{field.path}: {values}{_format_notes(field)}"


def _is_ownership(field: FieldChange) -> bool:
    """Return whether only the managers of a field change."""
    return field.before is None and field.after is None and bool(field.new_managers)


def _format_value(value: Any, generated: bool) -> str:
    """Return a value as JSON, shortened if it is long."""
    if value is ABSENT or generated:
        return "" if value is ABSENT else _LATER
    text = serializer.encode_unescaped(value)
    return text if len(text) <= _MAX_VALUE else f"{text[: _MAX_VALUE - 3]}..."


def _format_notes(field: FieldChange) -> str:
    notes = []
    if field.by in _BY:
        notes.append(f"{_BY[field.by]}: {field.plugin}" if field.plugin else _BY[field.by])
    if field.new_managers:
        notes.append(f"managers {_format_managers(field.old_managers)} -> {_format_managers(field.new_managers)}")
    return f"  # {'; '.join(notes)}" if notes else ""


def _format_managers(managers: Sequence[str]) -> str:
    return ", ".join(managers) or "nobody"


def _render_json(plan: Plan, color: bool, details: bool) -> str:
    return json.dumps(_describe_plan(plan), indent=2, ensure_ascii=False) + "\n"


def _describe_plan(plan: Plan) -> dict[str, Any]:
    """Return the plan as a document. Later releases of podless only add fields."""
    return {
        "source": plan.source,
        "kubernetesVersion": plan.release,
        "exitCode": plan.exit_code,
        "summary": {
            "create": len(plan.created),
            "update": len(plan.updated),
            "delete": len(plan.deleted),
            "refused": len(plan.refused),
            "unknown": len(plan.unknown),
            "unchanged": len(plan.unchanged),
        },
        "changes": [_make_change_document(change) for change in plan.changes],
        "webhooks": [call._asdict() for call in plan.webhooks],
        "missing": [asdict(unread) for unread in plan.missing],
        "requests": dict(plan.requests),
        "notes": plan.notes,
        "seconds": round(plan.seconds, 3),
    }


def _make_change_document(change: Change) -> dict[str, Any]:
    identity = change.identity
    result: dict[str, Any] = {
        "action": str(change.action),
        "apiVersion": identity.api_version,
        "kind": identity.kind,
        "namespace": identity.namespace,
        "name": identity.name,
        "consequence": change.consequence,
    }
    if change.file:
        result |= {"file": change.file, "line": change.line, "column": change.column}
    optional = {
        "message": change.message,
        "code": change.code,
        "causes": [asdict(cause) for cause in change.causes],
        "fields": [_make_field_document(field) for field in change.fields],
        "warnings": [*change.warnings],
        "finalizers": [*change.waits],
    }
    return result | {name: value for name, value in optional.items() if value}


def _make_field_document(field: FieldChange) -> dict[str, Any]:
    result: dict[str, Any] = {"path": field.path, "by": str(field.by)}
    if field.plugin:
        result["plugin"] = field.plugin
    if not _is_ownership(field):
        if field.before is not ABSENT:
            result["before"] = HIDDEN if field.secret else field.before
        if field.after is not ABSENT:
            result["after"] = HIDDEN if field.secret else None if field.generated else field.after
    if field.generated:
        result["knownAfterApply"] = True
    if field.secret:
        result["secret"] = True
    if field.new_managers:
        result |= {"managersBefore": [*field.old_managers], "managersAfter": [*field.new_managers]}
    return result


def _render_markdown(plan: Plan, color: bool, details: bool) -> str:
    """Return the plan as Markdown of at most MAX_CHARACTERS characters."""
    mark = {0: "nothing to do", 1: "something is rejected or unknown", 2: "changes"}[plan.exit_code]
    blocks = [f"### podless plan: {mark}", "", plan.summary()]
    blocks += ["", f"From {_format_cell(plan.source)}, Kubernetes {plan.release}."]
    changes = [change_ for action in _ORDER for change_ in plan.of(action) if not _is_quiet(change_)]
    if changes:
        blocks += ["", "| | object | where | |", "|---|---|---|---|"]
        blocks += [_format_row(change) for change in changes[:_MAX_ROWS]]
        if len(changes) > _MAX_ROWS:
            blocks.append(f"| | and {len(changes) - _MAX_ROWS} more | | |")
    if plan.webhooks:
        names = sorted({call.webhook for call in plan.webhooks if not call.asked})
        if names:
            blocks += ["", f"Webhooks that were not asked: {', '.join(f'`{name}`' for name in names)}"]
    if plan.missing:
        blocks += ["", "**Not read, so the plan is not complete:**", ""]
        blocks += [f"- {_format_cell(str(missing))}" for missing in plan.missing[:20]]
    text = "\n".join(blocks)[: MAX_CHARACTERS - 200]
    return _with_details(text, changes, details) + "\n"


def _is_quiet(change: Change) -> bool:
    return change.consequence and change.action is not Action.DELETE


def _format_cell(text: str) -> str:
    plain = " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())
    return plain if len(plain) <= _CELL else f"{plain[:_CELL]}..."


def _format_row(change: Change) -> str:
    location = f"`{_format_cell(change.place)}`" if change.place else ""
    text = change.message or (format_count(len(change.fields), "field") if change.action is Action.UPDATE else "")
    cells = (f"`{_SIGNS[change.action]}`", _format_cell(str(change.identity)), location, _format_cell(text))
    return f"| {' | '.join(cells)} |"


def _with_details(text: str, changes: list[Change], details: bool) -> str:
    """Return the text with the fields of as many changes as fit."""
    head, foot = "\n\n<details><summary>Fields</summary>\n\n```diff\n", "\n```\n\n</details>"
    room = MAX_CHARACTERS - len(text) - len(head) - len(foot) - 100
    lines: list[str] = []
    left_out = 0
    for change in changes:
        block = "\n".join(_as_diff(line) for line in _write_change(change, False, details)).replace("```", "'''")
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


def _render_github(plan: Plan, color: bool, details: bool) -> str:
    """Return a workflow command for each change of the set, each warning and all that is missing."""
    lines = []
    for change in plan.changes:
        if change.action is not Action.UNCHANGED and not _is_quiet(change):
            title, position = f"{_SIGNS[change.action]} {change.identity}", (change.file, change.line, change.column)
            level = _LEVELS.get(change.action, "notice")
            lines.append(format_command(level, title, _describe_change(change), position))
            lines += [format_command("warning", title, text, position) for text in change.warnings]
    lines += [format_command("error", "podless plan", f"not read: {missing}") for missing in plan.missing]
    lines.append(format_command("notice", "podless plan", plan.summary()))
    return "\n".join(lines) + "\n"


def _describe_change(change: Change) -> str:
    if change.message:
        return change.message
    if change.action is Action.UPDATE:
        descriptions = [_describe_field(field) for field in change.fields[:_MAX_FIELDS]]
        left_out = len(change.fields) - len(descriptions)
        return "\n".join([*descriptions, *([f"and {left_out} more"] if left_out > 0 else [])])
    return f"to {change.action}"


def _render_diff(plan: Plan, color: bool, details: bool) -> str:
    """Return a diff for each changed object, and comments for rejected ones."""
    blocks = []
    for change in plan.changes:
        if change.action in (Action.REFUSED, Action.UNKNOWN):
            message_lines = change.message.splitlines() or [""]
            blocks.append("\n".join(f"# {change.place} {change.identity}: {line}".rstrip() for line in message_lines))
        elif change.action is not Action.UNCHANGED and not _is_quiet(change):
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
    if obj is None:
        return []
    left_out = ("managedFields", "resourceVersion", *(("uid", "creationTimestamp") if change.before is None else ()))
    metadata = {key: value for key, value in obj["metadata"].items() if key not in left_out}
    shown = hide_object(change.identity, {**obj, "metadata": metadata})
    return serializer.encode_yaml(shown).decode().splitlines()


def _mark_lines(change: Change, lines: list[str]) -> list[str]:
    """Return the lines, with a mark on lines whose hidden values differ."""
    keys = {field.path.rpartition(".")[2] for field in change.fields if field.secret}
    return [f"{line} # changed" if line.strip().partition(":")[0] in keys else line for line in lines]


_RENDERERS = {
    "text": _render_text,
    "json": _render_json,
    "markdown": _render_markdown,
    "github": _render_github,
    "diff": _render_diff,
}
FORMS = tuple(_RENDERERS)


def render_plan(plan: Plan, form: str, *, color: bool = False, details: bool = False) -> str:
    """Return the plan in one of FORMS, ending with a line break. details: show each field that the server adds."""
    return _RENDERERS[form](plan, color, details)
