"""What a change costs the garbage collector: behind the write, in slices, and no more than its own references."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

from podless.controllers.garbage import GarbageCollector, GraphOwner, OwnerGraph
from podless.offload.offloop import OffLoop
from podless.store import StoreChange
from podless.store.contract import Record
from podless.store.keys import StoredValue
from tests.cost import Lines

LONG = 2000  # references of an object


def key(name: str) -> str:
    return f"/example.com/gadgets/default/{name}"


def changed(name: str, owners: int) -> StoreChange:
    references = [{"apiVersion": "v1", "kind": "K", "name": f"n{n}", "uid": f"u{n}"} for n in range(owners)]
    value = json.dumps({"metadata": {"ownerReferences": references}}, separators=(",", ":")).encode()
    return StoreChange(key(name), 1, Record(key(name), StoredValue(value), 1, 1))


def deleted(name: str) -> StoreChange:
    return StoreChange(key(name), 2, None)


class Served:
    """A controller without a server. lines: of the last commit that it was told of."""

    def __init__(self) -> None:
        api: Any = SimpleNamespace(off_loop=OffLoop(), registry=_Registry())
        self.garbage = GarbageCollector(api, 0.0)
        self.lines = 0

    def commit(self, *changes: StoreChange) -> None:
        count = Lines()
        with count:
            self.garbage._take_changes(changes)
        self.lines = count.number

    def owners(self, name: str) -> int:
        return len(self.garbage._graph.list_owners(key(name)))


class _Registry:
    """No kinds."""

    generation = 0

    def get(self, *names: str) -> None:
        return None

    def __iter__(self) -> Any:
        return iter(())


def run(work: Any) -> None:
    async def main() -> None:
        served = Served()
        try:
            await work(served)
        finally:
            served.garbage.api.off_loop.close()

    asyncio.run(main())


def test_a_short_change_is_followed_at_once() -> None:
    async def work(served: Served) -> None:
        served.commit(changed("a", 2))
        assert served.owners("a") == 2

    run(work)


def test_long_changes_are_followed_behind_the_write() -> None:
    async def work(served: Served) -> None:
        served.commit(changed("a", LONG), changed("b", 2))
        assert served.lines < LONG / 2
        assert served.garbage.busy
        await served.garbage.reconcile("changes")
        assert (served.owners("a"), served.owners("b")) == (LONG, 2)
        served.commit(deleted("a"))
        assert served.lines < LONG / 2
        await served.garbage.reconcile(key("b"))  # any key comes after all changes
        assert (served.owners("a"), served.owners("b")) == (0, 2)

    run(work)


def test_a_change_comes_after_those_that_wait() -> None:
    async def work(served: Served) -> None:
        served.commit(changed("a", LONG))
        served.commit(changed("a", 1))
        await served.garbage.reconcile("changes")
        assert served.owners("a") == 1

    run(work)


def test_the_other_owners_of_a_dependent_cost_nothing() -> None:
    graph, counts = OwnerGraph(), []
    for others in (0, LONG):
        owners = [GraphOwner("", "K", f"n{number}", "u", False) for number in range(others)]
        graph.put_owners(key("a"), [*owners, GraphOwner("", "K", "wanted", "u", False)])
        count = Lines()
        with count:
            found = graph.list_dependents("", "K", "wanted")
        assert len(found) == 1
        counts.append(count.number)
    assert counts[1] <= counts[0] + 10
