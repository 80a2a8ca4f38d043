"""Long work on a thread beside the event loop, one piece at a time: the loop goes on, at half its speed.

For what is written in Python alone, and touches nothing that others change meanwhile: the interpreter takes turns
between threads every few milliseconds. What takes long inside of C keeps it: a process is the place for that
(http/offload.py).
"""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from typing import ParamSpec, TypeVar

from podless.meta.errors import TooManyRequests

P = ParamSpec("P")
R = TypeVar("R")

LONG = 1 << 15  # bytes of an object from which on work on it is long
_WAITING = 64  # pieces of work that may wait for the thread
_MOST = 10.0  # seconds for which the collector rests where there is always such work

_lock = threading.Lock()
_quiet = 0  # pieces of work for which the collector rests
_collecting = True
_since = 0.0


@contextmanager
def quiet() -> Iterator[None]:
    """Meanwhile the garbage collector rests: until a large object has gone, if it is to spare the loop.

    It would look through the object again and again while that is made, a second and more of the interpreter, and for
    half a second when it is there; what JSON becomes has no circles.
    """
    global _quiet, _collecting, _since
    with _lock:
        if not _quiet:
            _collecting, _since = gc.isenabled(), time.monotonic()
            gc.disable()
        _quiet += 1
    try:
        yield
    finally:
        with _lock:
            _quiet -= 1
            late = _collecting and bool(_quiet) and time.monotonic() - _since > _MOST
            if late:
                _since = time.monotonic()
            if not _quiet and _collecting:
                gc.enable()
        if late:
            gc.collect(1)


def _done(work: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    with quiet():
        return work(*args, **kwargs)


class Aside:
    """The thread, which is begun when it is first needed. To be closed."""

    def __init__(self) -> None:
        self._thread: ThreadPoolExecutor | None = None
        self._waiting = 0

    async def run(self, size: int, work: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """What some work gives, done beside the loop where an object of so many bytes makes it long.

        Raises what the work raises, and TooManyRequests.
        """
        if size < LONG:
            return work(*args, **kwargs)
        if self._waiting >= _WAITING:
            raise TooManyRequests("too many requests, please try again later", {"retryAfterSeconds": 1})
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "podless-aside")
        self._waiting += 1
        try:
            loop = asyncio.get_running_loop()
            known = copy_context()  # with it the clock, which a test may have moved
            return await loop.run_in_executor(self._thread, lambda: known.run(_done, work, *args, **kwargs))
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """End the thread once it has done what it does."""
        if self._thread is not None:
            self._thread.shutdown(wait=False, cancel_futures=True)
            self._thread = None
