"""A server within the test's own thread: the lines can be counted that a request costs from its head to its answer.

Nothing is done beside the loop there: long bodies and objects are worked on in the same thread as short ones.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Callable, Coroutine, Generator, Iterator
from typing import Any, NamedTuple

import pytest

from podless.app import App, Settings
from podless.http.message import Answer, HTTPRequest, Pending, Response
from podless.offload import offloop
from podless.runtime.bounded import CACHES
from podless.runtime.meter import METER
from podless.verbs import runner
from tests.cost import GROWN, Allowance, Lines, assert_charged, assert_growth

_NEVER = 1 << 40
_ATTEMPTS = 3
_REVISION = re.compile(rb'"resourceVersion":"(\d+)"')


class Ask(NamedTuple):
    """A request. body: bytes, or what is sent as JSON; for a PUT with the resourceVersion that was told last."""

    method: str
    target: str
    body: Any = None
    headers: dict[str, str] = {}


def merge(target: str, body: Any) -> Ask:
    return Ask("PATCH", target, body, {"content-type": "application/merge-patch+json"})


def strategic(target: str, body: Any) -> Ask:
    return Ask("PATCH", target, body, {"content-type": "application/strategic-merge-patch+json"})


def operations(target: str, body: Any) -> Ask:
    return Ask("PATCH", target, body, {"content-type": "application/json-patch+json"})


def applied(target: str, body: Any, manager: str = "m") -> Ask:
    return Ask(
        "PATCH", f"{target}?fieldManager={manager}&force=true", body, {"content-type": "application/apply-patch+yaml"}
    )


class _Uncounted(Lines):
    """Counts nothing."""

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *error: object) -> None:
        pass


class _Counted:
    """A coroutine whose own steps are counted, and nothing that the loop does between them."""

    def __init__(self, work: Coroutine[Any, Any, Answer], count: Lines) -> None:
        self._work = work
        self._count = count

    def __await__(self) -> Generator[Any, Any, Answer]:
        steps = self._work.__await__()
        send: Callable[[Any], Any] = steps.send
        given: Any = None
        while True:
            try:
                with self._count:
                    waits = send(given)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            try:
                send, given = steps.send, (yield waits)
            except BaseException as error:  # the waiting was ended
                send, given = steps.throw, error


class Inside:
    """A server in memory. To be closed."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._app = App(Settings(tls=False, garbage_delay=None))
        self._loop.run_until_complete(self._app.start())
        self._revision = ""
        self.charged = 0  # steps of the last request

    def ask(self, ask: Ask) -> tuple[int, bytes, int]:
        """What comes back: the code, the body, and how many lines it cost."""
        return self._loop.run_until_complete(self._ask(ask))

    def send(self, ask: Ask) -> tuple[int, bytes]:
        """What comes back: the code and the body. Nothing is counted, which takes a third of the time."""
        return self._loop.run_until_complete(self._ask(ask, _Uncounted()))[:2]

    async def _ask(self, ask: Ask, count: Lines | None = None) -> tuple[int, bytes, int]:
        headers = {"authorization": f"Bearer {self._app.token}", "content-type": "application/json", **ask.headers}
        sent = ask.body
        if ask.method == "PUT":
            sent = {**sent, "metadata": {**sent["metadata"], "resourceVersion": self._revision}}
        body = sent if isinstance(sent, bytes) else b"" if sent is None else json.dumps(sent).encode()
        for cache in CACHES:  # nothing is known from before
            cache.clear()
        count, meter = count or Lines(), Allowance()
        METER.set(meter)
        assert self._app.handler is not None
        with count:
            request = HTTPRequest.of(ask.method, ask.target, headers)
            request.body = body
            begun: Answer | Pending = self._app.handler(request)
        answer = await _Counted(begun, count) if isinstance(begun, Coroutine) else begun
        assert isinstance(answer, Response), ask
        with count:
            told = b"".join(bytes(piece) for piece in answer.chunks)
        self.charged = meter.charged
        if found := _REVISION.search(told):
            self._revision = found[1].decode()
        return answer.status, told, count.number

    def assert_linear(
        self, make: Callable[[int], list[Ask]], codes: list[int] | None = None, size: int = 50, *, charged: bool = True
    ) -> None:
        """Fails where one of some requests costs more than its share for inputs of n and 4n.

        charged: also where it is charged less than its share, of those that have a body.

        make: gives them for a size; they are asked one after the other, and are answered with the codes; without
        them with any that blames no server. What a controller does meanwhile can make one of them begin again (a
        conflict): what costs too much is counted anew, and the least of its counts holds.
        """
        for ask in make(size):  # what is only done once
            self.send(ask)
        counts: dict[int, list[int]] = {}
        steps: dict[int, list[int]] = {}
        for attempt in range(1, _ATTEMPTS + 1):
            for grown in (size, GROWN * size):
                found, steps[grown] = self._count(make(grown), codes)
                counts[grown] = [min(pair) for pair in zip(found, counts.get(grown, found), strict=True)]
            try:
                for index, ask in enumerate(make(1)):
                    lines = [told[index] for told in counts.values()]
                    assert_growth(lines, size, str(ask)[:300])
                    if charged and ask.body is not None:
                        assert_charged(lines, [told[index] for told in steps.values()], str(ask)[:300])
                return
            except AssertionError:
                if attempt == _ATTEMPTS:
                    raise

    def _count(self, asked: list[Ask], codes: list[int] | None) -> tuple[list[int], list[int]]:
        """The lines that each of some requests costs, and the steps that it is charged."""
        counts: list[int] = []
        steps: list[int] = []
        for index, ask in enumerate(asked):
            status, told, number = self.ask(ask)
            wanted = status == codes[index] if codes is not None else status < 500
            assert wanted, (status, ask.method, ask.target[:200], told[:600])
            counts.append(number)
            steps.append(self.charged)
        return counts, steps

    def close(self) -> None:
        self._loop.run_until_complete(self._app.stop())
        self._loop.close()


@pytest.fixture(scope="module")
def inside() -> Iterator[Inside]:
    """One for all tests of a file; each takes names of its own."""
    patch = pytest.MonkeyPatch()
    patch.setattr(offloop, "LONG_BYTES", _NEVER)
    patch.setattr(runner, "_MAX_YAML", _NEVER)
    running = Inside()
    before = sys.gettrace()
    yield running
    sys.settrace(before)
    running.close()
    patch.undo()
