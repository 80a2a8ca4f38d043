"""delete: removes an object, or marks it while finalizers hold it."""

from __future__ import annotations

from dataclasses import replace

from podless.cache.entry import Entry
from podless.codec import gotime
from podless.kinds import view
from podless.kinds.kind import Kind
from podless.meta.errors import Conflict
from podless.runtime import clock
from podless.runtime.jsonobject import Object
from podless.verbs import admit, options, storage
from podless.verbs.call import API, AnswerDocument, Call, Single
from podless.verbs.options import DeleteOptions
from podless.verbs.runner import parse_body
from podless.verbs.storage import AttemptOutcome, NewState

_ACCEPTED = 202  # Accepted: the object still exists, and the client asked for its dependents to go first
_POLICY_FINALIZERS = {"Orphan": "orphan", "Foreground": "foregroundDeletion"}


async def delete_object(api: API, call: Call) -> Single | AnswerDocument:
    """Delete the object. Returns a Status, or the marked object if finalizers hold it.

    Raises NotFound, Conflict for failed preconditions, Forbidden, BadRequest or Invalid for invalid options.
    """
    await parse_body(api, call)
    chosen = options.read_delete_options(call)
    warn_of_dependants(call, chosen)
    answer = await remove_object(api, call, chosen, original=call)
    if answer is None:
        raise call.not_found()
    return answer


def warn_of_dependants(call: Call, chosen: DeleteOptions) -> None:
    """Warn that dependents stay, if the client gives no policy and the kind declares such a warning."""
    text = call.kind.strategy.deletion.warning
    if text and not chosen.policy:
        call.warnings.append(text)


async def remove_object(
    api: API, call: Call, chosen: DeleteOptions, *, original: Call | None = None
) -> Single | AnswerDocument | None:
    """Delete the object of a call. Returns the answer, None if the object does not exist.

    original: the client's request, whose user admission sees; None for deletes by the server.
    """
    kind = call.kind
    # a real server deletes the objects of a collection in the way of graceful kinds
    marks_in_stages = not kind.strategy.deletion.graceful and original in (None, call)
    answer: Single | AnswerDocument | None = None
    dropped: Entry | None = None
    is_kept = False

    async def plan_write(entry: Entry | None) -> NewState | AttemptOutcome:
        nonlocal answer, dropped, is_kept
        answer, dropped, is_kept = None, None, False
        if entry is None:
            return AttemptOutcome.KEEP
        await api.converter.prepare_entries(kind, call.version, [entry])
        obj = view.load_object(kind, call.version, entry)
        metadata = obj["metadata"]
        _check_preconditions(kind, entry, metadata, chosen, marks_in_stages)
        has_finalizers, marked = bool(metadata.get("finalizers")), "deletionTimestamp" in metadata
        if marked and kind.strategy.is_finalizing(obj):
            answer, is_kept = Single(entry), True
            return AttemptOutcome.KEEP
        requested = _read_grace_period(chosen)
        period = kind.strategy.grace_period(obj, requested)
        graceful_write, is_over = _begin_grace(obj, period, requested) if period is not None else (None, False)
        if graceful_write is AttemptOutcome.KEEP:
            answer, is_kept = Single(entry), True
            return graceful_write  # nothing changes, and admission is not asked
        if original is not None:
            seconds = requested if period is None or marked else period
            shown = chosen
            if seconds is not None and original is call:
                shown = replace(chosen, document={**chosen.document, "gracePeriodSeconds": seconds})
            await admit.admit_delete(api, original, shown, view.load_object(kind, call.version, entry))
        marks_now = marks_in_stages and not marked
        if kind.strategy.deletion.marks_first if marks_now else kind.strategy.deletion.collected:
            policy = chosen.policy or (_find_default_policy(kind, metadata) if original is not None else "")
            if marks_now and chosen.document.get("orphanDependents") is False:
                policy = "Foreground"  # other deletes then leave the dependents to the garbage collector
            _set_policy_finalizer(metadata, policy)
        if marks_now or kind.strategy.deletion.graceful:
            kind.strategy.prepare_delete(obj)
        if graceful_write is not None:  # a period of 0 is over at once: the marked object goes in a second write
            answer = Single(None, obj)
            is_kept = not is_over or kind.strategy.awaits_finalizers(obj)
            dropped = None if is_kept or chosen.dry_run else entry
            return AttemptOutcome.KEEP if chosen.dry_run else graceful_write
        if not marks_now and not kind.strategy.awaits_finalizers(obj):
            is_shown = kind.shown_deleted or kind.strategy.deletion.marks_first
            answer = Single(None, obj) if is_shown else AnswerDocument(_make_status(kind, entry, metadata))
            if chosen.dry_run and has_finalizers:
                # a real server answers with the object of an update that it started and did not make
                answer = Single(None, _make_blank_object(call))
            return AttemptOutcome.KEEP if chosen.dry_run else AttemptOutcome.DELETE
        # finalizers hold the object, or the kind marks it first
        _mark_deleted(metadata, graceful=not marks_now)
        is_kept = True
        if chosen.dry_run:
            answer = Single(None, obj)
            return AttemptOutcome.KEEP
        # deletes by the server itself must not depend on a conversion webhook
        if kind.webhook is None or original is not None:
            obj = await api.converter.make_stored(kind, obj)
        return NewState(obj)

    written = await storage.update_stored(
        api, kind, call.key, lambda entry: api.off_loop.slices.slice_coroutine(plan_write(entry))
    )
    if dropped is not None and written.entry is not None:
        written = await _remove_marked(api, call, written.entry)
    if isinstance(answer, Single) and answer.obj is not None and written.revision:
        answer.obj["metadata"]["resourceVersion"] = str(written.revision)
    result = answer or (Single(written.entry) if written.entry is not None else None)
    if is_kept and isinstance(result, Single) and chosen.document.get("orphanDependents") is False:
        return result._replace(code=_ACCEPTED)
    return result


