"""Whether what clients saw can have happened one thing after the other, each thing between its call and its answer.

Wing and Gong's search with Lowe's memory of what was tried, key by key, for a history is linearizable if it is so for
each key alone. A write of which nobody was told what became of it may have happened at any time from its call on, or
not at all.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

UNKNOWN = math.inf  # the end of a write whose outcome nobody knows


class Operation(NamedTuple):
    """One thing that a client did with one key.

    kind: get, create, update or delete. value: that was read or written. expect: the value that an update is to
    replace. ok: the answer; of a get whether there was anything. start, end: when it was called and answered, in any
    unit. absent: why an update failed.
    """

    key: str
    kind: str
    ok: bool
    start: float
    end: float
    value: str = ""
    expect: str = ""
    absent: bool = False


State = str | None  # the value of a key, None for absent


def step(state: State, done: Operation) -> tuple[bool, State]:
    """Whether an operation may meet a state with the answer that it got, and the state after it."""
    kind = done.kind
    if kind == "get":
        return state == (done.value if done.ok else None), state
    if kind == "create":
        may = (state is None) == done.ok
        return may, done.value if done.ok else state
    if kind == "delete":
        return (state is not None) == done.ok, None
    if done.ok:
        return state == done.expect, done.value
    return state is None if done.absent else state is not None and state != done.expect, state


class _Node:
    """A call or an answer in the list of what is not in order yet."""

    __slots__ = ("answer", "bit", "following", "of", "previous")

    def __init__(self, of: Operation | None, bit: int) -> None:
        self.of = of  # None for an answer
        self.bit = bit
        self.answer: _Node | None = None
        self.previous: _Node | None = None
        self.following: _Node | None = None

    def take_out(self) -> None:
        for node in (self, self.answer):
            if node is not None:
                assert node.previous is not None
                node.previous.following = node.following
                if node.following is not None:
                    node.following.previous = node.previous

    def put_back(self) -> None:
        for node in (self.answer, self):
            if node is not None:
                assert node.previous is not None
                node.previous.following = node
                if node.following is not None:
                    node.following.previous = node


def _chain(history: Sequence[Operation]) -> _Node:
    """All calls and answers in the order of time, behind a node that is neither."""
    events: list[tuple[float, int, _Node]] = []
    for number, each in enumerate(history):
        call = _Node(each, 1 << number)
        events.append((each.start, 0, call))  # what touches overlaps
        if each.end != UNKNOWN:
            call.answer = _Node(None, 0)
            events.append((each.end, 1, call.answer))
    events.sort(key=lambda event: event[:2])
    head = last = _Node(None, 0)
    for _, _, node in events:
        last.following, node.previous = node, last
        last = node
    return head


def _one(history: Sequence[Operation]) -> bool:
    """Whether the history of one key is linearizable; it begins absent."""
    head = _chain(history)
    left = sum(each.end != UNKNOWN for each in history)
    state: State = None
    ordered = 0
    tried: set[tuple[int, State]] = set()
    stack: list[tuple[_Node, State]] = []
    node = head.following
    while left:
        assert node is not None, "an answer comes before the end"
        if node.of is not None:
            may, after = step(state, node.of)
            if may and (ordered | node.bit, after) not in tried:
                tried.add((ordered | node.bit, after))
                stack.append((node, state))
                state, ordered, left = after, ordered | node.bit, left - (node.answer is not None)
                node.take_out()
                node = head.following
            else:
                node = node.following
        elif not stack:
            return False
        else:  # what is answered here must have been before
            node, state = stack.pop()
            ordered, left = ordered & ~node.bit, left + (node.answer is not None)
            node.put_back()
            node = node.following
    return True


def wrong(history: Iterable[Operation]) -> list[str]:
    """The keys whose history is not linearizable."""
    of: dict[str, list[Operation]] = defaultdict(list)
    for each in history:
        of[each.key].append(each)
    return sorted(key for key, each in of.items() if not _one(each))
