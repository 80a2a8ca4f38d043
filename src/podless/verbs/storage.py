"""The only way into the store: read, attempt, encode, commit, and repeat if another write came first.

A write without changes is not stored. When a write returns, the cache shows it and its follow-up work is done. Only
this module calls `Store.commit` and `Store.commit_chain` (tests/architecture.py). Source: GuaranteedUpdate of
k8s.io/apiserver.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, nullcontext
from contextvars import ContextVar
from enum import Enum
from typing import Any, NamedTuple, TypeVar

from podless.admission.attributes import AllocationConflict, CombinedCommit
from podless.cache.entry import Entry
from podless.kinds import view
from podless.kinds.kind import Kind
from podless.kinds.state import State
from podless.meta.errors import Unavailable
from podless.runtime.jsonobject import Object
from podless.store import Operation, Record, RevisionConflict, StoredValue, StoreError, ValueTooLarge
from podless.store.contract import read_record
from podless.structs import protobuf
from podless.verbs.call import API
from podless.verbs.followup import FollowUp, FollowUpCommits
from podless.verbs.ready import keep_ready

T = TypeVar("T")

_TRIES = 50  # attempts of one write while other writes come first
_MAX = 3 << 19  # bytes of an object (1.5 MiB); etcd's default --max-request-bytes
_BUSY = "the object changes faster than this request can be carried out; try again"


# a condition on every commit of this context: this server still leads the controllers
GUARD: ContextVar[Operation | None] = ContextVar("guard", default=None)


class Deposed(StoreError):
    """Another server has become the leader of the controllers."""

    def __init__(self) -> None:
        super().__init__("another server does this by now")


class AttemptOutcome(Enum):
    """The outcomes of an attempt that write no new state: keep the object as it is, or remove it."""

    KEEP = "keep"
    DELETE = "delete"


class NewState(NamedTuple):
    """The new state of an object. along: further keys to commit. stored: the encoded object, if available."""

    obj: Object
    along: CombinedCommit | None = None
    stored: StoredValue | None = None


class WriteResult(NamedTuple):
    """The object after the write, None if removed. revision: of the commit, 0 if nothing was written."""

    entry: Entry | None
    revision: int = 0


# returns the wanted outcome for the present state of an object (None: absent); called again if another write came first
Attempt = Callable[[Entry | None], Coroutine[Any, Any, NewState | AttemptOutcome]]


async def store_new(api: API, kind: Kind, key: str, obj: Object) -> Entry:
    """Store a new object. Raises RevisionConflict if the key is in use."""
    return await put_object(api, kind, key, encode_stored(kind, obj), None, obj)


async def put_object(
    api: API, kind: Kind, key: str, stored: StoredValue, along: CombinedCommit | None = None, obj: Object | None = None
) -> Entry:
    """Store an encoded object as `store_new` does. obj: the decoded object, for follow-up work.

    Raises RevisionConflict, AllocationConflict, or the error of a key that is committed along.
    """
    operation = Operation(key, stored, 0)
    if along is None:  # a conflict can be about this key only
        revision = await _commit_write(api, kind, operation, None, obj)
    else:
        revision = await _repeat_attempt(api, lambda _: _commit_write(api, kind, operation, along, obj), new=key)
    return api.find_written(kind, Record(key, stored, revision, revision))


async def update_stored(api: API, kind: Kind, key: str, attempt: Attempt, *, hooks: bool = True) -> WriteResult:
    """Change, create or remove an object. hooks: False for writes of follow-up work itself.

    Raises the error of `attempt`, or Unavailable after 50 conflicts.
    """
    collection = api.collection(kind)
    if not (collection.loaded and api.cache.is_fresh):
        await api.load_collection(kind)
    entry = collection.get(key)

    async def write_entry(conflict: RevisionConflict | None) -> WriteResult:
        nonlocal entry
        if conflict is not None and conflict.key == key:
            entry = api.find_written(kind, conflict.current) if conflict.current is not None else None
        outcome = await attempt(entry)
        if outcome is AttemptOutcome.KEEP or (outcome is AttemptOutcome.DELETE and entry is None):
            return WriteResult(entry)
        stored, along, removal = None, None, True
        if isinstance(outcome, NewState):
            obj, along, stored = outcome
            removal = "deletionTimestamp" in obj["metadata"]
            if stored is None:
                size = len(entry.body) if entry is not None else 0
                async with keep_ready(api, kind) if api.off_loop.is_long(size) else nullcontext():
                    stored = await api.off_loop.run(size, encode_stored, kind, obj)
        expect, created = 0, 0
        if entry is not None:
            if stored is not None and stored.with_revision(entry.revision) == entry.body:
                return WriteResult(entry)  # no change, so watchers get no event
            expect, created = entry.revision, entry.created
        operation = Operation(key, stored, expect, removal)  # removal: a step in the removal of an object
        revision = await _commit_write(api, kind, operation, along, hooks=hooks)
        if stored is None:
            return WriteResult(None, revision)
        return WriteResult(api.find_written(kind, Record(key, stored, revision, created or revision)), revision)

    return await _repeat_attempt(api, write_entry)


async def amend_stored(
    api: API, kind: Kind, key: str, change: Callable[[Entry | None], NewState | AttemptOutcome], *, hooks: bool = True
) -> WriteResult:
    """Do as `update_stored` does, with a function in place of a coroutine."""
    # slices: it decodes the object, by a schema of any size
    return await update_stored(api, kind, key, lambda entry: api.off_loop.slices.run(change, entry), hooks=hooks)


def encode_stored(kind: Kind, obj: Object) -> StoredValue:
    """Return the stored form. Raises ValueTooLarge."""
    stored = view.encode_object(kind, obj)
    if len(stored.data) > _MAX:
        struct = kind.struct
        # a real server stores built-in kinds as protobuf, in which long texts take fewer bytes
        if struct is None or len(protobuf.write_object(struct, obj)) > _MAX:
            raise ValueTooLarge
    return stored


async def commit_together(api: API, plan: Callable[[], Awaitable[Sequence[Operation]]]) -> int:
    """Commit the operations of a plan, in one commit if the store is atomic; without follow-up work.

    `plan` is called again if another write came first, so it must also cope with a half-written state. Returns the
    revision, 0 if the plan is empty. Raises Unavailable after 50 conflicts.
    """

    async def write_operations(_: RevisionConflict | None) -> int:
        operations, revision = await plan(), 0
        if operations and api.store.atomic:
            return await commit_operations(api, operations)
        for operation in operations:
            revision = await commit_operations(api, (operation,))
        return revision

    return await _repeat_attempt(api, write_operations)


async def read_or_create_value(api: State, key: str, make: Callable[[], bytes]) -> bytes:
    """Return a value that the server keeps for itself: the stored one, or a new one if there is none.

    make: returns the new value; called again if the key was written and deleted in between.
    """

    async def write_value(conflict: RevisionConflict | None) -> bytes:
        if conflict is not None and conflict.current is not None:
            return conflict.current.stored.data
        if (record := await read_record(api.store, key)) is not None:
            return record.stored.data
        value = make()
        await commit_operations(api, [Operation(key, StoredValue(value), 0)])
        return value

    return await _repeat_attempt(api, write_value)


async def commit_operations(api: State, operations: Sequence[Operation]) -> int:
    """Commit once with the condition in GUARD, and return the revision when the cache shows it; without follow-up work.

    Only for callers that handle a conflict themselves. Raises RevisionConflict, and Deposed if the condition no longer
    holds.
    """
    guard = GUARD.get()
    if guard is None:
        revision = await api.store.commit(operations)
    else:
        try:
            revision = await api.store.commit((*operations, guard))
        except RevisionConflict as conflict:
            if conflict.key == guard.key:
                raise Deposed from None
            raise
    if api.cache.revision < revision:
        await api.cache.wait_for_revision(revision)
    return revision


async def _repeat_attempt(
    api: State, attempt: Callable[[RevisionConflict | None], Awaitable[T]], *, new: str = ""
) -> T:
    """Call `attempt` until it meets no conflict, with the conflict of its last commit.

    new: the key of an object to create. If it is in use, or a key along is taken (AllocationConflict), the caller must
    choose another one, so both errors are raised. Raises Unavailable after `_TRIES` calls.
    """
    last: RevisionConflict | None = None
    for _ in range(_TRIES):
        try:
            return await attempt(last)
        except RevisionConflict as conflict:
            if conflict.key == new:
                raise
            await _catch_up(api, conflict)
            last = conflict.with_traceback(None)  # which refers to this frame
        except AllocationConflict:
            if new:
                raise
            last = None  # the next attempt allocates again
    raise Unavailable(_BUSY)


def _commit_write(
    api: API,
    kind: Kind,
    operation: Operation,
    along: CombinedCommit | None,
    obj: Object | None = None,
    *,
    hooks: bool = True,
) -> Coroutine[Any, Any, int]:
    """Commit, then run the kind's follow-up. obj: the decoded object. Raises RevisionConflict."""
    follow_up = api.follow_ups.find_follow_up(kind) if hooks else None
    if follow_up is not None and obj is not None and along is None:
        stored = operation.stored
        is_short = stored is not None and not api.off_loop.is_long(len(stored.data))
        planned = follow_up.follow_up_commits(operation.key, obj) if is_short and GUARD.get() is None else None
        if planned is not None:
            return _shield_write(_commit_chain(api, operation, follow_up, obj, planned))
    written = commit_operations(api, (operation,)) if along is None else _commit_along(api, operation, along)
    return written if follow_up is None else _shield_write(_run_follow_up(written, follow_up, operation.key, obj))


