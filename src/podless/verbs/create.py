"""create: a new object."""

from __future__ import annotations

from functools import partial
from typing import Any

from podless.admission.attributes import CREATE, Overtaken, both
from podless.cache.entry import Entry
from podless.kinds import view
from podless.meta.aside import LONG
from podless.meta.errors import AlreadyExists, Forbidden
from podless.store import Conflicted, Record
from podless.verbs import admit, body, fieldmanager, options, steps, storage
from podless.verbs.call import API, Call, Single
from podless.verbs.options import WriteOptions

Object = dict[str, Any]

_NAMES_TRIED = 8  # of those that are generated; with a million objects of one prefix one create in a thousand fails


async def create(api: API, call: Call) -> Single:
    """Make the object that the body describes. Raises BadRequest, NotFound, Forbidden, Invalid or AlreadyExists."""
    chosen, size = options.write(call, "CreateOptions"), len(call.body)
    obj = body.read(call, chosen) if size < LONG else await api.aside.run(size, body.read, call, chosen)
    if call.floats:
        api.aside.keep(call.floats)
    steps.wipe(obj["metadata"])
    await steps.dedupe_owners(api, call, obj["metadata"])
    return await make(api, call, obj, chosen)


async def make(api: API, call: Call, obj: Object, chosen: WriteOptions) -> Single:
    """Make the object as it came in. Raises what `create` does."""
    kind = call.kind
    metadata = obj["metadata"]
    steps.fit_namespace(call, metadata)
    if kind.terminating:
        why = "create not allowed while custom resource definition is terminating"
        raise Forbidden(kind.plural, kind.group, metadata.get("name") or "", why)
    await fieldmanager.created(api, call, obj, chosen.manager)
    if admit.mutates(api, call, CREATE):
        obj = await admit.mutate(api, call, chosen, obj)
        metadata = obj["metadata"]
        await steps.dedupe_owners(api, call, metadata, after_admission=True)
        steps.fit_namespace(call, metadata)
    attempts = _NAMES_TRIED if metadata.get("generateName") and not metadata.get("name") else 1
    given, copied = None, partial(view.copy, long=call.size >= LONG)
    if admit.allocates(api, call, CREATE):
        given = await api.aside.run(call.size, copied, obj)
    while True:
        attempts, told = attempts - 1, len(call.warnings)
        try:
            return await _insert(api, call, obj, chosen)
        except Overtaken:
            assert given is not None
            obj, attempts = await api.aside.run(call.size, copied, given), attempts + 1
            metadata = obj["metadata"]
            del call.warnings[told:]
            continue
        except Conflicted as conflict:
            if not attempts:
                existing = api.written(kind, conflict.current) if conflict.current is not None else None
                raise _taken(call, metadata, existing) from None
        del metadata["name"], call.warnings[told:]


async def _insert(api: API, call: Call, obj: Object, chosen: WriteOptions) -> Single:
    """Put the server's marks on a new object that admission has seen, check it and store it.

    Raises what `prepare` does, or Conflicted where the name is taken.
    """
    kind = call.kind
    obj = await prepare(api, call, obj, chosen)
    key = kind.key(obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
    if not chosen.dry_run:
        size, encode = call.size, storage.encode
        stored = encode(kind, obj) if size < LONG else await api.aside.run(size, encode, kind, obj)
        return Single(await storage.put(api, kind, key, stored, call.along, obj), None, 201)
    if (existing := (await api.loaded(kind)).get(key)) is not None:
        raise Conflicted(key, Record(key, existing.stored, existing.revision, existing.created))
    return Single(None, obj, 201)


async def prepare(api: API, call: Call, obj: Object, chosen: WriteOptions) -> Object:
    """The object as it is to be stored; as it would be shown, for a dry run.

    Raises Invalid, Internal for a resourceVersion that a client gave, or what admission raises.
    """
    kind, metadata, size = call.kind, obj["metadata"], call.size
    steps.generate_name(metadata)
    steps.identify(kind, metadata)
    call.warnings += kind.strategy.early_warnings(obj)
    prepared = (
        kind.strategy.below(call.subresource).prepare_create if call.subresource else kind.strategy.prepare_create
    )
    if size < LONG:
        prepared(call.version, obj)
    else:
        await api.aside.run(size, prepared, call.version, obj)
    taken = await admit.allocate(api, call, chosen, obj) if admit.allocates(api, call, CREATE) else None
    size *= kind.strategy.strain
    if size < LONG:
        _check(call, obj)
    else:
        await api.aside.run(size, _check, call, obj)
    call.along = taken
    if admit.validates(api, call, CREATE):
        await admit.validate(api, call, chosen, obj)
        call.along = both(call.along, taken)
    if chosen.dry_run:
        return await api.converter.unstored(kind, call.version, obj)
    steps.check_new_revision(metadata)
    if kind.webhook is None:
        return kind.strategy.store(kind, obj)
    return await api.converter.stored(kind, obj)


def _check(call: Call, obj: Object) -> None:
    """Check a new object. Raises Invalid."""
    steps.check_create(call, obj)
    if call.loose:
        call.kind.strategy.trim(call.version, obj)
    steps.warn(call, obj)


def _taken(call: Call, metadata: Object, existing: Entry | None) -> AlreadyExists:
    """The name is in use, perhaps by an object that is about to go."""
    generated = bool(metadata.get("generateName"))
    refusal = AlreadyExists(call.kind.plural, call.kind.group, metadata["name"], generated=generated)
    if existing is not None and existing.terminating:
        refusal.message = f"object is being deleted: {refusal.message}"
    return refusal
