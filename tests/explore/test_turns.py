"""Turns: in which order requests, answers and events pass, and what lets the next one pass."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

from podless.explore.turns import ANSWER, EVENT, REQUEST, Take, Turns
from podless.explore.views import Hold, ResourceView
from podless.http.message import Sink, Stream


async def _rest(turns: Turns) -> None:
    """Let others run, and return when no request is being carried out."""
    for _ in range(5):
        await asyncio.sleep(0)
    while turns.busy:  # noqa: ASYNC110
        await asyncio.sleep(0)


async def _pass_all(turns: Turns) -> None:
    async with asyncio.timeout(10):
        while turns.has_waiting or turns.busy:  # noqa: ASYNC110
            await asyncio.sleep(0)


async def test_events_pass_first_then_answers_then_requests() -> None:
    turns, passed = Turns(_rest), list[str]()

    def note(name: str) -> Take:
        return lambda came: passed.append(name)

    for name, rank in {
        "list": (REQUEST, 0, "b"),
        "get": (REQUEST, 0, "a"),
        "answer": (ANSWER, 3, ""),
        "second": (EVENT, 4, "a"),
        "first": (EVENT, 3, "b"),
    }.items():
        turns.queue_turn(rank, "controller", note(name))
    await _pass_all(turns)
    assert passed == ["first", "second", "answer", "get", "list"]
    turns.end_turns()


async def test_a_request_that_steps_aside_lets_events_pass_but_no_request() -> None:
    turns, passed = Turns(_rest), list[str]()

    async def write(name: str) -> None:
        assert await turns.enter_turn((REQUEST, 0, name), "controller")
        passed.append(f"{name} begins")
        turns.queue_turn((EVENT, 1, ""), "controller", lambda came: passed.append(f"event of {name}"))
        assert await turns.step_aside(turns.enter_turn((ANSWER, 1, name), "controller"))
        passed.append(f"{name} ends")
        turns.leave_turn()

    async with asyncio.timeout(10):
        await asyncio.gather(write("b"), write("a"))
    assert passed == ["a begins", "event of a", "a ends", "b begins", "event of b", "b ends"]
    assert turns.busy == 0
    turns.end_turns()


async def test_a_request_that_is_repeated_holds_up_no_other() -> None:
    turns, passed = Turns(_rest), list[str]()

    def repeat(came: bool) -> None:
        passed.append("a")
        if len(passed) < 9:
            turns.queue_turn((REQUEST, turns.given_count, "a"), "controller", repeat)

    turns.queue_turn((REQUEST, turns.given_count, "a"), "controller", repeat)
    turns.queue_turn((REQUEST, turns.given_count, "b"), "controller", lambda came: passed.append("b"))
    await _pass_all(turns)
    assert passed[:2] == ["a", "b"]
    turns.end_turns()


async def test_a_killed_client_gets_no_turn() -> None:
    turns = Turns(_rest)
    killed = asyncio.create_task(turns.enter_turn((REQUEST, 0, "a"), "one"))
    other = asyncio.create_task(turns.enter_turn((REQUEST, 0, "b"), "two"))
    await asyncio.sleep(0)
    turns.drop_client("one")
    async with asyncio.timeout(10):
        assert not await killed
        assert await other
    turns.leave_turn()
    assert turns.busy == 0
    turns.end_turns()


async def test_a_closed_connection_keeps_nobody_waiting() -> None:
    turns = Turns(_rest)
    closed = asyncio.create_task(turns.enter_turn((REQUEST, 0, "a"), "controller"))
    await asyncio.sleep(0)
    closed.cancel()
    await asyncio.gather(closed, return_exceptions=True)
    await _pass_all(turns)
    assert turns.busy == 0
    turns.end_turns()


class _Sink:
    def __init__(self) -> None:
        self.sent: list[bytes] = []

    def send(self, data: bytes) -> bool:
        self.sent.append(data)
        return True

    def send_initial(self, pieces: Iterator[bytes]) -> None:
        self.sent += pieces

    def end(self) -> None:
        self.sent.append(b"end")


def _open_watch(turns: Turns, name: str, seen: list[bytes], client: Sink | None = None) -> tuple[ResourceView, Sink]:
    view = ResourceView(
        seen.append, lambda revision, take: turns.queue_turn((EVENT, revision, name), "controller", take)
    )
    opened: list[Sink] = []

    def start(sink: Sink) -> Callable[[], None]:
        opened.append(sink)
        return lambda: None

    view.wrap_stream(Stream(start)).start(client or _Sink())
    return view, opened[0]


def _event(revision: int) -> bytes:
    return b'{"type":"ADDED","object":{"metadata":{"resourceVersion":"%d"}}}\n' % revision


async def test_events_of_two_watches_pass_by_revision_and_held_ones_after_the_release() -> None:
    turns, seen = Turns(_rest), list[bytes]()
    (beds, first), (gardens, second) = _open_watch(turns, "beds", seen), _open_watch(turns, "gardens", seen)
    second.send(_event(2) + _event(4))
    first.send(_event(3))
    await _pass_all(turns)
    assert seen == [_event(2), _event(3), _event(4)]
    beds.hold = Hold(1)
    first.send(_event(5))
    second.send(_event(6))
    await _pass_all(turns)
    assert seen[3:] == [_event(6)]
    assert beds.release_events(drop=False)
    assert not gardens.release_events(drop=False)
    await _pass_all(turns)
    assert seen[4:] == [_event(5)]
    turns.end_turns()


async def test_a_watch_that_is_cut_ends_with_410() -> None:
    turns, sink = Turns(_rest), _Sink()
    view, opened = _open_watch(turns, "beds", [], sink)
    opened.send(_event(2))
    assert view.cut_watches()
    await _pass_all(turns)
    assert b'"code":410' in sink.sent[0]
    assert sink.sent[1:] == [b"end"]
    assert not view.cut_watches()
    turns.end_turns()