async def _shield_write(work: Coroutine[Any, Any, int]) -> int:
    # a cancelled request must not stop the follow-up
    return await asyncio.shield(asyncio.get_running_loop().create_task(work))


async def _run_follow_up(written: Awaitable[int], follow_up: FollowUp, key: str, obj: Object | None) -> int:
    revision = await written
    await follow_up.after_commit(key, obj and _set_revision(obj, revision))
    return revision


def _set_revision(obj: Object, revision: int) -> Object:
    return {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(revision)}}


async def _commit_chain(
    api: API, operation: Operation, follow_up: FollowUp, obj: Object, planned: FollowUpCommits
) -> int:
    """Write as `_commit_write` does, with follow-up commits in the same chain."""
    first, *later = await api.store.commit_chain(((operation,), *planned.commits))
    await api.cache.wait_for_revision(later[-1] if later else first)
    final = _set_revision(planned.obj, later[-1]) if len(later) == len(planned.commits) else _set_revision(obj, first)
    await follow_up.after_commit(operation.key, final)
    return first


async def _commit_along(api: API, operation: Operation, along: CombinedCommit) -> int:
    async with AsyncExitStack() as locks:
        for lock in along.locks:
            await locks.enter_async_context(lock)
        operations = await api.off_loop.slices.run(along.operations)
        return await commit_operations(api, (operation, *operations))


async def _catch_up(api: State, conflict: RevisionConflict) -> None:
    """Wait until the cache shows the write that a commit conflicted with."""
    if conflict.current is None:
        await api.cache.refresh()
    else:
        await api.cache.wait_for_revision(conflict.current.revision)
