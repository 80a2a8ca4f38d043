"""States beyond the window of the log, against a model that keeps everything."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podless.store import HistoryCompacted, Operation, StoredValue, StoreError
from podless.store.contract import AUTHOR, Author
from podless.store.history import HistoryBounds, Keep
from podless.store.sqlite import SQLiteStore

KEYS = ["/example.com/gadgets/a/x", "/example.com/gadgets/a/y", "/example.com/gadgets/b/x", "/core/leases/a/x"]
PREFIXES = ["/example.com/gadgets/", "/example.com/gadgets/a/", "/core/leases/", "/"]
FOREVER = Keep(age=1e9, size=1 << 40, count=1 << 40)
FILLER = b'"managedFields":[{"manager":"kubectl","operation":"Update","time":"2026-01-01T00:00:00Z"}]' * 3


class Event(NamedTuple):
    revision: int
    key: str
    value: bytes | None
    author: Author


async def advance(store: SQLiteStore) -> None:
    """Let background work come to rest."""
    while store._window._busy:  # noqa: ASYNC110 - the store's own steps are awaited
        await asyncio.sleep(0)


async def check(store: SQLiteStore, model: list[Event], *, complete: bool) -> None:
    log = store.changelog
    last = await store.read_revision()
    for prefix in PREFIXES:
        horizon = log.read_horizon(prefix)
        if complete:
            assert horizon == 0
        if horizon:
            with pytest.raises(HistoryCompacted) as gone:
                await store.read_range_at(prefix, horizon - 1)
            assert gone.value.revision == horizon
        for revision in range(horizon, last + 1):
            expected: dict[str, tuple[int, bytes | None]] = {}
            for event in model:
                if event.revision <= revision and event.key.startswith(prefix):
                    expected[event.key] = (event.revision, event.value)
            found = await store.read_range_at(prefix, revision)
            assert [(one.key, one.revision, one.stored.data) for one in found] == [
                (key, *told) for key, told in sorted(expected.items()) if told[1] is not None
            ]
        listed = await log.read_under([prefix])
        told = [Event(one.revision, one.key, one.stored and one.stored.data, one.author) for one in listed]
        assert told == sorted(told, key=lambda one: -one[0])
        assert set(told) <= set(model)
        behind = [event for event in reversed(model) if event.revision > horizon and event.key.startswith(prefix)]
        assert told[: len(behind)] == behind
    for key in KEYS:
        horizon = log.read_horizon(key)
        own = [one for one in await log.read_key(key) if one.revision > horizon]
        assert [(one.revision, one.author) for one in own] == [
            (event.revision, event.author) for event in reversed(model) if event.key == key and event.revision > horizon
        ]


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["write"] * 8 + ["delete", "compact", "compact", "reopen", "kill"]),
        st.integers(0, len(KEYS) - 1),
        st.integers(0, 3),
    ),
    min_size=15,
    max_size=80,
)


async def run(steps: list[tuple[str, int, int]], bounds: HistoryBounds, folder: Path, *, complete: bool) -> None:
    path = folder / "db"
    store = SQLiteStore(path, keep=Keep(count=1 << 30), bounds=bounds)
    await store.open()
    model: list[Event] = []
    state: dict[str, int] = {}
    for number, (what, place, user) in enumerate(steps):
        key, author = KEYS[place], Author(f"user-{user}", verb="update", audit=bytes([user]) * 16 if user else b"")
        if what == "compact":
            await store.compact(max(0, await store.read_revision() - place))
            store._window.do_step()
            await advance(store)
        elif what in ("reopen", "kill"):
            if what == "kill":  # what is on disk now is what a server that is killed leaves
                copied = folder / f"db-{number}"
                shutil.copy(path, copied)
                shutil.copy(f"{path}-wal", f"{copied}-wal")
                path = copied
            await store.close()
            store = SQLiteStore(path, keep=Keep(count=1 << 30), bounds=bounds)
            await store.open()
        elif what == "delete" and key not in state:
            continue
        else:
            value = None if what == "delete" else FILLER + b"%d" % number
            AUTHOR.set(author)
            revision = await store.commit([Operation(key, StoredValue(value) if value else None, state.get(key, 0))])
            model.append(Event(revision, key, value, author))
            if value is None:
                del state[key]
            else:
                state[key] = revision
    await check(store, model, complete=complete)
    await store.close()


@settings(deadline=None)
@given(steps=STEPS)
def test_nothing_is_forgotten_where_all_is_kept(steps: list[tuple[str, int, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(steps, HistoryBounds(FOREVER), Path(folder), complete=True))


@settings(deadline=None)
@given(steps=STEPS, most=st.integers(0, 12), own=st.none() | st.integers(0, 12))
def test_what_is_kept_is_right_whatever_the_bounds(
    steps: list[tuple[str, int, int]], most: int, own: int | None
) -> None:
    bounds = HistoryBounds(
        Keep(age=1e9, size=1 << 40, count=most),
        {"/core/leases/": None if own is None else Keep(age=1e9, size=1 << 40, count=own)},
    )
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.multiple("podless.store.sqlite.past", _STEP_ROWS=2, _CHECK_INTERVAL=0),
    ):
        asyncio.run(run(steps, bounds, Path(folder), complete=False))


async def packed(path: Path, bounds: HistoryBounds | None) -> SQLiteStore:
    store = SQLiteStore(path, keep=Keep(count=1 << 30), bounds=bounds)
    await store.open()
    return store


async def test_a_forgotten_option_deletes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "db"
    store = await packed(path, HistoryBounds(FOREVER, {"/core/leases/": FOREVER}))
    for key in (KEYS[0], KEYS[3]):
        first = await store.commit([Operation(key, StoredValue(b"1"), 0)])
        await store.commit([Operation(key, StoredValue(b"2"), first)])
    await store.compact(await store.read_revision())
    await store.close()
    for bounds in (
        HistoryBounds(),
        HistoryBounds(None, {"/core/leases/": FOREVER}),
        HistoryBounds(None, {"/example.com/gadgets/": None}),
    ):
        with pytest.raises(StoreError, match=r"history log of \d changes \(.*--history-log off"):
            await packed(path, bounds)
    for kept in (HistoryBounds(FOREVER), HistoryBounds(FOREVER, {"/core/leases/": None}), None):
        store = await packed(path, kept)
        assert len(await store.changelog.read_key(KEYS[0])) == 2
        await store.close()
    store = await packed(path, HistoryBounds(deletes=True))
    store._window.do_step()
    await advance(store)
    assert len(await store.changelog.read_key(KEYS[0])) == 1
    await store.close()
    store = await packed(path, HistoryBounds())  # there is nothing left to lose
    await store.close()
