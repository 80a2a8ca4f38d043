"""A plan for a terminal, in Terraform's style."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from podless.check.findings import count_of
from podless.plan.output.values import SIGNS, describe_field, is_ownership, sign_of, split_fields
from podless.plan.result import Action, Change, Plan, UnreadPart, count_kinds

_COLORS = {"+": "32", "~": "33", "-": "31", "!": "31;1", "?": "35", "=": "2"}


def render(plan: Plan, *, color: bool, details: bool) -> str:
    """Return the plan as text."""
    return "\n".join(_lines(plan, color, details)) + "\n"


def _paint(sign: str, text: str, color: bool) -> str:
    return f"\x1b[{_COLORS[sign]}m{text}\x1b[0m" if color and sign in _COLORS else text


def _lines(plan: Plan, color: bool, details: bool) -> Iterator[str]:
    yield f"Starting from {plan.source}, Kubernetes {plan.release}"
    if plan.requests:
        yield from _requests(plan)
    yield ""
    for change in plan.changes:
        if change.action is not Action.UNCHANGED and not (change.consequence and change.action is not Action.DELETE):
            yield from _change(change, color, details)
    if plan.others:
        kinds = ", ".join(f"{number} {kind}" for kind, number in count_kinds(plan.others).items())
        yield f"  The server itself makes or changes: {kinds}"
        if details:
            for change in plan.others:
                yield from _change(change, color, details)
        yield ""
    if plan.webhooks:
        yield from _webhooks(plan)
    if plan.missing:
        yield "Not read, so the plan is not complete:"
        yield from (f"  ? {missing}" for missing in _join_missing(plan.missing))
        yield ""
    yield from (f"Note: {note}" for note in plan.notes)
    yield plan.summary()


def _join_missing(missing: Sequence[UnreadPart]) -> list[UnreadPart]:
    """Join the entries of what could not be read that share a reason."""
    found: dict[tuple[str, str], list[str]] = {}
    for one in missing:
        found.setdefault((one.why, one.effect), []).append(one.what)
    return [UnreadPart(", ".join(whats), why, effect) for (why, effect), whats in found.items()]


def _requests(plan: Plan) -> Iterator[str]:
    """Yield the number of reads, by verb."""
    by_verb: dict[str, list[str]] = {}
    for what, number in plan.requests.items():
        verb, _, resource = what.partition(" ")
        by_verb.setdefault(verb, []).append(f"{resource} ({number})" if number > 1 else resource)
    yield f"  {count_of(sum(plan.requests.values()), 'request')}, all of them reads"
    yield from (f"    {verb} {', '.join(resources)}" for verb, resources in by_verb.items())


def _change(change: Change, color: bool, details: bool) -> Iterator[str]:
    sign = SIGNS[change.action]
    place = f"  {change.place}" if change.place else ""
    label = str(change.identity) if change.identity.kind else "a document"
    yield "  " + _paint(sign, f"{sign} {label}", color) + place
    if change.message:
        for line in change.message.splitlines():
            yield f"      {line}"
        for cause in change.causes if len(change.causes) > 1 else ():  # a single cause is in the message already
            if cause.field:
                yield f"      {change.file}:{cause.line}:{cause.column}: {cause.field}: {cause.message}"
    if change.waits:
        yield f"      waits for finalizers: {', '.join(change.waits)}"
    if change.action is not Action.DELETE:
        yield from _fields(change, color, details)
    yield from (f"      warning: {text}" for text in change.warnings)
    yield ""


def _fields(change: Change, color: bool, details: bool) -> Iterator[str]:
    mine, added = split_fields(change)
    shown = change.fields if details or change.action is Action.UPDATE else mine
    for field in shown:
        if change.action is Action.CREATE and field.path in ("metadata.name", "metadata.namespace"):
            continue
        if is_ownership(field):
            if details:
                yield f"      ~ {describe_field(field)}"
            continue
        sign = sign_of(field)
        yield "      " + _paint(sign, f"{sign} {describe_field(field)}", color)
    moved = [field for field in change.fields if is_ownership(field)]
    if moved and not details:
        names = sorted({name for field in moved for name in {*field.new_managers} - {*field.old_managers}})
        gone = sorted({name for field in moved for name in {*field.old_managers} - {*field.new_managers}})
        said = [f"added {', '.join(names)}"] if names else []
        said += [f"removed {', '.join(gone)}"] if gone else []
        yield f"      ~ managers of {count_of(len(moved), 'unchanged field')}: {'; '.join(said)}"
    if change.action is Action.CREATE and added and not details:
        yield f"      the server adds {count_of(len(added), 'field')}"


def _webhooks(plan: Plan) -> Iterator[str]:
    yield "Webhooks that the API asks about these writes:"
    asked: dict[tuple[str, str, str], int] = {}
    for call in plan.webhooks:
        state = "asked with dryRun" if call.asked else f"not asked{': ' + call.why if call.why else ''}"
        key = (call.configuration, call.webhook, state)
        asked[key] = asked.get(key, 0) + 1
    for (configuration, webhook, state), number in asked.items():
        yield f"  ? {webhook} of {configuration}, about {count_of(number, 'object')}: {state}"
    yield ""
