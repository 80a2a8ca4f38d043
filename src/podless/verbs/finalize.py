"""finalize: the subresource through which the finalizers of a namespace's spec are changed, and its metadata."""

from __future__ import annotations

from functools import partial
from typing import Any

from podless.kinds import view
from podless.meta.aside import LONG
from podless.verbs import admit, body, fieldmanager, options, steps
from podless.verbs.call import API, Call, Single
from podless.verbs.update import rewrite

Object = dict[str, Any]


async def finalize(api: API, call: Call) -> Single:
    """Replace the finalizers; an object being deleted that nobody holds any longer goes. Raises what update does."""
    chosen = options.write(call, "UpdateOptions")
    given = await api.aside.run(len(call.body), body.read, call, chosen)
    steps.fit_name(call, given["metadata"])

    async def change(old: Object) -> Object:
        obj = await api.aside.run(len(call.body), partial(view.copy, given, long=len(call.body) >= LONG))
        steps.check_uid(call, obj["metadata"], old["metadata"].get("uid", ""), dry_run=chosen.dry_run)
        fieldmanager.changed(call, old, obj, chosen.manager)
        return await admit.mutate(api, call, chosen, obj, old)

    return await rewrite(api, call, chosen, change)
