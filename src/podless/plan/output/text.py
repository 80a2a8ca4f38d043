"""A plan for a terminal, in Terraform's style."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from podless.check.findings import format_count
from podless.plan.output.values import SIGNS, describe_field, is_ownership, sign_of, split_fields
from podless.plan.result import Action, Change, Plan, UnreadPart, count_kinds

_COLORS = {"+": "32", "~": "33", "-": "31", "!": "31;1", "?": "35", "=": "2"}


def render(plan: Plan, *, color: bool, details: bool) -> str:
    """Return the plan as text."""
    return "\n".join(_write_lines(plan, color, details)) + "\n"


def _color_text(sign: str, text: str, color: bool) -> str:
    return f"\x1b[{_COLORS[sign]}m{text}\x1b[0m" if color and sign in _COLORS else text


def _write_lines(plan: Plan, color: bool, details: bool) -> Iterator[str]:
    yield f"Starting from {plan.source}, Kubernetes {plan.release}"
    if plan.requests:
        yield from _write_requests(plan)
    yield ""
    for change in plan.changes:
        if change.action is not Action.UNCHANGED and not (change.consequence and change.action is not Action.DELETE):
            yield from _write_change(change, color, details)
    if plan.others:
        kinds = ", ".join(f"{number} {kind}" for kind, number in count_kinds(plan.others).items())
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
    sign = SIGNS[change.action]
    location = f"  {change.place}" if change.place else ""
    label = str(change.identity) if change.identity.kind else "a document"
    yield "  " + _color_text(sign, f"{sign} {label}", color) + location
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
    set_fields, added = split_fields(change)
    fields = change.fields if details or change.action is Action.UPDATE else set_fields
    for field in fields:
        if change.action is Action.CREATE and field.path in ("metadata.name", "metadata.namespace"):
            continue
        if is_ownership(field):
            if details:
                yield f"      ~ {describe_field(field)}"
            continue
        sign = sign_of(field)
        yield "      " + _color_text(sign, f"{sign} {describe_field(field)}", color)
    moved = [field for field in change.fields if is_ownership(field)]
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
    counts: dict[tuple[str, str, str], int] = {}
    for call in plan.webhooks:
        state = "asked with dryRun" if call.asked else f"not asked{': ' + call.why if call.why else ''}"
        key = (call.configuration, call.webhook, state)
        counts[key] = counts.get(key, 0) + 1
    for (configuration, webhook, state), number in counts.items():
        yield f"  ? {webhook} of {configuration}, about {format_count(number, 'object')}: {state}"
    yield ""
