"""Bodies are read when somebody wants them; what is held of bodies, answers and streams is bounded."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.auth.user import User
from podless.http.clientmemory import ANSWERS, ClientMemory
from podless.http.message import HTTPRequest, Response
from podless.meta.errors import TooManyRequests
from tests.http.test_connection import serving

HEAD = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n"


class Waiting:
    """Holds something for a client that does not read."""

    def __init__(self, held: ClientMemory, user: str) -> None:
        self.held, self.user, self.size, self.was_cut = held, user, 0, False

    def hold(self, size: int) -> bool:
        done = self.held.charge_holder(self.user, size, ANSWERS, self)
        self.size += size if done else 0
        return done

    def cut_off(self) -> None:
        self.was_cut = True
        size, self.size = self.size, 0
        if size:
            self.held.release_bytes(self.user, size, ANSWERS, self)


def test_an_account_has_a_bound_for_all_and_one_for_each() -> None:
    held = ClientMemory(100)
    held.charge_user("a", 50)
    with pytest.raises(TooManyRequests) as caught:
        held.charge_user("a", 1)
    assert caught.value.details == {"retryAfterSeconds": 1}
    held.charge_user("b", 50)
    with pytest.raises(TooManyRequests):
        held.charge_user("c", 1)
    held.release_bytes("a", 50)
    held.charge_user("c", 50)
    assert (held.total, held.by_purpose["bodies"]) == (100, 100)
    held.unrequested += 26
    assert held.is_crowded


def test_of_one_user_who_has_waited_longest_goes_first() -> None:
    held = ClientMemory(100)
    first, second, third = (Waiting(held, "a") for _ in range(3))
    assert first.hold(20)
    assert second.hold(20)
    assert third.hold(20)
    assert [each.was_cut for each in (first, second, third)] == [True, False, False]
    assert not second.hold(20)  # it is the oldest itself
    assert (held.total, held.cuts) == (40, 1)


def test_bounds_do_not_count_for_what_a_holder_has_alone() -> None:
    held = ClientMemory(100)
    one, two = Waiting(held, "a"), Waiting(held, "b")
    assert held.charge_holder("a", 300, ANSWERS, one, alone=True)
    assert held.charge_holder("a", 10, ANSWERS, one, alone=True)
    assert not held.charge_holder("a", 10, ANSWERS, one)
    assert not held.charge_holder("b", 400, ANSWERS, two, alone=True)  # more than who has most
    held.release_bytes("a", 310, ANSWERS, one)
    assert held.charge_holder("b", 70, ANSWERS, two, alone=True)
    assert not held.charge_holder("b", 10, ANSWERS, one, alone=True)  # it has nothing of what the user has


def test_who_has_most_makes_room_for_others() -> None:
    held = ClientMemory(100)
    greedy = [Waiting(held, "a") for _ in range(5)]
    assert all(each.hold(10) for each in greedy)
    some = [Waiting(held, "b") for _ in range(4)]
    assert all(each.hold(10) for each in some)
    held.charge_user("c", 30)
    assert [each.was_cut for each in (*greedy, *some)] == [True, True, False, False, False, False, False, False, False]
    with pytest.raises(TooManyRequests):
        held.charge_user("c", 20)  # nobody has more than this would be


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 5), st.integers(0, 60), st.booleans()), max_size=60))
def test_no_more_is_held_than_may_be(steps: list[tuple[str, int, int, bool]]) -> None:
    held = ClientMemory(100)
    known = {(user, number): Waiting(held, user) for user in "abcd" for number in range(6)}
    for user, number, size, back in steps:
        if back:
            known[user, number].cut_off()
        else:
            known[user, number].hold(size)
        assert held.total == sum(each.size for each in known.values()) <= 100
        for one in "abcd":
            assert sum(each.size for (name, _), each in known.items() if name == one) <= 50


def test_who_keeps_too_much_of_what_was_replaced_is_cut_off() -> None:
    replaced = 0
    held = ClientMemory(100, lambda: replaced)
    old, new = Waiting(held, "a"), Waiting(held, "b")
    held.begin_read(old)
    replaced = 30
    held.begin_read(new)
    held.cut_off_readers()
    assert not old.was_cut
    replaced = 60
    held.cut_off_readers()
    assert (old.was_cut, new.was_cut) == (True, False)
    held.end_read(new)
    replaced = 600
    held.cut_off_readers()
    assert not new.was_cut


async def test_who_is_refused_need_not_send_a_body() -> None:
    async with serving(lambda request: Response(403)) as connect:
        client = await connect()
        client.send(HEAD % 3_000_000 + b"x" * 100)
        code, headers, _ = await client.answer()
        assert (code, headers["connection"]) == (403, "close")
        assert await client.closed() == b""


async def test_the_rest_of_a_short_body_is_read_and_forgotten() -> None:
    async with serving(lambda request: Response(403)) as connect:
        client = await connect()
        client.send(HEAD % 6 + b"abc")
        code, headers, _ = await client.answer()
        assert (code, "connection" in headers) == (403, False)
        client.send(b"def" + HEAD % 0)
        assert (await client.answer())[0] == 403
        assert connect.listener._shared.memory.total == 0  # type: ignore[attr-defined]


async def test_a_client_that_waits_for_leave_and_is_refused_gets_none() -> None:
    async with serving(lambda request: Response(401)) as connect:
        client = await connect()
        client.send(b"PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
        code, headers, _ = await client.answer()
        assert (code, headers["connection"]) == (401, "close")


async def test_bodies_over_the_bound_are_refused_and_come_again_later() -> None:
    gate, wanted = asyncio.Event(), asyncio.Event()

    async def handler(request: HTTPRequest) -> Response:
        request.user = User("a")
        body = await request.read_body()
        wanted.set()
        await gate.wait()
        return Response(200, [b"%d" % len(body)])

    async with serving(handler, held=2000) as connect:
        one, two = await connect(), await connect()
        one.send(HEAD % 800 + b"x" * 800)
        await wanted.wait()
        two.send(HEAD % 800 + b"x" * 800)
        code, headers, _ = await two.answer()
        assert (code, headers["retry-after"]) == (429, "1")
        gate.set()
        assert (await one.answer())[2] == b"800"
        two.send(HEAD % 800 + b"x" * 800)
        assert (await two.answer())[2] == b"800"
        assert connect.listener._shared.memory.total == 0  # type: ignore[attr-defined]


async def test_what_nobody_wants_is_not_read_on() -> None:
    gate = asyncio.Event()

    async def handler(request: HTTPRequest) -> Response:
        await gate.wait()
        return Response(200, [b"%d" % len(await request.read_body())])

    async with serving(handler) as connect:
        client = await connect()
        size = 3_000_000
        client.send(HEAD % size + b"x" * size)
        bodies = connect.listener._shared.memory  # type: ignore[attr-defined]
        seen = -1
        while bodies.unrequested > seen:  # until no more comes in
            seen = bodies.unrequested
            for _ in range(20):
                await asyncio.sleep(0)
        assert bodies.unrequested < size / 2
        gate.set()
        assert (await client.answer())[2] == b"%d" % size
        assert bodies.total == 0


async def test_a_client_that_leaves_in_the_middle_holds_nothing() -> None:
    done = asyncio.Event()

    async def handler(request: HTTPRequest) -> Response:
        try:
            await request.read_body()
        finally:
            done.set()
        return Response(200)

    async with serving(handler) as connect:
        client = await connect()
        client.send(HEAD % 1000 + b"x" * 500)
        await asyncio.sleep(0)
        client.writer.close()
        await asyncio.wait_for(done.wait(), 60)
        await connect.listener.close()  # type: ignore[attr-defined]
        assert connect.listener._shared.memory.total == 0  # type: ignore[attr-defined]
