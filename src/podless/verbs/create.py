"""create: a new object."""

from __future__ import annotations

from typing import Any

from podless.cache.entry import Entry
from podless.kinds import conversion, view
from podless.meta import objectmeta
from podless.meta.errors import AlreadyExists, Forbidden
from podless.store import Conflicted, Record, Write
from podless.verbs import admit, body, fieldmanager, options, steps
from podless.verbs.call import API, Call, Single
from podless.verbs.options import WriteOptions

Object = dict[str, Any]

_NAMES_TRIED = 8  # of those that are generated; with a million objects of one prefix one create in a thousand fails


async def create(api: API, call: Call) -> Single:
    """Make the object that the body describes. Raises BadRequest, NotFound, Forbidden, Invalid or AlreadyExists."""
    chosen = options.write(call, "CreateOptions")
    return await make(api, call, body.read(call, chosen), chosen)


async def make(api: API, call: Call, obj: Object, chosen: WriteOptions) -> Single:
    """Make the object as it came in. Raises what `create` does."""
    kind, version = call.kind, call.version
    metadata = obj["metadata"]
    steps.fit_namespace(call, metadata)
    if kind.terminating:
        why = "create not allowed while custom resource definition is terminating"
        raise Forbidden(kind.plural, kind.named, metadata.get("name") or "", why)
    steps.wipe(metadata)
    kind.strategy.default(version, obj)
    await fieldmanager.created(call, obj, chosen.manager)
    obj = await admit.mutate(api, call, chosen, obj)
    metadata = obj["metadata"]
    steps.fit_namespace(call, metadata)
    attempts = _NAMES_TRIED if metadata.get("generateName") and not metadata.get("name") else 1
    while True:
        attempts, told = attempts - 1, len(call.warnings)
        try:
            return await insert(api, call, obj, chosen)
        except Conflicted as conflict:
            if not attempts:
                raise _taken(call, metadata, (await api.loaded(kind)).get(conflict.key)) from None
        del metadata["name"], call.warnings[told:]


async def insert(api: API, call: Call, obj: Object, chosen: WriteOptions) -> Single:
    """Put the server's marks on a new object that admission has seen, check it and store it.

    Raises Invalid, Internal for a resourceVersion that a client gave, or Conflicted where the name is taken.
    """
    kind, metadata = call.kind, obj["metadata"]
    steps.generate_name(metadata)
    steps.identify(kind, metadata)
    kind.strategy.prepare_create(call.version, obj)
    call.warnings += objectmeta.dedupe_owners(metadata)
    steps.check_create(call, obj)
    steps.warn(call, obj)
    await admit.validate(api, call, chosen, obj)
    key = kind.key(metadata.get("namespace", ""), metadata["name"])
    if chosen.dry_run:
        if (existing := (await api.loaded(kind)).get(key)) is not None:
            raise Conflicted(key, existing.revision)
        return Single(None, await conversion.unstored(kind, call.version, obj), 201)
    steps.check_new_revision(metadata)
    kept = await conversion.stored(kind, obj)
    value, mark = view.encode(kind, kept)
    write, arrive = Write(key, value, mark, 0), api.arrivals.get(kind.prefix)
    revision = await (api.store.commit(write) if arrive is None else arrive(write, kept))
    await api.react(kind)
    return Single(api.written(kind, Record(key, value, mark, revision, revision)), None, 201)


def _taken(call: Call, metadata: Object, existing: Entry | None) -> AlreadyExists:
    """The name is in use, perhaps by an object that is about to go."""
    generated = bool(metadata.get("generateName"))
    refusal = AlreadyExists(call.kind.plural, call.kind.named, metadata["name"], generated=generated)
    if existing is not None and "deletionTimestamp" in existing.decode()["metadata"]:
        refusal.message = f"object is being deleted: {refusal.message}"
    return refusal
