"""deletecollection: deletes the objects that a list selects."""

from __future__ import annotations

from podless.verbs import options
from podless.verbs.call import API, Call, Many
from podless.verbs.delete import remove_object, warn_of_dependants
from podless.verbs.list import list_objects
from podless.verbs.runner import parse_body


async def delete_collection(api: API, call: Call) -> Many:
    """Delete every selected object, and return them as they were before. Raises as delete and list do."""
    listed = await options.read_list_options(api, call)
    await parse_body(api, call)
    chosen = options.read_delete_options(call)
    warn_of_dependants(call, chosen)
    page = await list_objects(api, call, await api.load_collection(call.kind), listed, paged=True)
    await api.converter.prepare_entries(call.kind, call.version, page.entries)
    async for entries in api.pace.iterate_slices(call.user.name, page.entries):
        for entry in entries:
            object_call = Call(call.kind, call.version, entry.namespace, entry.name)
            await remove_object(api, object_call, chosen, original=call)
    return page
