"""Sums for quotas: they are those of all objects, and cost what has changed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podless.apis.core import metering, usage
from podless.apis.core.admission.resourcequota import _Booking
from podless.apis.core.group import CLAIMS
from podless.apis.core.metering import Meter
from podless.cache.cache import Cache
from podless.cache.watchcache import WatchCache
from podless.codec import quantity
from podless.kinds import view
from podless.store import Operation, StoreChange
from podless.store.sqlite import SQLiteStore

NAMES = ["requests.storage", "persistentvolumeclaims", "fast.storageclass.storage.k8s.io/requests.storage"]
FAST: dict[str, Any] = {"spec": {"scopes": ["VolumeAttributesClass"]}}
ALL: dict[str, Any] = {"spec": {}}


class Claims:
    """Claims in a store, and what is known of them."""

    def __init__(self, store: SQLiteStore, collection: WatchCache) -> None:
        self.store, self.collection = store, collection

    async def put(self, namespace: str, name: str, storage: str | None, class_: str = "", chosen: str = "") -> None:
        """Store a claim; for None delete it."""
        key = CLAIMS.key(namespace, name)
        entry = self.collection.get(key)
        revision = entry.revision if entry is not None else 0
        spec: dict[str, Any] = {"resources": {"requests": {"storage": storage}}}
        spec |= {"storageClassName": class_, "volumeAttributesClassName": chosen}
        head = {"kind": "PersistentVolumeClaim", "apiVersion": "v1"}
        stored = view.encode_object(CLAIMS, head | {"metadata": {"name": name, "namespace": namespace}, "spec": spec})
        if storage is not None or revision:
            await self.store.commit([Operation(key, stored if storage is not None else None, revision)])

    def naively(self, namespace: str, quota: dict[str, Any]) -> dict[str, str]:
        """What the claims use, added up one by one."""
        measure = usage.find_measure(CLAIMS)
        assert measure is not None
        found = [measure(entry.decode()) for entry in self.collection.entries_under(CLAIMS.keys.scope(namespace))[0]]
        held = [one for one in found if usage.make_scope_matcher(quota)(one)]
        return {
            name: quantity.add_quantities([one.amounts[name] for one in held if name in one.amounts]) for name in NAMES
        }


@asynccontextmanager
async def claims() -> AsyncIterator[Claims]:
    store = SQLiteStore(None)
    cache = Cache(store)
    await store.open()
    await cache.open()
    collection = cache.collection(CLAIMS.keys)
    await collection.load()
    yield Claims(store, collection)
    await store.close()


amounts = st.sampled_from(["1Gi", "500M", "0", "1e3", "512"])
writes = st.tuples(
    st.sampled_from(["one", "two"]), st.sampled_from("abcd"), st.none() | amounts, st.sampled_from(["", "fast"]),
    st.sampled_from(["", "gold"]),
)  # fmt: skip


async def play(steps: list[Any], most: int, changes: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metering, "MAX", most)
        patch.setattr(metering, "_CHANGES", changes)
        async with claims() as there:
            meter = Meter()
            for number, step in enumerate(steps):
                await there.put(*step)
                if number % 3:
                    continue
                for namespace in ("one", "two"):
                    for quota in (ALL, FAST):
                        used = meter.measure_usage(CLAIMS, there.collection, namespace, quota, NAMES)
                        assert used == there.naively(namespace, quota)


@settings(deadline=None)
@given(st.lists(writes, max_size=30), st.sampled_from([1, 8, 1000]), st.sampled_from([2, 1000]))
async def test_sums_are_those_of_all_objects(steps: list[Any], most: int, changes: int) -> None:
    await play(steps, most, changes)


@pytest.mark.parametrize("gone", [False, True])
async def test_what_others_change_between_two_slices_is_in_the_sum(monkeypatch: pytest.MonkeyPatch, gone: bool) -> None:
    async with claims() as there:
        for number in range(20):
            await there.put("one", f"c{number:02}", "1Gi")
        meter, revision, charged = Meter(), there.collection.changed, 0

        def charge(steps: int) -> None:
            nonlocal charged
            charged += 1
            if charged in (10, 25, 40, 45):  # as if another request had its turn here
                key = CLAIMS.key("one", f"c{charged % 20:02}")
                event = there.collection.apply_change(StoreChange(key, revision + charged, None))
                assert event is not None
                there.collection.publish_events([event])
                if gone:
                    meter._note_events(CLAIMS, there.collection, [])
                meter.measure_usage(CLAIMS, there.collection, "one", ALL, NAMES[:1])

        monkeypatch.setattr(metering, "charge", charge)
        found = meter.measure_usage(CLAIMS, there.collection, "one", ALL, NAMES)
        assert charged > 45
        assert found | meter.measure_usage(CLAIMS, there.collection, "one", ALL, NAMES[:1]) == there.naively("one", ALL)


@pytest.mark.parametrize("place", range(1, 6))
async def test_a_sum_may_be_brought_up_to_date_by_another_who_asks_for_it(
    monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    async with claims() as there:
        meter = Meter()

        def used() -> dict[str, str]:
            return meter.measure_usage(CLAIMS, there.collection, "one", ALL, NAMES[:1])

        charges = 0

        def charge(steps: int) -> None:
            nonlocal charges
            charges += 1
            if charges == place:
                used()

        monkeypatch.setattr(metering, "charge", charge)
        for number in range(3):
            await there.put("one", f"c{number}", "1Gi")
            charges = 0
            assert used() == {NAMES[0]: f"{number + 1}Gi"}
        assert meter.amount_count == 3


async def test_a_change_that_another_includes_meanwhile_is_included_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async with claims() as there:
        meter, turns = Meter(), 0
        real = usage.make_scope_matcher

        def used() -> dict[str, str]:
            return meter.measure_usage(CLAIMS, there.collection, "one", ALL, NAMES[:1])

        def make_scope_matcher(quota: Any) -> Any:
            applies = real(quota)

            def match(found: Any) -> bool:  # it charges for many expressions
                nonlocal turns
                if turns:
                    turns -= 1
                    used()  # as if another request had its turn here
                return applies(found)

            return match

        await there.put("one", "c", "1Gi")
        assert used() == {NAMES[0]: "1Gi"}
        monkeypatch.setattr(usage, "make_scope_matcher", make_scope_matcher)
        for number in range(2, 5):
            await there.put("one", "c", f"{number}Gi")
            turns = 1
            assert used() == {NAMES[0]: f"{number}Gi"}


async def test_a_sum_costs_what_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    measured, steps = list[Any](), list[int]()
    measure = usage.find_measure(CLAIMS)
    assert measure is not None

    def measuring(claim: Any) -> usage.Usage:
        measured.append(claim)
        return measure(claim)

    monkeypatch.setattr(usage, "find_measure", lambda kind: measuring)
    monkeypatch.setattr(metering, "charge", steps.append)
    async with claims() as there:
        for number in range(500):
            await there.put("one", f"c{number}", "1Gi")
        meter = Meter()
        assert meter.measure_usage(CLAIMS, there.collection, "one", ALL, NAMES)["requests.storage"] == "500Gi"
        assert len(measured) == 500
        for number in range(500, 505):
            await there.put("one", f"c{number}", "1Gi")
            measured.clear()
            steps.clear()
            assert (
                meter.measure_usage(CLAIMS, there.collection, "one", ALL, NAMES)["requests.storage"]
                == f"{number + 1}Gi"
            )
            assert len(measured) == 1
            assert sum(steps) < 200
        assert meter.amount_count == 2 * 505  # of each claim its size, and that it is one


async def test_sums_of_many_objects_give_way_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metering, "MAX", 50)
    async with claims() as there:
        meter = Meter()
        for space in "abcdefgh":
            for number in range(10):
                await there.put(space, f"c{number}", "1Gi")
            assert meter.measure_usage(CLAIMS, there.collection, space, ALL, NAMES)["requests.storage"] == "10Gi"
        assert meter.amount_count == 50


async def test_sums_of_nothing_give_way_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metering, "_SUMS", 5)
    async with claims() as there:
        meter = Meter()
        for space in "abcdefgh":
            assert set(meter.measure_usage(CLAIMS, there.collection, space, ALL, NAMES).values()) == {"0"}
        assert sum(len(space.sums) for space in meter._spaces.values()) == meter._sums == 5


async def test_a_write_is_charged_again_only_where_something_has_changed() -> None:
    async with claims() as there:
        worked = list[int]()

        def work() -> list[Operation]:
            worked.append(there.collection.changed)
            return []

        book = _Booking(work, (there.collection,))
        assert book() is book()
        assert len(worked) == 1
        await there.put("one", "a", "1Gi")
        book()
        assert len(worked) == 2
