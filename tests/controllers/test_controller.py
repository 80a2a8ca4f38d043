"""What all controllers share: keys come once, come again when they fail, and a failure is told and does not last."""

from __future__ import annotations

import asyncio
from collections import Counter
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.apis.core.group import CONFIG_MAPS
from podless.controllers.controller import Controller
from podless.controllers.workqueue import WorkQueue
from podless.runtime.watchdog import Watchdog
from podless.store import KEPT, Operation, StoreError
from podless.verbs.call import API
from podless.verbs.followup import FollowUps
from podless.verbs.storage import GUARD


class Failing(Controller):
    """Fails as often as it is told to, in the way it is told to."""

    name = "failing"

    def __init__(self, *errors: Exception) -> None:
        super().__init__(cast(API, SimpleNamespace(watchdog=Watchdog(), follow_ups=FollowUps())))
        self.errors = list(errors)
        self.asked: Counter[str] = Counter()
        self.done = asyncio.Event()

    async def reconcile(self, key: str) -> None:
        self.asked[key] += 1
        if self.errors:
            raise self.errors.pop()
        self.done.set()


@pytest.mark.parametrize("error", [StoreError("the disk is full"), ValueError("a bug")])
async def test_what_fails_is_told_and_tried_again(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    failing = Failing(error)
    await failing.start()
    failing.queue.add("a")
    await failing.reconcile_all()
    assert failing.error.startswith("a: ")
    assert "controllers: failing failed on a, trying again: " in caplog.text
    await failing.done.wait()
    await failing.reconcile_all()
    assert failing.asked == {"a": 2}
    assert failing.error == ""
    await failing.stop()


async def test_one_that_fails_keeps_no_other_waiting() -> None:
    failing = Failing(ValueError())
    await failing.start()
    for key in "ab":
        failing.queue.add(key)
    await failing.done.wait()
    assert failing.asked["a"] == failing.asked["b"] == 1
    await failing.stop()


async def test_long_work_is_begun_again_where_it_fails() -> None:
    failing = Failing(StoreError("not now"))
    await failing.start()
    failing.run_once("a", lambda: failing.reconcile("a"))
    failing.run_once("a", lambda: failing.reconcile("a"))  # it is under way
    await failing.done.wait()
    assert failing.asked == {"a": 2}
    await failing.stop()


async def test_a_flush_from_within_does_not_wait_for_itself() -> None:
    class Inward(Failing):
        async def reconcile(self, key: str) -> None:
            await self.reconcile_all()
            await super().reconcile(key)

    inward = Inward()
    await inward.start()
    inward.queue.add("a")
    await inward.reconcile_all()
    assert inward.asked == {"a": 1}
    await inward.stop()


class Slow(Failing):
    """Does one key at once, and the others when they may go on."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.go_on = asyncio.Event(), asyncio.Event()

    async def reconcile(self, key: str) -> None:
        if key != "quick":
            self.begun.set()
            await self.go_on.wait()
        await super().reconcile(key)


@pytest.mark.parametrize("first", ["slow", "quick"])
async def test_who_waits_for_a_key_waits_for_no_other(first: str) -> None:
    slow = Slow()
    await slow.start()
    slow.queue.add("slow")
    if first == "slow":
        await slow.begun.wait()  # the worker is at it
    slow.queue.add("quick")
    await slow.after_commit("quick")
    assert slow.asked == {"quick": 1}
    assert not slow.go_on.is_set()
    slow.go_on.set()
    await slow.after_commit("slow")
    assert slow.asked == {"quick": 1, "slow": 1}
    await slow.stop()


async def test_who_waits_for_a_key_waits_until_what_was_written_meanwhile_is_done_too() -> None:
    slow = Slow()
    await slow.start()
    slow.queue.add("slow")
    await slow.begun.wait()
    slow.queue.add("slow")  # while it is being worked on
    waiting = asyncio.ensure_future(slow.after_commit("slow"))
    slow.go_on.set()
    await waiting
    assert slow.asked == {"slow": 2}
    await slow.stop()


async def test_many_wait_for_their_keys_at_once() -> None:
    slow = Slow()
    await slow.start()
    names = [f"slow-{number}" for number in range(1000)]
    for name in names:
        slow.queue.add(name)
    waiting = asyncio.gather(*(slow.after_commit(name) for name in names))
    await slow.begun.wait()
    slow.go_on.set()
    await waiting
    assert slow.asked == dict.fromkeys(names, 1)
    await slow.stop()


async def test_who_waits_for_a_key_that_fails_is_let_go() -> None:
    failing = Failing(ValueError())
    await failing.start()
    failing.queue.add("a")
    await failing.after_commit("a")
    assert failing.asked == {"a": 1}
    await failing.stop()
    await failing.after_commit("a")


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["add", "take", "done", "fail"]))))
def test_a_key_is_with_one_worker_at_a_time_and_none_is_lost(steps: list[tuple[str, str]]) -> None:
    async def scenario() -> None:
        queue = WorkQueue()
        taken: set[str] = set()
        wanted: set[str] = set()
        for key, step in steps:
            if step == "add":
                queue.add(key)
                wanted.add(key)
            elif step == "take":
                for one in queue.take_due(1):
                    assert one in wanted
                    assert one not in taken
                    taken.add(one)
                    wanted.discard(one)
            elif key in taken:
                taken.discard(key)
                queue.finish_key(key, failed=step == "fail")
                if step == "fail":
                    assert key in queue._failures
        for one in list(taken):
            queue.finish_key(one)
        assert wanted <= set(queue.take_due(10))
        assert not queue.take_due(10)

    asyncio.run(scenario())


class Awaited(Failing):
    """Has writes of config maps wait for it, and notes on which condition it writes."""

    awaited = (CONFIG_MAPS,)

    def __init__(self) -> None:
        super().__init__()
        self.guards: list[Operation | None] = []

    async def reconcile(self, key: str) -> None:
        self.guards.append(GUARD.get())


async def test_writes_wait_for_a_controller_while_it_runs() -> None:
    controller = Awaited()
    follow_ups = controller.api.follow_ups
    assert follow_ups.find_follow_up(CONFIG_MAPS) is None
    for _ in range(2):  # a server may lose its lease and get it again
        await controller.start()
        assert follow_ups.find_follow_up(CONFIG_MAPS) is controller
        await controller.stop()
        assert follow_ups.find_follow_up(CONFIG_MAPS) is None


async def test_a_controller_writes_on_the_condition_that_it_was_started_with() -> None:
    """Also for a request that waits for it, which has no condition, or another."""
    controller, guard = Awaited(), Operation("/podless/leaders/controllers", KEPT, 7)

    async def start() -> None:
        GUARD.set(guard)
        await controller.start()

    await asyncio.create_task(start())
    controller.queue.add("a")
    await controller.reconcile_all()
    assert controller.guards == [guard]
    assert GUARD.get() is None
    await controller.stop()