def _read_grace_period(chosen: DeleteOptions) -> int | None:
    """Return the requested grace period in seconds, None if not given. A negative one becomes 1, the shortest."""
    grace_period_seconds = chosen.document.get("gracePeriodSeconds")
    return None if grace_period_seconds is None else 1 if grace_period_seconds < 0 else int(grace_period_seconds)


def _begin_grace(obj: Object, period: int, requested: int | None) -> tuple[NewState | AttemptOutcome, bool]:
    """Begin or shorten a grace period, in seconds. Return the outcome, and whether it is over. requested: if given."""
    metadata = obj["metadata"]
    if "deletionTimestamp" not in metadata:
        _mark_graceful(metadata, period)
        return NewState(obj), not period
    remaining = metadata.get("deletionGracePeriodSeconds")
    if remaining is not None and (requested is None or requested >= remaining):
        return AttemptOutcome.KEEP, False  # a later delete can only shorten the period
    period = requested or 0
    if remaining is not None:
        began = gotime.parse_instant(metadata["deletionTimestamp"])[0] // 10**9 - remaining
        metadata["deletionTimestamp"] = clock.format_time(began + period)
    metadata["deletionGracePeriodSeconds"] = period
    return NewState(obj), not period


async def _remove_marked(api: API, call: Call, marked: Entry) -> storage.WriteResult:
    """Remove the marked object in a second write, so that watchers see its deletionTimestamp first."""

    def plan_write(entry: Entry | None) -> NewState | AttemptOutcome:
        is_same = entry is not None and entry.created == marked.created
        return AttemptOutcome.DELETE if is_same else AttemptOutcome.KEEP

    return await storage.amend_stored(api, call.kind, call.key, plan_write)


def _check_preconditions(
    kind: Kind, entry: Entry, metadata: Object, chosen: DeleteOptions, marks_in_stages: bool
) -> None:
    """Raise Conflict for a failed precondition. A precondition "" counts too, and no object meets it.

    marks_in_stages: the kind has its own way of deleting a single object, whose texts differ.
    """
    uid = metadata.get("uid", "")
    for name, expected, actual, cause in (
        ("UID", chosen.uid, uid, "deleted and then recreated"),
        ("ResourceVersion", chosen.revision, str(entry.revision), "modified"),
    ):
        if expected is None or expected == actual:
            continue
        if marks_in_stages:
            reason = f"Precondition failed: {name} in precondition: {expected}, {name} in object meta: {actual}"
            raise Conflict(kind.plural, kind.stored_group, entry.name, reason)
        found = f"the {name} in the precondition ({expected}) does not match the {name} in record ({actual})"
        raise Conflict(kind.kind, kind.stored_group, entry.name, f"{found}. The object might have been {cause}")


def _find_default_policy(kind: Kind, metadata: Object) -> str:
    """Return Orphan if the kind orphans by default and no finalizer of an earlier policy is set, else ""."""
    has_policy = not set(metadata.get("finalizers") or ()).isdisjoint(_POLICY_FINALIZERS.values())
    return "Orphan" if kind.strategy.deletion.orphans and not has_policy else ""


def _set_policy_finalizer(metadata: Object, policy: str) -> None:
    """Replace the finalizers of propagation policies by that of this policy; "" changes nothing."""
    if not policy:
        return
    finalizers = [name for name in metadata.get("finalizers") or [] if name not in _POLICY_FINALIZERS.values()]
    if policy in _POLICY_FINALIZERS:
        finalizers.append(_POLICY_FINALIZERS[policy])
    if set(finalizers) == set(metadata.get("finalizers") or ()):
        return  # keep the order of the finalizers
    if finalizers:
        metadata["finalizers"] = finalizers
    else:
        metadata.pop("finalizers", None)


def _mark_deleted(metadata: Object, *, graceful: bool) -> None:
    """Set deletionTimestamp. A graceful delete also sets a grace period of 0, and a new generation."""
    if "deletionTimestamp" in metadata:
        metadata.setdefault("deletionGracePeriodSeconds", 0)
    elif graceful:
        _mark_graceful(metadata, 0)
    else:
        metadata["deletionTimestamp"] = clock.now()


def _mark_graceful(metadata: Object, period: int) -> None:
    metadata["deletionTimestamp"] = clock.now(period)
    metadata["deletionGracePeriodSeconds"] = period
    if "generation" in metadata:
        metadata["generation"] += 1


def _make_blank_object(call: Call) -> Object:
    """Return an object with only kind and apiVersion; defaults are added for built-in kinds."""
    head: Object = {"kind": call.kind.kind, "apiVersion": call.api_version}
    return head if call.kind.custom else call.kind.strategy.decode(call.kind, call.version, head, [])


def _make_status(kind: Kind, entry: Entry, metadata: Object) -> Object:
    details = {"name": entry.name, "group": kind.group, "kind": kind.plural, "uid": metadata.get("uid", "")}
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {name: value for name, value in details.items() if value},
    }
