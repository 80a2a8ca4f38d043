"""Writes that the server makes by itself: no request, no admission, the same store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from podless.auth.user import SERVER
from podless.cache.entry import Entry
from podless.kinds import view
from podless.kinds.kind import Kind, Version
from podless.meta.errors import APIError
from podless.store import Conflicted, State, Write
from podless.verbs import fieldmanager, steps
from podless.verbs.call import API, Call
from podless.verbs.delete import remove
from podless.verbs.options import DeleteOptions

Object = dict[str, Any]
Change = Callable[[Object], Object]

_TOGETHER = 256  # deletes that are under way at once; they share commits


async def make(api: API, kind: Kind, obj: Object, manager: str = "") -> None:
    """Make an object in place of a client; one that is there already is left alone.

    obj: its metadata has a name, and a namespace where the kind has one. manager: whose the fields are, "" for nobody.
    """
    version = kind.by_version[kind.storage_version]
    obj = {"kind": kind.kind, "apiVersion": kind.api_version(version.name), **obj}
    metadata = obj["metadata"]
    call = Call(kind, version, metadata.get("namespace", ""), metadata["name"])
    kind.strategy.default(version, obj)
    if manager:
        await fieldmanager.created(call, obj, manager)
    steps.identify(kind, metadata)
    kind.strategy.prepare_create(version, obj)
    value, mark = view.encode(kind, obj)
    try:
        await api.store.commit(Write(call.key, value, mark, 0))
    except Conflicted:
        return


async def amend(api: API, kind: Kind, key: str, change: Callable[[Object], Object | None]) -> None:
    """Change an object in place of a client: `change` gets it decoded and returns it, or None to delete it.

    Made again where somebody writes in between; an object that is gone or does not change is left alone.
    """
    collection = await api.loaded(kind)
    while (entry := collection.get(key)) is not None:
        version = own_version(kind, entry)
        changed = change(view.load(kind, version, entry))
        value, mark = view.encode(kind, changed) if changed is not None else (None, 0)
        if value is not None and _same(value, mark, entry):
            return
        try:
            await api.store.commit(Write(key, value, mark, entry.revision))
        except Conflicted:
            continue
        return


async def report(
    api: API, kind: Kind, key: str, changes: Sequence[Change], manager: str, known: Object | None = None
) -> Object | None:
    """Change the status of an object, as its manager, in stages that watchers see one by one.

    All but metadata and status is shared with what was there. known: the object decoded, in the state that it had
    last. Returns the object as it is now, None where it is gone. Made again where somebody writes in between.
    """
    version = kind.by_version[kind.storage_version]
    collection = await api.loaded(kind)
    while (entry := collection.get(key)) is not None:
        old = known
        if old is None or old["metadata"]["resourceVersion"] != str(entry.revision):
            old = view.load(kind, version, entry)
        obj, states = stages(kind, old, changes, manager)
        if states and _same(*states[0], entry):
            del states[0]
        if not states:
            return obj
        first, *later = states
        try:
            revision = await api.store.commit(Write(key, *first, entry.revision), *later)
        except Conflicted:
            continue
        obj["metadata"]["resourceVersion"] = str(revision)
        return obj
    return None


def stages(kind: Kind, obj: Object, changes: Sequence[Change], manager: str) -> tuple[Object, list[State]]:
    """An object whose status its manager changes step by step: what it is in the end, and the states on the way."""
    states: list[State] = []
    for change in changes:
        obj = _stage(kind, obj, change, manager)
        state = State(*view.encode(kind, obj))
        if not states or state != states[-1]:
            states.append(state)
    return obj, states


def _stage(kind: Kind, old: Object, change: Change, manager: str) -> Object:
    """The object with its status changed; what is not changed is shared."""
    kept = {"metadata": dict(old["metadata"]), "status": view.copy(old.get("status") or {})}
    obj = change({**old, **kept})
    fieldmanager.noted(kind, old, obj, manager, "status")
    return obj


def _same(value: bytes, mark: int, entry: Entry) -> bool:
    """Whether the encoded object is what the entry has."""
    return b"%b%d%b" % (value[:mark], entry.revision, value[mark:]) == entry.body


def own_version(kind: Kind, entry: Entry) -> Version:
    """In which version the server deals with an object by itself: no webhook has a say in that."""
    if kind.converter is not None and (stored := kind.by_version.get(view.stored_version(kind, entry))) is not None:
        return stored
    return kind.by_version[kind.storage_version]


async def empty(api: API, kind: Kind) -> None:
    """Delete all objects of a kind, and wait for those that somebody holds."""
    collection = await api.loaded(kind)
    changed = asyncio.Event()
    leave = collection.add_event_handler(lambda _: changed.set())
    try:
        await delete_all(api, kind, collection.under(kind.prefix)[0])
        while len(collection):
            changed.clear()
            await changed.wait()
    finally:
        leave()


async def delete_all(api: API, kind: Kind, entries: Sequence[Entry]) -> None:
    """Delete objects as a client would: those with finalizers are marked and wait."""
    collection = await api.loaded(kind)
    options = DeleteOptions(False, "", "", "")

    async def one(entry: Entry) -> None:
        current: Entry | None = entry
        while current is not None:
            call = Call(kind, own_version(kind, current), current.namespace, current.name, user=SERVER)
            try:
                await remove(api, call, current, options)
            except Conflicted:
                current = collection.get(entry.key)
            except APIError:
                return
            else:
                return

    for start in range(0, len(entries), _TOGETHER):
        await asyncio.gather(*map(one, entries[start : start + _TOGETHER]))
