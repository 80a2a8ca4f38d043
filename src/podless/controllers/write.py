"""Writes by the server itself: like requests, but without admission."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from podless.admission import CombinedCommit
from podless.auth.user import SERVER
from podless.cache.entry import Entry
from podless.codec import serializer
from podless.kinds import view
from podless.kinds.kind import Kind, Version
from podless.meta import objectmeta
from podless.meta.errors import NotFound
from podless.runtime import clock
from podless.runtime.jsonobject import Object
from podless.store import RevisionConflict, StoredValue
from podless.structs.gated import drop_gated
from podless.verbs import fieldmanager, steps, storage
from podless.verbs.apply import apply_object
from podless.verbs.call import API, Call
from podless.verbs.delete import remove_object
from podless.verbs.options import DeleteOptions
from podless.verbs.storage import AttemptOutcome, NewState

Change = Callable[[Object], Object]

SELF = "kube-apiserver"  # the field manager of what kube-apiserver writes itself
_CONCURRENT_DELETES = 256  # concurrent deletes; they share commits


class ConstantObject(NamedTuple):
    """An object that differs between servers only in uid and times, as the first server stored it."""

    stored: StoredValue
    uid: bytes
    time: bytes

    def make_new(self) -> StoredValue:
        """Return the object with a new uid and time. Their lengths are equal, so the offset stays valid."""
        data = self.stored.data.replace(self.uid, objectmeta.make_uid().encode())
        return StoredValue(data.replace(self.time, clock.now().encode()), self.stored.offset)


async def make_object(
    api: API, kind: Kind, obj: Object, manager: str = SELF, *, constant: str = "", reporter: Object | None = None
) -> None:
    """Create an object on the server's behalf, unless it exists.

    obj: its metadata has a name, and a namespace if the kind is namespaced; its status is kept. manager: of the fields
    other than the status. reporter: the managedFields entry of the status. constant: the time in `obj`, if
    `obj` is otherwise the same in every server; its stored form is then computed once.
    """
    metadata = obj["metadata"]
    key = kind.key(metadata.get("namespace", ""), metadata["name"])
    constants: dict[str, ConstantObject] = kind.derive("constants", dict) if constant else {}
    with suppress(RevisionConflict):
        if key in constants:
            await storage.put_object(api, kind, key, constants[key].make_new())
            return
        completed = await _complete_object(kind, obj, manager)
        if reporter is not None:
            completed["metadata"]["managedFields"].insert(0, reporter)
        if constant and constant == clock.now():  # only if all times in the object are this one
            uid = completed["metadata"]["uid"].encode()
            constants[key] = ConstantObject(view.encode_object(kind, completed), uid, constant.encode())
        await storage.store_new(api, kind, key, completed)


async def _complete_object(kind: Kind, obj: Object, manager: str) -> Object:
    """Return a new object with all fields that a server adds."""
    version = kind.by_version[kind.storage_version]
    obj = {"kind": kind.kind, "apiVersion": kind.api_version(version.name), **obj}
    metadata, status = obj["metadata"], obj.pop("status", None)
    kind.strategy.fill_defaults(kind, version, obj)
    call = Call(kind, version, metadata.get("namespace", ""), metadata["name"])
    fieldmanager.set_fields_of_created(call, obj, manager)
    steps.set_server_fields(kind, metadata)
    drop_gated(kind.struct_of(version), obj)
    kind.strategy.prepare_create(version, obj)
    if status is not None:
        obj["status"] = status
    return obj


async def amend_object(
    api: API, kind: Kind, key: str, change: Callable[[Object], Object | None], *, hooks: bool = True
) -> None:
    """Change an object on the server's behalf. change: gets the decoded object, and returns it or None to delete it.

    Retried after a conflict. A missing or unchanged object is left alone. hooks: False within follow-up work of such
    writes. Raises Unavailable.
    """

    def plan_write(entry: Entry | None) -> NewState | AttemptOutcome:
        if entry is None:
            return AttemptOutcome.KEEP
        changed = change(view.load_object(kind, own_version(kind, entry), entry))
        return NewState(changed) if changed is not None else AttemptOutcome.DELETE

    await storage.amend_stored(api, kind, key, plan_write, hooks=hooks)


async def discard_object(api: API, kind: Kind, key: str, revision: int) -> None:
    """Delete an object if it is still at a revision, regardless of finalizers."""

    def plan_write(entry: Entry | None) -> NewState | AttemptOutcome:
        return AttemptOutcome.DELETE if entry is not None and entry.revision == revision else AttemptOutcome.KEEP

    await storage.amend_stored(api, kind, key, plan_write)


async def report_status(
    api: API,
    kind: Kind,
    key: str,
    change: Change,
    manager: str,
    stored: Object | None = None,
    *,
    along: CombinedCommit | None = None,
    hooks: bool = True,
) -> Object | None:
    """Change the status of an object, as in `with_status`.

    stored: the decoded object in its last known state. along: creates an operation that is committed with the change.
    hooks: as for `amend_object`. Returns the new object, None if it does not exist. Retried after a conflict. Raises
    Unavailable.
    """
    version = kind.by_version[kind.storage_version]
    obj = stored

    def plan_write(entry: Entry | None) -> NewState | AttemptOutcome:
        nonlocal obj
        if entry is None:
            return AttemptOutcome.KEEP
        old = stored
        if old is None or old["metadata"]["resourceVersion"] != str(entry.revision):
            old = view.load_object(kind, version, entry)
        obj = with_status(kind, old, change, manager)
        return NewState(obj, along)

    written = await storage.amend_stored(api, kind, key, plan_write, hooks=hooks)
    if written.entry is None or obj is None:
        return None
    obj["metadata"]["resourceVersion"] = str(written.entry.revision)
    return obj


async def apply_status(api: API, kind: Kind, name: str, manager: str, status: Object) -> None:
    """Apply a part of the status of a cluster-scoped object, with force. A missing object is left alone."""
    version = kind.by_version[kind.storage_version]
    head = {"kind": kind.kind, "apiVersion": kind.api_version(version.name)}
    body = serializer.encode_json({**head, "metadata": {"name": name}, "status": status})
    query = {"fieldManager": [manager], "force": ["true"]}
    call = Call(kind, version, "", name, "status", query, body, "application/apply-patch+yaml", user=SERVER)
    with suppress(NotFound):
        await apply_object(api, call)


def with_status(kind: Kind, old: Object, change: Change, manager: str) -> Object:
    """Return an object with a changed status. manager: of the change, "" to leave managed fields unchanged.

    Everything except metadata and status is shared with the old object.
    """
    obj = change({**old, "metadata": dict(old["metadata"]), "status": view.copy_object(old.get("status") or {})})
    if manager:
        fieldmanager.set_fields_of_server_write(kind, old, obj, manager, "status")
    return obj


def list_conditions(obj: Object) -> list[Object]:
    """Return the conditions in an object's status."""
    return (obj.get("status") or {}).get("conditions") or []


