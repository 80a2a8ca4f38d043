"""Two threads that come upon the same lazily made thing at the same moment."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType, MethodType, ModuleType
from typing import Any

Work = Callable[[], object]
_BLOCKED = 1.0  # seconds after which a thread is taken to wait for a lock that the other one has


@contextmanager
def eager() -> Iterator[None]:
    """Have the interpreter change between threads as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def together(*works: Work) -> None:
    """Do each piece of work on a thread of its own; all begin at once. Raises the first error."""
    barrier = threading.Barrier(len(works))

    def meet(work: Work) -> Work:
        def run() -> None:
            barrier.wait(60)
            work()

        return run

    with eager():
        _run_all(list(map(meet, works)))


def interleaved(files: str, one: Work, other: Work, *, seed: int, longest: int = 100, step: str = "line") -> None:
    """Do two pieces of work on two threads that change places at lines of some files, drawn by the seed.

    What the system's scheduler comes upon once in hours is found in some rounds, and again by the same seed. files:
    a part of their paths. longest: lines in a row. step: "opcode" for bytecodes rather than lines. Raises the first
    error.
    """
    draw = random.Random(seed).random
    turns = [threading.Semaphore(1), threading.Semaphore(0)]
    running = {0, 1}
    left = [0.0]

    def take_turns(place: int, work: Work) -> Work:
        def line(frame: FrameType, event: str, argument: object) -> Any:
            if event == step:
                left[0] -= 1
                if left[0] < 0 and 1 - place in running:
                    left[0] = longest ** draw()  # as often few as many
                    turns[1 - place].release()
                    turns[place].acquire(timeout=_BLOCKED)
            return line

        def call(frame: FrameType, event: str, argument: object) -> Any:
            if files not in frame.f_code.co_filename:
                return None
            frame.f_trace_opcodes = step == "opcode"
            return line

        def run() -> None:
            turns[place].acquire(timeout=_BLOCKED)
            sys.settrace(call)
            try:
                work()
            finally:
                sys.settrace(None)
                running.discard(place)
                turns[1 - place].release()

        return run

    _run_all([take_turns(0, one), take_turns(1, other)])


def _run_all(works: list[Work]) -> None:
    errors: list[BaseException] = []

    def run(work: Work) -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def state(*roots: object) -> dict[int, tuple[object, tuple[Any, ...]]]:
    """All that can be reached from some objects through attributes, tables and sequences, each with what it holds.

    Two of them are equal where nothing was put anywhere in between.
    """
    found: dict[int, tuple[object, tuple[Any, ...]]] = {}
    todo: list[Any] = list(roots)
    while todo:
        one = todo.pop()
        if id(one) in found or isinstance(one, str | bytes | int | float | type | ModuleType | None):
            continue
        held = _held(one)
        found[id(one)] = one, tuple(map(id, held))
        todo.extend(held)
    return found


def _held(one: Any) -> list[Any]:
    if isinstance(one, Mapping):
        return [part for pair in one.items() for part in pair]
    if isinstance(one, list | tuple | set | frozenset):
        return list(one)
    if not type(one).__module__.startswith("podless"):
        return []
    slots = [name for cls in type(one).__mro__ for name in getattr(cls, "__slots__", ())]
    held = [getattr(one, name) for name in slots if name != "__dict__" and hasattr(one, name)]
    # a method is another object each time; it stands for a function that is not compiled
    held = [None if isinstance(part, MethodType) else part for part in held]
    return [*held, *vars(one).values()] if hasattr(one, "__dict__") else held
