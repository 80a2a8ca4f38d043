"""A kind is made ready for work off the loop once for all who wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from podless.kinds.kind import Kind
from podless.meta.aside import Aside
from podless.meta.errors import Timeout
from podless.verbs.call import API
from podless.verbs.ready import make_ready
from tests.kinds.test_kind import kind


@pytest.fixture
def completed(monkeypatch: pytest.MonkeyPatch) -> list[Kind]:
    """The kinds that were completed, each time that they were."""
    found: list[Kind] = []
    complete = Kind.complete

    def told(self: Kind, *more: Callable[[], object]) -> Callable[[], None]:
        found.append(self)
        return complete(self, *more)

    monkeypatch.setattr(Kind, "complete", told)
    return found


def run(work: Callable[[API], Any]) -> Any:
    """Work with as much of an API as is needed."""
    api = SimpleNamespace(aside=Aside(), readying={})

    async def done() -> Any:
        try:
            return await work(cast(API, api))
        finally:
            api.aside.close()

    found = asyncio.run(done())
    assert api.readying == {}
    return found


def test_all_who_wait_for_a_kind_wait_for_the_same(completed: list[Kind]) -> None:
    of = kind("v1")

    async def work(api: API) -> None:
        await asyncio.gather(*(make_ready(api, of) for _ in range(5)))
        await make_ready(api, of)

    run(work)
    assert completed == [of]
    assert of.is_complete


def test_who_goes_away_does_not_end_it_for_others(completed: list[Kind]) -> None:
    of = kind("v1")

    async def work(api: API) -> None:
        first, second = (asyncio.ensure_future(make_ready(api, of)) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        await second

    run(work)
    assert completed == [of]
    assert of.is_complete


def test_one_that_took_too_long_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    of = kind("v1")

    async def work(api: API) -> None:
        with monkeypatch.context() as patched:

            def late(*_: object) -> None:
                raise Timeout("late", {})

            patched.setattr(Kind, "complete", late)
            found = await asyncio.gather(*(make_ready(api, of) for _ in range(2)), return_exceptions=True)
            assert [type(one) for one in found] == [Timeout, Timeout]
        assert not of.is_complete
        await make_ready(api, of)

    run(work)
    assert of.is_complete
