"""A server in a process of its own, whose event loop times each of its steps, with the lines of those that are long.

The loop is asyncio's own, for uvloop shows no steps. A step is one call of a callback: of a task until it waits, of
what reads a socket, of a timer. What counts is the processor time of the loop's thread, so that no other program shows.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import re
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from podless.app import App, Settings
from podless.cli import serve
from podless.runtime.collector import Collector
from podless.runtime.heartbeat import StackFrame, Stacks

LONG = 0.1  # seconds that a step may take
_LOOK = 0.01  # seconds between two looks at where a step is
_LATE = 60.0  # seconds until a server that does not answer its parent is given up
_FRAMES = 8  # of a long step that are told: what it began with matters more than where it is
_TOLD = 2000  # characters of an error, with the end of its traceback


class Step(NamedTuple):
    """One that took long. seconds: of processor time. where: lines, and how often it was seen there."""

    seconds: float
    where: str


class Told(NamedTuple):
    """What a server tells since it was asked last. longest: seconds of the longest step. memory: MB, now.

    errors: what it has logged as errors. processor: seconds of the whole process.
    """

    steps: list[Step]
    longest: float
    memory: float
    errors: list[str]
    processor: float


class _Timed:
    """A handle of the loop, whose run is timed."""

    __slots__ = ("_cancelled", "_handle", "_steps")

    def __init__(self, handle: Any, steps: Steps) -> None:
        self._handle = handle
        self._cancelled = handle._cancelled
        self._steps = steps

    def _run(self) -> None:
        steps = self._steps
        began, steps.since = time.thread_time(), time.monotonic()
        self._handle._run()
        steps.since = 0.0
        steps.took(time.thread_time() - began)


class _Ready(deque[Any]):
    """What is ready to run, which the loop takes one by one."""

    def __init__(self, steps: Steps) -> None:
        super().__init__()
        self._steps = steps

    def popleft(self) -> Any:
        return _Timed(super().popleft(), self._steps)


class Steps:
    """The long steps of a loop. since: when the one that runs was begun, 0 where none does."""

    def __init__(self) -> None:
        self.since = 0.0
        self.longest = 0.0
        self.long: list[Step] = []
        self._seen: Counter[str] = Counter()
        self._loop = threading.get_ident()

    def loop(self) -> asyncio.AbstractEventLoop:
        """A loop whose steps are timed."""
        made = asyncio.SelectorEventLoop()
        made._ready = _Ready(self)  # type: ignore[attr-defined]
        return made

    def took(self, seconds: float) -> None:
        """A step is over."""
        self.longest = max(self.longest, seconds)
        if seconds > LONG:
            where = " | ".join(f"{number}x {line}" for line, number in self._seen.most_common(4))
            self.long = [*self.long[-20:], Step(seconds, where)]
        if self._seen:
            self._seen = Counter()

    def watch(self) -> None:
        """Look at what takes long, again and again; for a thread of its own."""
        stacks = Stacks()
        while True:
            time.sleep(_LOOK)
            late = (since := self.since) and time.monotonic() - since > 2 * _LOOK
            if late and (line := _lines(stacks.read_stack(self._loop))):
                self._seen[line] += 1


def _lines(stack: list[StackFrame]) -> str:
    """The innermost lines of a stack that are the project's, or made by it."""
    told = [
        f"{frame.file.rpartition('/podless/')[2]}:{frame.line}:{frame.function}"
        for frame in stack
        if "/podless/" in frame.file or frame.file.startswith("<")
    ]
    return " < ".join(told[:_FRAMES])


class _Errors(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(self.format(record)[-_TOLD:])


def _memory() -> float:
    """MB that are resident."""
    [found] = re.findall(r"VmRSS:\s+(\d+)", Path("/proc/self/status").read_text())
    return int(found) / 1024


def _serve(line: Connection, tokens: str) -> None:
    """The process: serve until the parent ends, and answer what it asks on a thread."""
    steps, errors = Steps(), _Errors()
    logging.getLogger("podless").addHandler(errors)
    logging.getLogger("podless").setLevel(logging.ERROR)
    logging.getLogger("podless").propagate = False

    async def run() -> None:
        sys.setswitchinterval(serve._SWITCH)
        # on disk: what is stored of the past until it is compacted is no memory that a request keeps
        app = App(Settings(data=Path(tokens).parent / "data", tls=False, token_file=Path(tokens)))
        await app.start()
        serve._import_early()
        Collector().start()
        line.send((int(app.url.rpartition(":")[2]), app.token))
        await asyncio.Event().wait()

    def answer() -> None:
        before = 0.0
        with suppress(EOFError, OSError):
            while True:
                line.recv()
                now = time.process_time()
                line.send(Told(steps.long, steps.longest, _memory(), errors.said, now - before))
                steps.long, steps.longest, errors.said, before = [], 0.0, [], now
        os._exit(0)

    for work in (answer, steps.watch):
        threading.Thread(target=work, daemon=True).start()
    with asyncio.Runner(loop_factory=steps.loop) as runner:
        runner.run(run())


class Stuck(Exception):
    """A server does not answer."""


class Timed:
    """A server that runs. port, token: where, and the administrator's."""

    def __init__(self, process: Any, line: Connection) -> None:
        self._process = process
        self._line = line
        if not line.poll(_LATE):
            raise Stuck("the server did not start")
        self.port, self.token = line.recv()

    def told(self) -> Told:
        """What it has to tell. Raises Stuck."""
        try:
            self._line.send(None)
            if self._line.poll(_LATE):
                found: Told = self._line.recv()
                return found
        except (OSError, EOFError):
            pass
        raise Stuck(f"the server does not answer, or has ended ({self._process.exitcode})")


@contextmanager
def timed(tokens: Path) -> Iterator[Timed]:
    """A server for the time of a with block. tokens: a file of tokens."""
    context = multiprocessing.get_context("spawn")
    mine, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, str(tokens)), daemon=True)
    process.start()
    theirs.close()
    try:
        yield Timed(process, mine)
    finally:
        process.kill()
        process.join()
        mine.close()
