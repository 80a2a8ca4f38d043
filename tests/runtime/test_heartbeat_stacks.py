"""The stack of a thread is read by another one while it runs."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from podless.runtime.heartbeat import Stacks, is_whole

# CPython 3.11 crashed within a minute when the frame objects of such a thread were read.
BUSY = """
import sys, threading, time
from podless.runtime.heartbeat import Stacks

sys.setswitchinterval(1e-6)
ended = threading.Event()

def values(number):
    if number:
        yield from values(number - 1)
    yield number

def work():
    while not ended.is_set():
        sorted(range(20), key=lambda value: sum(values(5)) + value)

worker = threading.Thread(target=work, daemon=True)
worker.start()
stacks = Stacks()
for _ in range(8_000):
    assert stacks.read_stack(worker.ident)
ended.set()
worker.join()
"""


@pytest.fixture
def stacks() -> Iterator[Stacks]:
    made = Stacks()
    yield made
    made.close()


def test_the_innermost_call_is_first(stacks: Stacks) -> None:
    calls = stacks.read_stack(threading.get_ident())
    assert [call.function for call in calls][:2] == ["read_stack", "test_the_innermost_call_is_first"]
    assert calls[1].file == __file__
    assert is_whole(calls)


def test_each_of_many_reads_is_whole(stacks: Stacks) -> None:
    read = {tuple(call.function_key for call in stacks.read_stack(threading.get_ident())) for _ in range(500)}
    assert len(read) == 1


def test_another_thread_is_read(stacks: Stacks) -> None:
    reached, ended = threading.Event(), threading.Event()

    def wait_here() -> None:
        reached.set()
        ended.wait(60)

    thread = threading.Thread(target=wait_here)
    thread.start()
    reached.wait(60)
    assert thread.ident is not None
    assert "wait_here" in [call.function for call in stacks.read_stack(thread.ident)]
    ended.set()
    thread.join()


def test_of_a_deep_stack_the_innermost_calls_are_read(stacks: Stacks) -> None:
    def descend(number: int) -> list[str]:
        return descend(number - 1) if number else [call.function for call in stacks.read_stack(threading.get_ident())]

    assert descend(200) == ["read_stack", *["descend"] * 99]


def test_an_unknown_thread_has_no_stack(stacks: Stacks) -> None:
    assert stacks.read_stack(1) == []


def test_a_busy_thread_may_be_read_at_any_moment() -> None:
    done = subprocess.run([sys.executable, "-c", BUSY], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
