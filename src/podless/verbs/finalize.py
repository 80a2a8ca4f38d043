"""finalize: the subresource through which the finalizers of a namespace's spec are changed."""

from __future__ import annotations

from typing import Any

from podless.kinds import view
from podless.store import Conflicted, Write
from podless.verbs import admit, body, options, steps
from podless.verbs.call import API, Call, Single

Object = dict[str, Any]


async def finalize(api: API, call: Call) -> Single:
    """Replace the finalizers; an object being deleted that nobody holds any longer goes. Raises what update does."""
    chosen = options.write(call, "UpdateOptions")
    given = body.read(call, chosen)
    steps.fit_name(call, given["metadata"])
    kind = call.kind
    collection = await api.loaded(kind)
    while (entry := collection.get(call.key)) is not None:
        obj = view.load(kind, call.version, entry)
        old = view.load(kind, call.version, entry)
        wanted = await admit.mutate(api, call, chosen, view.copy(given), old)
        steps.check_revision(call, wanted["metadata"], entry.revision)
        kind.strategy.finalize(obj, wanted)
        await admit.validate(api, call, chosen, obj, old)
        if chosen.dry_run:
            return Single(None, obj)
        ends = "deletionTimestamp" in obj["metadata"] and not kind.strategy.waits(obj)
        value, mark = (None, 0) if ends else view.encode(kind, obj)
        try:
            await api.store.commit(Write(entry.key, value, mark, entry.revision))
        except Conflicted:
            continue
        current = collection.get(call.key)
        return Single(None, obj) if ends or current is None else Single(current)
    raise call.not_found()
