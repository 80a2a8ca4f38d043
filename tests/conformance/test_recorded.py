"""What kube-apiserver answered, step by step, is what this server answers.

`python -m tests.conformance show AREA NAME` prints a recording, `replay AREA --filter NAME` what differs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest

from podless import Server
from podless.meta import clock
from tests.conformance import recorded
from tests.conformance.replay import replay
from tests.conformance.servers import running
from tests.conformance.wire import Client

# steps that may differ, each with its reason
KNOWN = {
    "auth/binding-invalid": {8},  # the recorded answer is not what that server gives
}


def title(scenario: recorded.Recording) -> str:
    return f"{scenario['area']}/{scenario['name']}"


def scenarios() -> Iterator[Any]:
    for area in recorded.areas():
        marks = [pytest.mark.slow] if area == recorded.REALWORLD else []
        yield from (pytest.param(one, id=title(one), marks=marks) for one in recorded.scenarios(area))


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running(tls=False) as server:
        yield server


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[Client]:
    client = Client(server.url, server.token)
    yield client
    client.close()


@contextlib.contextmanager
def one_second(server: Server, scenario: recorded.Recording) -> Iterator[None]:
    """A scenario that does not pause was recorded within a second, and managedFields are in the order of seconds."""
    if any(step.get("do") == "pause" for step in scenario["steps"]):
        yield
        return
    now = clock.text(int(server.clock.now().timestamp()))
    with mock.patch.object(clock, "now", return_value=now):
        yield


@pytest.mark.parametrize("scenario", [*scenarios()])
def test_the_recorded_answers_are_given(server: Server, client: Client, scenario: recorded.Recording) -> None:
    with one_second(server, scenario):
        result = replay(client, scenario, lambda seconds: server.clock.advance(seconds=seconds))  # nobody has to wait
    assert {*result.wrong()} <= KNOWN.get(title(scenario), set()), f"\n{result.report(10)}"
