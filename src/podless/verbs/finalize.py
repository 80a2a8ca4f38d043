"""finalize: the subresource through which the finalizers of a namespace's spec are changed."""

from __future__ import annotations

from typing import Any

from podless.cache.entry import Entry
from podless.fields import managers
from podless.kinds import view
from podless.verbs import admit, body, fieldmanager, options, steps, storage
from podless.verbs.call import API, Call, Single
from podless.verbs.storage import Action, Next

Object = dict[str, Any]


async def finalize(api: API, call: Call) -> Single:
    """Replace the finalizers; an object being deleted that nobody holds any longer goes. Raises what update does."""
    chosen = options.write(call, "UpdateOptions")
    given = body.read(call, chosen)
    steps.fit_name(call, given["metadata"])
    kind = call.kind
    answer: Single | None = None

    async def attempt(entry: Entry | None) -> Next | Action:
        nonlocal answer
        if entry is None:
            raise call.not_found()
        obj = view.load(kind, call.version, entry)
        old = view.load(kind, call.version, entry)
        wanted = await admit.mutate(api, call, chosen, view.copy(given), old)
        steps.check_revision(call, wanted["metadata"], entry.revision)
        kind.strategy.finalize(obj, wanted)
        fieldmanager.changed(call, old, obj, chosen.manager)
        managers.settle(obj, old)
        await admit.validate(api, call, chosen, obj, old)
        ends = entry.terminating and not kind.strategy.waits(obj)
        answer = Single(None, obj) if ends or chosen.dry_run else None
        if chosen.dry_run:
            return Action.KEEP
        return Action.DELETE if ends else Next(obj)

    written = await storage.update(api, kind, call.key, attempt)
    return answer or Single(written.entry)
