"""python -m bench.load.beating FILE serve ...: podless, with a heart that tells how long its event loop was held.

FILE has one number, which any process may read and set to zero: the most processor time of the loop's thread, in
seconds, between two beats. No other program's load shows in it, and no other thread's work.
"""

from __future__ import annotations

import asyncio
import mmap
import struct
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

_BEAT = 0.001  # seconds between two beats of a loop that has nothing to do
_HELD = struct.Struct("d")


class Held:
    """What the heart tells, for the process that reads it. A context manager."""

    def __init__(self, file: Path) -> None:
        if not file.exists():
            file.write_bytes(_HELD.pack(0.0))
        self._open = file.open("r+b")
        self._shared = mmap.mmap(self._open.fileno(), _HELD.size)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._shared.close()
        self._open.close()

    def read(self) -> float:
        """The longest time in seconds since it was set to zero."""
        return float(_HELD.unpack(self._shared[:])[0])

    def set(self, seconds: float) -> None:
        """Put a time down."""
        self._shared[:] = _HELD.pack(seconds)


def _beat(loop: asyncio.AbstractEventLoop, held: Held, before: float) -> None:
    now = time.thread_time()
    if now - before > held.read():
        held.set(now - before)
    loop.call_later(_BEAT, _beat, loop, held, now)


def main(file: str, *arguments: str) -> int:
    """Run podless. Returns its exit code."""
    import uvloop

    from podless.cli import main as run

    held, make = Held(Path(file)), uvloop.new_event_loop

    def beating() -> uvloop.Loop:
        loop = make()
        loop.call_soon(lambda: _beat(loop, held, time.thread_time()))
        return loop

    uvloop.new_event_loop = beating
    return run(arguments)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
