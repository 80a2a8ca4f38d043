"""What every engine of the store must do; tests/store/test_*.py run it against each of them.

Engines may leave revisions out, and somebody else may write to keys that no test looks at.
"""

from __future__ import annotations

import asyncio
import gc
import time
import weakref
from collections.abc import Sequence

import pytest

from podless.store import (
    FOLLOWING,
    KEPT,
    HistoryCompacted,
    Operation,
    Record,
    RevisionConflict,
    Store,
    StoreChange,
    StoredValue,
)
from podless.store.contract import AUTHOR, Author


async def put(store: Store, key: str, value: bytes, expect: int = 0) -> int:
    return await store.commit([Operation(key, StoredValue(value), expect)])


async def delete(store: Store, key: str, expect: int) -> int:
    return await store.commit([Operation(key, None, expect)])


class Follower:
    """Whoever follows a prefix: what was delivered, batch by batch, and how far it goes."""

    def __init__(self, store: Store, prefix: str, after: int) -> None:
        self.batches: list[list[StoreChange]] = []
        self.revision = after
        self._moved = asyncio.Event()
        self.leave = store.watch(prefix, after, self._take)

    def _take(self, changes: Sequence[StoreChange], revision: int) -> None:
        assert revision >= self.revision
        assert all(self.revision < change.revision <= revision for change in changes)
        if changes:
            self.batches.append(list(changes))
        self.revision = revision
        self._moved.set()

    @property
    def changes(self) -> list[StoreChange]:
        return [change for batch in self.batches for change in batch]

    async def reach(self, revision: int) -> None:
        while self.revision < revision:
            self._moved.clear()
            await self._moved.wait()


