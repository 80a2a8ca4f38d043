"""The loop in which clients try again."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from podless.remote.cluster import (
    Conflicting,
    MissingServiceAccount,
    Refused,
    RemoteBusy,
    RemoteGone,
    make_refusal,
    retry_call,
)

NO_ACCOUNT = 'pods "a" is forbidden: error looking up service account ns/default: serviceaccount "default" not found'


class Work:
    """Fails with each of some errors, then succeeds."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.calls = 0

    async def __call__(self) -> int:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return self.calls


@pytest.fixture
def rests(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that were slept; nobody sleeps."""
    found: list[float] = []

    async def sleep(seconds: float) -> None:
        found.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    return found


def conflicts(count: int) -> list[Exception]:
    return [make_refusal(409, {}) for _ in range(count)]


async def test_work_is_done_again_until_it_succeeds(rests: list[float]) -> None:
    assert await retry_call(Work(*conflicts(4)), Conflicting, tries=5) == 5
    assert rests == []


async def test_the_last_error_is_raised_after_so_many_tries() -> None:
    work = Work(*conflicts(9))
    with pytest.raises(Conflicting):
        await retry_call(work, Conflicting, tries=5)
    assert work.calls == 5


async def test_any_other_error_is_raised_at_once() -> None:
    work = Work(*conflicts(1), make_refusal(404, {}), *conflicts(1))
    with pytest.raises(Refused) as caught:
        await retry_call(work, Conflicting, tries=5)
    assert caught.value.code == 404
    assert work.calls == 2


async def test_rests_grow_from_what_a_server_asks_for(rests: list[float]) -> None:
    asked = make_refusal(429, {"details": {"retryAfterSeconds": 2}})
    work = Work(OSError(), asked, make_refusal(503, {}))
    assert await retry_call(work, RemoteBusy, OSError, tries=5, pause=0.1, growth=3.0) == 4
    assert rests == [0.1, 2.0, 6.0]


async def test_time_can_be_the_limit(rests: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    work = Work(*conflicts(9))
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: 10.0 * work.calls)
    with pytest.raises(Conflicting):
        await retry_call(work, Conflicting, seconds=25.0, pause=0.2)
    assert work.calls == 3
    assert rests == [0.2, 0.2]


@pytest.mark.parametrize(
    ("code", "status", "kind"),
    [
        (404, {}, Refused),
        (409, {}, Conflicting),
        (410, {}, RemoteGone),
        (429, {}, RemoteBusy),
        (504, {}, RemoteBusy),
        (403, {"message": "pods is forbidden"}, Refused),
        (403, {"message": NO_ACCOUNT}, MissingServiceAccount),
    ],
)
def test_what_an_answer_is(code: int, status: dict[str, Any], kind: type[Refused]) -> None:
    assert type(make_refusal(code, status)) is kind