def find_condition(conditions: list[Object], kind: str) -> Object:
    """Return the condition of a type; an empty object if there is none."""
    return next((condition for condition in conditions if condition.get("type") == kind), {})


def with_conditions(obj: Object, *changes: tuple[str, bool, str, str]) -> list[Object]:
    """Return an object's conditions with these added or changed: type, whether it is met, reason, message."""
    by_type = {condition["type"]: condition for condition in list_conditions(obj)}
    for kind, met, reason, message in changes:
        value, before = "True" if met else "False", by_type.get(kind) or {}
        is_same = before.get("status") == value and before.get("reason") == reason and before.get("message") == message
        if not is_same:
            since = before["lastTransitionTime"] if before.get("status") == value else clock.now()
            changed = {"type": kind, "status": value, "lastTransitionTime": since, "reason": reason, "message": message}
            by_type[kind] = {**before, **changed}
    return list(by_type.values())


def drop_finalizer(obj: Object, finalizer: str) -> Object | None:
    """Remove a finalizer of an object. Returns the object; None if no other finalizer holds it."""
    remaining = [name for name in obj["metadata"].get("finalizers") or [] if name != finalizer]
    set_or_drop(obj["metadata"], "finalizers", remaining)
    return obj if remaining else None


def set_or_drop(metadata: Object, name: str, items: list[Any]) -> None:
    """Set a field that has a place in the order of fields already, or remove it if it is to have no items."""
    if items:
        metadata[name] = items
    else:
        metadata.pop(name, None)


def own_version(kind: Kind, entry: Entry) -> Version:
    """Return a version that the server can use without a conversion webhook: the stored version if there is one."""
    if kind.webhook is not None and (stored := kind.by_version.get(view.stored_version(kind, entry))) is not None:
        return stored
    return kind.by_version[kind.storage_version]


async def empty_kind(api: API, kind: Kind) -> None:
    """Delete all objects of a kind, and wait for those with finalizers."""
    collection = await api.load_collection(kind)
    changed = asyncio.Event()
    leave = collection.add_event_handler(lambda _: changed.set())
    try:
        await delete_all(api, kind, collection.list_entries())
        while len(collection):
            changed.clear()
            await changed.wait()
    finally:
        leave()


async def delete_all(api: API, kind: Kind, entries: Sequence[Entry]) -> None:
    """Delete objects as a client would: those with finalizers are marked and kept.

    Raises one of the errors after all others are deleted, so that the caller tries again.
    """
    options = DeleteOptions(False, "", None, None)
    failed: list[BaseException] = []

    async def delete_entry(entry: Entry) -> None:
        call = Call(kind, own_version(kind, entry), entry.namespace, entry.name, user=SERVER)
        with suppress(NotFound):
            await remove_object(api, call, options)

    for start in range(0, len(entries), _CONCURRENT_DELETES):
        deleted = await asyncio.gather(
            *map(delete_entry, entries[start : start + _CONCURRENT_DELETES]), return_exceptions=True
        )
        failed += [error for error in deleted if error is not None]
    if failed:
        raise failed[0]