class Contract:
    """Subclasses give the fixture `store`: an open, empty engine."""

    async def test_revisions_grow(self, store: Store) -> None:
        first = await put(store, "/g/r/a", b"1")
        second = await put(store, "/g/r/b", b"2")
        assert 0 < first < second <= await store.read_revision()

    async def test_a_record_keeps_its_offset_and_its_creation(self, store: Store) -> None:
        created = await store.commit([Operation("/g/r/a", StoredValue(b"one", 2), 0)])
        revision = await store.commit([Operation("/g/r/a", StoredValue(b"two", 1), created)])
        (record,), current = await store.read_range("/g/r/")
        assert record == Record("/g/r/a", StoredValue(b"two", 1), revision, created)
        assert current >= revision

    async def test_a_create_fails_where_the_key_exists(self, store: Store) -> None:
        revision = await put(store, "/g/r/a", b"1")
        with pytest.raises(RevisionConflict) as caught:
            await put(store, "/g/r/a", b"2")
        assert caught.value.key == "/g/r/a"
        assert caught.value.current == Record("/g/r/a", StoredValue(b"1"), revision, revision)

    async def test_an_update_fails_at_another_revision(self, store: Store) -> None:
        first = await put(store, "/g/r/a", b"1")
        second = await put(store, "/g/r/a", b"2", expect=first)
        with pytest.raises(RevisionConflict) as caught:
            await put(store, "/g/r/a", b"3", expect=first)
        assert caught.value.current == Record("/g/r/a", StoredValue(b"2"), second, first)

    async def test_a_conflict_leaves_no_cycle(self, store: Store) -> None:
        """Conflicts are frequent, and cycles are freed late, by a collector that stops all requests."""
        await put(store, "/g/r/a", b"1")
        gc.disable()
        try:
            try:
                await put(store, "/g/r/a", b"2")
            except RevisionConflict as conflict:
                kept = weakref.ref(conflict)
            await asyncio.sleep(0)
            assert kept() is None
        finally:
            gc.enable()

    async def test_an_update_of_nothing_fails(self, store: Store) -> None:
        first = await put(store, "/g/r/a", b"1")
        await delete(store, "/g/r/a", first)
        for key in ("/g/r/a", "/g/r/b"):
            with pytest.raises(RevisionConflict) as caught:
                await put(store, key, b"3", expect=first)
            assert caught.value.current is None

    async def test_a_delete_of_nothing_fails(self, store: Store) -> None:
        with pytest.raises(RevisionConflict) as caught:
            await delete(store, "/g/r/a", 0)
        assert caught.value.current is None

    async def test_a_deleted_key_is_free_again(self, store: Store) -> None:
        first = await put(store, "/g/r/a", b"1")
        await delete(store, "/g/r/a", first)
        assert (await store.read_range("/g/r/"))[0] == []
        again = await put(store, "/g/r/a", b"2")
        assert (await store.read_range("/g/r/"))[0][0].created == again > first

    async def test_several_keys_share_one_revision(self, store: Store) -> None:
        first = await put(store, "/g/r/a", b"1")
        follower = Follower(store, "/g/", first)
        revision = await store.commit(
            [
                Operation("/g/r/a", None, first),
                Operation("/g/s/a", StoredValue(b"1"), 0),
                Operation("/g/r/b", StoredValue(b"2"), 0),
            ]
        )
        later = await put(store, "/g/r/c", b"3")
        await follower.reach(later)
        assert later > revision > first
        found = {record.key: record for record in (await store.read_range("/g/"))[0]}
        assert found.keys() == {"/g/r/b", "/g/r/c", "/g/s/a"}
        assert found["/g/s/a"] == Record("/g/s/a", StoredValue(b"1"), revision, revision)
        (batch,) = (batch for batch in follower.batches if batch[0].revision == revision)
        assert sum(change.revision == revision for change in batch) == 3
        for after, count in ((first, 4), (revision, 1), (later, 0)):
            assert len(await store.read_changes("/g/", after)) == count
        assert [record.key for record in await store.read_range_at("/g/", first)] == ["/g/r/a"]
        assert len(await store.read_range_at("/g/", revision)) == 2

    async def test_all_of_a_commit_happens_or_nothing(self, store: Store) -> None:
        first = await put(store, "/g/r/a", b"1")
        with pytest.raises(RevisionConflict) as caught:
            await store.commit(
                [
                    Operation("/g/r/b", StoredValue(b"2"), 0),
                    Operation("/g/r/a", StoredValue(b"3"), 0),
                    Operation("/g/r/c", StoredValue(b"4"), 0),
                ]
            )
        assert caught.value.key == "/g/r/a"
        assert [record.revision for record in (await store.read_range("/g/r/"))[0]] == [first]

    async def test_commits_of_a_chain_go_on_from_each_other(self, store: Store) -> None:
        other = await put(store, "/g/s/a", b"1")
        revisions = await store.commit_chain(
            [
                [Operation("/g/r/a", StoredValue(b"1"), 0)],
                [Operation("/g/r/a", StoredValue(b"2"), FOLLOWING), Operation("/g/s/a", StoredValue(b"2"), other)],
                [Operation("/g/r/a", None, FOLLOWING)],
            ]
        )
        assert len(revisions) == 3
        assert other < revisions[0] < revisions[1] < revisions[2]
        changes = [
            (change.key, change.revision, change.record and change.record.created)
            for change in await store.read_changes("/g/", other)
        ]
        assert changes == [
            ("/g/r/a", revisions[0], revisions[0]),
            ("/g/r/a", revisions[1], revisions[0]),
            ("/g/s/a", revisions[1] if store.atomic else changes[2][1], other),
            ("/g/r/a", revisions[2], None),
        ]

    async def test_a_chain_ends_before_the_first_commit_that_fails(self, store: Store) -> None:
        other = await put(store, "/g/s/a", b"1")
        revisions = await store.commit_chain(
            [
                [Operation("/g/r/a", StoredValue(b"1"), 0)],
                [Operation("/g/r/a", StoredValue(b"2"), FOLLOWING), Operation("/g/s/a", StoredValue(b"2"), 0)],
                [Operation("/g/r/a", StoredValue(b"3"), FOLLOWING)],
            ]
        )
        assert len(revisions) == 1
        assert [(one.key, one.stored.data, one.revision) for one in (await store.read_range("/g/"))[0]] == [
            ("/g/r/a", b"1", revisions[0]),
            ("/g/s/a", b"1", other),
        ]

    async def test_of_a_chain_whose_first_commit_fails_nothing_happens(self, store: Store) -> None:
        revision = await put(store, "/g/r/a", b"1")
        with pytest.raises(RevisionConflict) as caught:
            await store.commit_chain(
                [[Operation("/g/r/a", StoredValue(b"2"), 0)], [Operation("/g/r/b", StoredValue(b"2"), 0)]]
            )
        assert caught.value.current == Record("/g/r/a", StoredValue(b"1"), revision, revision)
        assert [record.key for record in (await store.read_range("/g/"))[0]] == ["/g/r/a"]

    async def test_what_a_chain_follows_is_its_own_commit(self, store: Store) -> None:
        other = await put(store, "/g/s/a", b"1")
        made = [Operation("/g/r/a", StoredValue(b"1"), 0)]
        assert len(await store.commit_chain([made, [Operation("/g/s/a", StoredValue(b"2"), FOLLOWING)]])) == 1
        assert {one.key: one.revision for one in (await store.read_range("/g/s/"))[0]} == {"/g/s/a": other}

    async def test_a_key_may_be_a_condition_alone(self, store: Store) -> None:
        first = await put(store, "/g/r/a", b"1")
        revision = await store.commit([Operation("/g/r/b", StoredValue(b"2"), 0), Operation("/g/r/a", KEPT, first)])
        assert [record.revision for record in (await store.read_range("/g/r/"))[0]] == [first, revision]
        changed = await put(store, "/g/r/a", b"2", expect=first)
        with pytest.raises(RevisionConflict) as caught:
            await store.commit([Operation("/g/r/c", StoredValue(b"2"), 0), Operation("/g/r/a", KEPT, first)])
        assert caught.value.key == "/g/r/a"
        assert [record.revision for record in (await store.read_range("/g/r/"))[0]] == [changed, revision]

    async def test_history_between_the_keys_of_a_commit_is_not_cut(self, store: Store) -> None:
        revision = await store.commit([Operation(f"/g/r/{name}", StoredValue(b"1"), 0) for name in "abcd"])
        for record in (await store.read_range("/g/r/"))[0]:
            await delete(store, record.key, record.revision)
        current = await store.read_revision()
        for after in range(revision, current + 1):
            known = {record.key for record in await store.read_range_at("/g/r/", after)}
            for change in await store.read_changes("/g/r/", after):
                assert change.revision > after
                known.discard(change.key)
            assert not known
            await store.compact(after)

    async def test_a_range_is_in_key_order_and_stays_below_its_prefix(self, store: Store) -> None:
        for key in ("/g/r/b", "/g/rr/x", "/g/r/a", "/g/q/y", "/g/r/é"):
            await put(store, key, b"")
        keys = [record.key for record in (await store.read_range("/g/r/"))[0]]
        assert keys == ["/g/r/a", "/g/r/b", "/g/r/é"]

    async def test_pages_of_a_prefix_have_all_of_its_state_at_a_revision(self, store: Store) -> None:
        for key in ("/g/r/b", "/g/rr/x", "/g/r/a", "/g/q/y", "/g/r/c"):
            last = await put(store, key, b"1")
        await delete(store, "/g/r/c", last)
        state = await store.read_revision()
        await put(store, "/g/r/d", b"1")
        found, after = [], ""
        while True:
            records, after = await store.read_page(state, after, 1, "/g/r/")
            found += [record.key for record in records]
            if not after:
                break
        assert found == ["/g/r/a", "/g/r/b"]

    async def test_of_writes_to_one_key_at_one_time_one_wins(self, store: Store) -> None:
        outcomes = await asyncio.gather(*(put(store, "/g/r/a", b"%d" % i) for i in range(10)), return_exceptions=True)
        lost = [outcome for outcome in outcomes if isinstance(outcome, RevisionConflict)]
        (won,) = (outcome for outcome in outcomes if isinstance(outcome, int))
        assert [one.current.revision for one in lost if one.current is not None] == [won] * 9

    async def test_of_commits_that_overlap_one_wins(self, store: Store) -> None:
        async def pair(first: str, second: str) -> int:
            return await store.commit([Operation(f"/g/r/{name}", StoredValue(b""), 0) for name in (first, second)])

        outcomes = await asyncio.gather(*(pair(*names) for names in ("ab", "bc", "ca")), return_exceptions=True)
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["RevisionConflict"] * 2 + ["int"]
        assert len((await store.read_range("/g/r/"))[0]) == 2

    async def test_a_watch_is_told_every_change_in_order(self, store: Store) -> None:
        follower = Follower(store, "/g/r/", await store.read_revision())
        first = await put(store, "/g/r/a", b"1")
        await asyncio.gather(*(put(store, f"/g/r/b{i}", b"") for i in range(20)))
        await put(store, "/g/other/a", b"")
        last = await delete(store, "/g/r/a", first)
        await follower.reach(last)
        told = [change.revision for change in follower.changes]
        assert len(told) == 22
        assert told == sorted(told)
        assert follower.changes[-1] == StoreChange("/g/r/a", last, None)
        assert all(change.key.startswith("/g/r/") for change in follower.changes)
        follower.leave()
        after = await put(store, "/g/r/c", b"")
        other = Follower(store, "/g/r/", last)
        await other.reach(after)
        assert [change.revision for change in other.changes] == [after]
        assert follower.revision < after

    async def test_a_watch_goes_on_where_another_one_fails(self, store: Store) -> None:
        def fails(changes: Sequence[StoreChange], revision: int) -> None:
            raise RuntimeError("a defect")

        store.watch("/g/r/", await store.read_revision(), fails)
        follower = Follower(store, "/g/r/", await store.read_revision())
        revisions = await asyncio.wait_for(asyncio.gather(*(put(store, f"/g/r/{i}", b"") for i in range(3))), 60)
        await follower.reach(max(revisions))
        assert len(follower.changes) == 3

    async def test_an_earlier_state_can_be_read(self, store: Store) -> None:
        first = await put(store, "/g/r/a", b"1")
        second = await put(store, "/g/r/b", b"2")
        third = await delete(store, "/g/r/a", first)
        await put(store, "/g/r/b", b"3", expect=second)
        assert [(r.key, r.stored.data) for r in await store.read_range_at("/g/r/", second)] == [
            ("/g/r/a", b"1"),
            ("/g/r/b", b"2"),
        ]
        assert [(r.key, r.stored.data) for r in await store.read_range_at("/g/r/", third)] == [("/g/r/b", b"2")]

    async def test_changes_tell_what_they_replaced(self, store: Store) -> None:
        start = await store.read_revision()
        first = await put(store, "/g/r/a", b"1")
        await put(store, "/g/q/x", b"")
        second = await put(store, "/g/r/a", b"2", expect=first)
        third = await delete(store, "/g/r/a", second)
        changes = await store.read_changes("/g/r/", first)
        assert [change.revision for change in changes] == [second, third]
        assert changes[0].before == Record("/g/r/a", StoredValue(b"1"), first, first)
        assert changes[1].record is None
        assert changes[1].before == Record("/g/r/a", StoredValue(b"2"), second, first)
        assert (await store.read_changes("/g/r/", start))[0].before is None

    async def test_compaction_forgets_what_was_replaced_and_keeps_what_is(self, store: Store) -> None:
        first = await put(store, "/g/r/a", b"1")
        second = await put(store, "/g/r/b", b"2")
        await put(store, "/g/r/a", b"3", expect=first)
        fourth = await delete(store, "/g/r/b", second)
        fifth = await put(store, "/g/r/c", b"5")
        await store.compact(fourth)
        assert store.compacted_revision == fourth
        found = [(r.key, r.stored.data) for r in (await store.read_range("/g/r/"))[0]]
        assert found == [("/g/r/a", b"3"), ("/g/r/c", b"5")]
        assert [r.key for r in await store.read_range_at("/g/r/", fourth)] == ["/g/r/a"]
        assert [change.revision for change in await store.read_changes("/g/r/", fourth)] == [fifth]
        for reading in (store.read_range_at("/g/r/", second), store.read_changes("/g/r/", second)):
            with pytest.raises(HistoryCompacted) as caught:
                await reading
            assert caught.value.revision == fourth
        with pytest.raises(HistoryCompacted):
            store.watch("/g/r/", second, lambda changes, revision: None)

    async def test_what_a_later_delete_took_away_survives_compaction_up_to_then(self, store: Store) -> None:
        first = await put(store, "/g/r/a", b"1")
        second = await put(store, "/g/r/b", b"2")
        await delete(store, "/g/r/a", first)
        await store.compact(second)
        change = (await store.read_changes("/g/r/", second))[0]
        assert change.before is not None
        assert change.before.stored.data == b"1"

    async def test_history_that_is_held_can_be_read(self, store: Store) -> None:
        with store.hold_history():
            first = await put(store, "/g/r/a", b"1")
            await put(store, "/g/r/a", b"2", expect=first)
            assert [record.stored.data for record in await store.read_range_at("/g/r/", first)] == [b"1"]

    async def test_a_revision_that_is_skipped_is_below_all_later_ones_and_without_history(self, store: Store) -> None:
        first = await put(store, "/g/r/a", b"1")
        said: list[int] = []
        await store.advance_revision(first + 20, said.append)
        assert await put(store, "/g/r/a", b"2", expect=(await store.read_range("/g/r/"))[0][0].revision) > first + 20
        with pytest.raises(HistoryCompacted):
            await store.read_range_at("/g/r/", first)

    async def test_the_figures_are_those_of_the_state(self, store: Store) -> None:
        await store.check_health()
        revision = await put(store, "/g/r/a", b"1")
        figures = store.read_figures()
        assert figures["revision"] >= revision
        assert figures["compacted"] == store.compacted_revision
        assert figures["size"] >= 0
        assert figures["oldest"] == 0 or 1_500_000_000 < figures["oldest"] <= time.time()

    async def test_a_prompt_store_has_shown_all(self, store: Store) -> None:
        revision = await put(store, "/g/r/a", b"1")
        assert store.has_newest(revision) or not store.prompt

    async def test_the_log_has_each_change_of_a_key_with_its_author(self, store: Store) -> None:
        if (log := store.changelog) is None:
            pytest.skip("the store keeps no log of changes")
        context = AUTHOR.set(Author(user="me", verb="create"))
        first = await put(store, "/g/r/a", b"1")
        AUTHOR.reset(context)
        second = await delete(store, "/g/r/a", first)
        deleted, created = await log.read_key("/g/r/a")
        assert (created.revision, created.author.user, created.stored) == (first, "me", StoredValue(b"1"))
        assert (deleted.revision, deleted.author.user, deleted.stored) == (second, "", None)

    async def test_a_cancelled_writer_does_not_hinder_others(self, store: Store) -> None:
        given_up = asyncio.ensure_future(put(store, "/g/r/a", b"1"))
        other = asyncio.ensure_future(put(store, "/g/r/b", b"2"))
        await asyncio.sleep(0)
        given_up.cancel()
        revision = await asyncio.wait_for(other, 60)
        assert revision <= await put(store, "/g/r/c", b"3")
