"""Who wants to know the newest revision: what is asked for them, and which answer is theirs."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.cache.newestrevision import RevisionReader


class Store:
    """Answers when it is told to, what was true when it was asked. questions: those that wait; revision: the newest."""

    def __init__(self) -> None:
        self.revision = self.shown = 0
        self.questions: list[tuple[asyncio.Future[int], int]] = []
        self.put = 0
        self.question = RevisionReader(self.ask, lambda: self.shown, self.reach)

    def ask(self) -> Awaitable[int]:
        asked: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.questions.append((asked, self.revision))
        self.put += 1
        return asked

    async def reach(self, revision: int) -> None:
        while self.shown < revision:  # noqa: ASYNC110
            await asyncio.sleep(0)

    def answer(self, at: int = 0) -> None:
        asked, revision = self.questions.pop(at)
        asked.set_result(revision)


async def turns(many: int = 5) -> None:
    for _ in range(many):
        await asyncio.sleep(0)


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    made = Store()
    yield made
    made.shown = made.revision
    while made.questions:
        made.answer()
        await turns()


async def test_all_who_come_in_one_turn_share_a_question(store: Store) -> None:
    waiting = [store.question.wait_until_current() for _ in range(100)]
    await turns()
    assert store.put == 1
    store.answer()
    await asyncio.wait_for(asyncio.gather(*waiting), 60)
    assert store.put == 1


async def test_who_comes_after_a_question_was_put_has_the_next_one(store: Store) -> None:
    first = store.question.wait_until_current()
    await turns()
    second = store.question.wait_until_current()
    await turns()
    store.answer()
    await turns()
    assert first.done()
    assert not second.done()
    store.answer()
    await asyncio.wait_for(second, 60)


async def test_few_questions_are_under_way_at_once(store: Store) -> None:
    waiting = []
    for _ in range(50):
        waiting.append(store.question.wait_until_current())
        await turns()
    assert store.put < 10
    while store.questions:
        store.answer()
        await turns(20)
    await asyncio.wait_for(asyncio.gather(*waiting), 60)
    assert store.put < 10


async def test_one_that_fails_keeps_nobody_from_going_on(store: Store) -> None:
    def fails(error: BaseException | None) -> None:
        raise RuntimeError

    store.question.call_when_current(fails)
    waiting = store.question.wait_until_current()
    await turns()
    store.answer()
    await asyncio.wait_for(waiting, 60)


async def test_why_there_is_no_answer_is_told_to_all_who_waited_for_it(store: Store) -> None:
    waiting = [store.question.wait_until_current() for _ in range(40)]
    await turns()
    later = store.question.wait_until_current()
    store.questions.pop(0)[0].set_exception(OSError("away"))
    for each in waiting:
        with pytest.raises(OSError, match="away"):
            await asyncio.wait_for(each, 60)
    await turns()
    store.answer()
    await asyncio.wait_for(later, 60)


@given(st.integers(0, 1 << 32), st.integers(1, 60))
def test_nobody_goes_on_before_all_is_shown_that_was_written_before(seed: int, many: int) -> None:
    async def play() -> None:
        draw, store = random.Random(seed), Store()
        wrong: list[int] = []
        left = many

        def one(written: int) -> Callable[[BaseException | None], None]:
            def go(error: BaseException | None) -> None:
                nonlocal left
                left -= 1
                if error is not None or store.shown < written:
                    wrong.append(written)

            return go

        parked = 0
        while left:
            step = draw.randrange(5)
            if step == 0 and parked < many:
                parked += 1
                store.question.call_when_current(one(store.revision))
            elif step == 1:
                store.revision += 1
            elif step == 2 and store.shown < store.revision:
                store.shown += 1
            elif step == 3 and store.questions:
                store.answer(draw.randrange(len(store.questions)))
            else:
                await asyncio.sleep(0)
        assert not wrong

    asyncio.run(play())
