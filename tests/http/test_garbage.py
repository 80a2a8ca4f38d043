"""What a refused request was about is free once it is answered: nothing of it waits for the collector of cycles."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

import podless
from podless.auth.user import User
from podless.http import fairness
from podless.http.limits import Limits
from podless.http.message import HTTPRequest, Response
from podless.meta.errors import BadRequest
from podless.offload import offloop
from tests.conftest import Client
from tests.cost import Allowance

SOURCE = str(Path(podless.__file__).parent)
MAPS = "/api/v1/namespaces/default/configmaps"


@contextmanager
def no_frames_left() -> Iterator[None]:
    """Fails where frames of ours, and so all that they know, are in circles after what is done within it."""
    gc.collect()
    gc.disable()
    try:
        yield
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        gc.set_debug(0)
        codes = [found.f_code for found in gc.garbage if isinstance(found, FrameType)]
        gc.garbage.clear()
    finally:
        gc.set_debug(0)
        gc.enable()
    left = [code.co_qualname for code in codes if code.co_filename.startswith(SOURCE)]
    assert not left, left


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"a": 1e999}', 400),
        (b'{"metadata": {"name": "a"}, "data": {"a": 1}}', 400),
        (b'{"metadata": {"name": "a"}, "data": {' + b'"a": "b", ' * 30_000, 400),
        (b'{"metadata": {"name": "a"}, "data": {"a/b": "' + b"x" * 300_000 + b'"}}', 422),
        (b'{"metadata": {"name": "a", "labels": {"a": "' + b"x" * 40_000 + b'"}}}', 422),
    ],
    ids=["number", "type", "long and cut off", "long and invalid", "a long label"],
)
def test_bodies_that_are_refused(client: Client, body: bytes, status: int) -> None:
    with no_frames_left():
        for _ in range(3):
            assert client.post(MAPS, body).status == status


def test_bodies_whose_work_is_cut_off(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    body = (
        b'{"metadata": {"name": "a"}, "data": {' + b", ".join(b'"k%d": "v"' % number for number in range(5000)) + b"}}"
    )
    monkeypatch.setattr(offloop, "make_meter", lambda seconds, loop: Allowance(1000))
    with no_frames_left():
        for _ in range(3):
            assert client.post(MAPS, body).status == 504


async def test_a_request_that_waited_and_was_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fairness, "_TURN", 0.0)  # nothing is begun at once

    def refuse(request: HTTPRequest) -> Response:
        raise BadRequest("no")

    flow = fairness.PriorityAndFairness(Limits())
    flow.filter(refuse)
    flow._remaining = 0.0
    request = HTTPRequest.of("GET", "/", {})
    request.user = User("a")
    answer = flow._handle_shared("a", request)
    monkeypatch.setattr(fairness, "_TURN", 0.002)
    assert asyncio.iscoroutine(answer)
    with no_frames_left():
        with pytest.raises(BadRequest):
            await answer
        del answer
