"""get: returns one object."""

from __future__ import annotations

from podless.apis.core.components import list_components
from podless.cache.watchcache import WatchCache
from podless.codec import gotext
from podless.meta.errors import BadRequest, Internal
from podless.runtime.release import has
from podless.verbs import options
from podless.verbs.call import API, Call, Single


def get_object(api: API, call: Call, collection: WatchCache) -> Single:
    """Return the present object. Raises NotFound, and BadRequest, Internal or Timeout for a bad resourceVersion."""
    if call.query:
        options.refuse_export(call)
    requested = options.read_text(call, "resourceVersion") if call.query else ""
    if requested:
        try:
            revision = gotext.parse_uint(requested)
        except ValueError as error:
            text = options.make_revision_error(requested, error)
            if not call.kind.strategy.reads.cached:
                raise BadRequest(f"invalid resource version: {text}") from None
            raise Internal(text) from None
        if revision > api.cache.revision:
            raise options.make_too_large_error(revision, api.cache.revision)
    entry = collection.get(call.key)
    if entry is None:
        raise call.not_found()
    return tuple.__new__(Single, (entry, None, 200))  # Single(entry) without its Python constructor


async def get_component(api: API, call: Call) -> Single:
    """Return the status of a component of the control plane. Raises NotFound."""
    component = next((entry for entry in await list_components(api.store) if entry.name == call.name), None)
    if component is None:
        raise call.not_found() if has("MissingComponents") else Internal(f"Component not found: {call.name}")
    return Single(component)
