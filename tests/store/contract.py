"""What every engine of the store must do; tests/store/test_*.py run it against each of them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from podless.store import Change, Compacted, Conflicted, State, Store, Write


async def put(store: Store, key: str, value: bytes, expect: int = 0) -> int:
    return await store.commit(Write(key, value, 0, expect))


class Contract:
    """Subclasses give the fixture `store`: an open, empty engine."""

    async def test_revisions_count_up_from_one(self, store: Store) -> None:
        assert store.revision == 0
        assert await put(store, "/g/r/a", b"1") == 1
        assert await put(store, "/g/r/b", b"2") == 2
        assert store.revision == 2

    async def test_a_record_keeps_its_mark_and_its_creation(self, store: Store) -> None:
        await store.commit(Write("/g/r/a", b"one", 2, 0))
        await store.commit(Write("/g/r/a", b"two", 1, 1))
        (record,), revision = await store.range("/g/r/")
        assert record == ("/g/r/a", b"two", 1, 2, 1)
        assert revision == 2

    async def test_a_create_fails_where_the_key_exists(self, store: Store) -> None:
        await put(store, "/g/r/a", b"1")
        with pytest.raises(Conflicted) as caught:
            await put(store, "/g/r/a", b"2")
        assert caught.value.actual == 1

    async def test_an_update_fails_at_another_revision(self, store: Store) -> None:
        await put(store, "/g/r/a", b"1")
        await put(store, "/g/r/a", b"2", expect=1)
        with pytest.raises(Conflicted) as caught:
            await put(store, "/g/r/a", b"3", expect=1)
        assert caught.value.actual == 2

    async def test_states_that_follow_are_changes_of_their_own(self, store: Store) -> None:
        seen: list[Change] = []
        store.subscribe(seen.extend)
        assert await store.commit(Write("/g/r/a", b"1", 0, 0), State(b"22", 1), State(b"3", 0)) == 3
        assert [(change.revision, change.record) for change in seen] == [
            (1, ("/g/r/a", b"1", 0, 1, 1)),
            (2, ("/g/r/a", b"22", 1, 2, 1)),
            (3, ("/g/r/a", b"3", 0, 3, 1)),
        ]
        with pytest.raises(Conflicted):
            await store.commit(Write("/g/r/a", b"4", 0, 2), State(b"5", 0))
        assert store.revision == 3

    async def test_a_delete_of_nothing_fails(self, store: Store) -> None:
        with pytest.raises(Conflicted) as caught:
            await store.commit(Write("/g/r/a", None, 0, 0))
        assert caught.value.actual == 0

    async def test_a_deleted_key_is_free_again(self, store: Store) -> None:
        await put(store, "/g/r/a", b"1")
        await store.commit(Write("/g/r/a", None, 0, 1))
        assert (await store.range("/g/r/"))[0] == []
        assert await put(store, "/g/r/a", b"2") == 3
        assert (await store.range("/g/r/"))[0][0].created == 3

    async def test_a_failed_write_takes_no_revision(self, store: Store) -> None:
        await put(store, "/g/r/a", b"1")
        with pytest.raises(Conflicted):
            await put(store, "/g/r/a", b"2")
        assert await put(store, "/g/r/b", b"3") == 2

    async def test_a_range_is_in_key_order_and_stays_below_its_prefix(self, store: Store) -> None:
        for key in ("/g/r/b", "/g/rr/x", "/g/r/a", "/g/q/y", "/g/r/é"):
            await put(store, key, b"")
        keys = [record.key for record in (await store.range("/g/r/"))[0]]
        assert keys == ["/g/r/a", "/g/r/b", "/g/r/é"]

    async def test_of_writes_to_one_key_at_one_time_one_wins(self, store: Store) -> None:
        outcomes = await asyncio.gather(*(put(store, "/g/r/a", b"%d" % i) for i in range(10)), return_exceptions=True)
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Conflicted"] * 9 + ["int"]

    async def test_subscribers_see_every_change_in_order_before_the_writer_goes_on(self, store: Store) -> None:
        seen: list[Change] = []

        def take(changes: Sequence[Change]) -> None:
            seen.extend(changes)

        store.subscribe(take)
        revision = await put(store, "/g/r/a", b"1")
        assert [change.revision for change in seen] == [revision]
        await asyncio.gather(*(put(store, f"/g/r/b{i}", b"") for i in range(20)))
        await store.commit(Write("/g/r/a", None, 0, revision))
        assert [change.revision for change in seen] == list(range(1, 23))
        assert seen[-1].record is None

    async def test_an_earlier_state_can_be_read(self, store: Store) -> None:
        await put(store, "/g/r/a", b"1")
        await put(store, "/g/r/b", b"2")
        await store.commit(Write("/g/r/a", None, 0, 1))
        await put(store, "/g/r/b", b"3", expect=2)
        assert [(r.key, r.value) for r in await store.range_at("/g/r/", 2)] == [("/g/r/a", b"1"), ("/g/r/b", b"2")]
        assert [(r.key, r.value) for r in await store.range_at("/g/r/", 3)] == [("/g/r/b", b"2")]

    async def test_changes_tell_what_they_replaced(self, store: Store) -> None:
        await put(store, "/g/r/a", b"1")
        await put(store, "/g/q/x", b"")
        await put(store, "/g/r/a", b"2", expect=1)
        await store.commit(Write("/g/r/a", None, 0, 3))
        changes = await store.changes("/g/r/", 1)
        assert [change.revision for change in changes] == [3, 4]
        assert changes[0].before is not None
        assert changes[0].before.value == b"1"
        assert changes[1].record is None
        assert changes[1].before is not None
        assert changes[1].before.value == b"2"
        assert (await store.changes("/g/r/", 0))[0].before is None

    async def test_compaction_forgets_what_was_replaced_and_keeps_what_is(self, store: Store) -> None:
        await put(store, "/g/r/a", b"1")
        await put(store, "/g/r/b", b"2")
        await put(store, "/g/r/a", b"3", expect=1)
        await store.commit(Write("/g/r/b", None, 0, 2))
        await put(store, "/g/r/c", b"5")
        await store.compact(4)
        assert store.floor == 4
        assert [(r.key, r.value) for r in (await store.range("/g/r/"))[0]] == [("/g/r/a", b"3"), ("/g/r/c", b"5")]
        assert [r.key for r in await store.range_at("/g/r/", 4)] == ["/g/r/a"]
        assert [change.revision for change in await store.changes("/g/r/", 4)] == [5]
        for reading in (store.range_at("/g/r/", 3), store.changes("/g/r/", 3)):
            with pytest.raises(Compacted) as caught:
                await reading
            assert caught.value.floor == 4

    async def test_what_a_later_delete_took_away_survives_compaction_up_to_then(self, store: Store) -> None:
        await put(store, "/g/r/a", b"1")
        await put(store, "/g/r/b", b"2")
        await store.commit(Write("/g/r/a", None, 0, 1))
        await store.compact(2)
        change = (await store.changes("/g/r/", 2))[0]
        assert change.before is not None
        assert change.before.value == b"1"
