"""update: replace an object; and what all changes of an existing object share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from podless.cache.entry import Entry
from podless.fields import managers
from podless.kinds import conversion, view
from podless.meta import objectmeta
from podless.meta.errors import Unavailable
from podless.store import Conflicted, Record, Write
from podless.verbs import admit, body, fieldmanager, options, steps
from podless.verbs.call import API, Call, Single
from podless.verbs.create import make
from podless.verbs.options import WriteOptions

Object = dict[str, Any]
# the object now -> what it should be, with defaults and managedFields, after admission has seen it
Change = Callable[[Object], Awaitable[Object]]

_TRIES = 50  # how often a change is made again when others write in between


async def update(api: API, call: Call) -> Single:
    """Replace the object, or its status, by what the body says. Raises what `rewrite` does, and BadRequest."""
    chosen = options.write(call, "UpdateOptions")
    given = body.read(call, chosen)
    steps.fit_name(call, given["metadata"])
    steps.fit_namespace(call, given["metadata"])
    if await _makes(api, call):
        steps.may_create(api, call)
        given["metadata"].pop("resourceVersion", None)
        return await make(api, call, given, chosen)

    async def change(old: Object) -> Object:
        obj = view.copy(given)
        steps.check_uid(call, obj["metadata"], old["metadata"])
        complete(call, obj, old, chosen)
        return await admit.mutate(api, call, chosen, obj, old)

    return await rewrite(api, call, chosen, change)


async def _makes(api: API, call: Call) -> bool:
    """Whether the update makes the object, as some built-in kinds allow."""
    if not call.kind.strategy.created_by_update or call.subresource:
        return False
    return (await api.loaded(call.kind)).get(call.key) is None


def complete(call: Call, obj: Object, old: Object, chosen: WriteOptions) -> None:
    """Give the object as the client wants it its defaults, and say who owns what changes."""
    call.kind.strategy.default(call.version, obj)
    fieldmanager.changed(call, old, obj, chosen.manager)


async def rewrite(
    api: API, call: Call, chosen: WriteOptions, change: Change, shown: Callable[[Object], Object] | None = None
) -> Single:
    """Read the object, have it changed, check it and write it; again where somebody else wrote in between.

    shown: what admission is to see of the object, where that is not the object itself.
    Raises NotFound, Conflict, Invalid, or what `change` raises.
    """
    collection = await api.loaded(call.kind)
    warned = len(call.warnings)
    for _ in range(_TRIES):
        entry = collection.get(call.key)
        if entry is None:
            raise call.not_found()
        del call.warnings[warned:]
        await conversion.ready(call.kind, call.version, [entry])
        # two copies: a patch shares with what it is applied to, and the checks need the old state untouched
        old = view.load(call.kind, call.version, entry)
        try:
            obj = await change(view.load(call.kind, call.version, entry))
        except conversion.Unconverted as unconverted:
            await unconverted.fetch()
            continue
        steps.check_revision(call, obj["metadata"], entry.revision)
        _finish(call, obj, old)
        if shown is None:
            await admit.validate(api, call, chosen, obj, old)
        else:
            await admit.validate(api, call, chosen, shown(obj), shown(old))
        try:
            return await _store(api, call, chosen, entry, obj)
        except Conflicted:
            continue
    raise Unavailable("the object changes faster than this request can be carried out; try again")


def _finish(call: Call, obj: Object, old: Object) -> None:
    """The steps between what the client wants and what is stored."""
    strategy, metadata = call.kind.strategy, obj["metadata"]
    steps.keep(metadata, old["metadata"])
    if call.subresource == "status":
        strategy.prepare_status(call.version, obj, old)
        metadata = obj["metadata"]
    else:
        strategy.prepare_update(call.version, obj, old)
        call.warnings += objectmeta.dedupe_owners(metadata)
    if strategy.generation and call.subresource != "status" and strategy.changed(call.version, obj, old):
        metadata["generation"] = metadata.get("generation", 0) + 1
    managers.settle(obj, old)
    steps.check_update(call, obj, old)
    if not call.subresource:
        steps.warn(call, obj, old)


async def _store(api: API, call: Call, chosen: WriteOptions, entry: Entry, obj: Object) -> Single:
    kind, metadata = call.kind, obj["metadata"]
    metadata["resourceVersion"] = str(entry.revision)
    if chosen.dry_run:
        return Single(None, await conversion.unstored(kind, call.version, obj))
    if _ends(kind.strategy.ordered, obj):
        return await _remove(api, call, entry, obj)
    value, mark = view.encode(kind, await conversion.stored(kind, obj))
    if b"%b%d%b" % (value[:mark], entry.revision, value[mark:]) == entry.body:
        return Single(entry)  # nothing changes, so nothing is written and nobody is told
    revision = await api.store.commit(Write(entry.key, value, mark, entry.revision))
    await api.react(kind)
    return Single(api.written(kind, Record(entry.key, value, mark, revision, entry.created)))


def _ends(builtin: bool, obj: Object) -> bool:
    """Whether the object waited for its finalizers and this write takes the last one away."""
    metadata = obj["metadata"]
    if "deletionTimestamp" not in metadata or metadata.get("finalizers"):
        return False
    return not (builtin and (obj.get("spec") or {}).get("finalizers"))


async def _remove(api: API, call: Call, entry: Entry, obj: Object) -> Single:
    """Delete the object; the answer shows it as it was to be, at the revision it had."""
    await api.store.commit(Write(entry.key, None, 0, entry.revision))
    await api.react(call.kind)
    return Single(None, obj)
