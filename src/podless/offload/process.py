"""Runs work that would hold the GIL in a separate process: one piece at a time, each with a deadline.

All servers of a program share one worker, which starts at first use and ends with the last server. It is a fresh
interpreter, because a process with threads must not be forked.
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO, ClassVar

from podless.codec import serializer
from podless.meta.errors import Timeout, TooManyRequests
from podless.offload import worker
from podless.runtime.collector import pause_gc
from podless.runtime.meter import TIMEOUT_TEXT

SECONDS = 10.0  # seconds of processor time for one body
_PATIENCE = 3  # the deadline in elapsed time is a multiple of the limit, because other processes may use the machine
_WAITING = 64  # bodies that may wait for the worker
_START = "import sys; sys.path[:] = {path!r}; from podless.offload.worker import main; main()"


class _WorkerProcess:
    """The process, and the thread that talks to it."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "podless-offload")
        self._process: subprocess.Popen[bytes] | None = None
        self._waiting = 0
        self._count = threading.Lock()

    async def run_work(self, kind: bytes, raw: bytes, seconds: float) -> Any:
        """Return the worker's result for a text. Raises Timeout beyond the deadline, and TooManyRequests."""
        with self._count:
            if self._waiting >= _WAITING:
                raise TooManyRequests("too many requests, please try again later", {"retryAfterSeconds": 1})
            self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(
                self._thread, self._request_work, kind, raw, seconds
            )
        finally:
            with self._count:
                self._waiting -= 1

    def _request_work(self, kind: bytes, raw: bytes, seconds: float) -> Any:
        import pickle  # imported late: few servers need it

        process = self._process
        if process is None or process.poll() is not None:
            process = self._process = self._spawn_process()
        deadline = threading.Timer(seconds * _PATIENCE, process.kill)
        deadline.start()
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(worker.HEAD.pack(kind, seconds, len(raw)))
            process.stdin.write(raw)
            process.stdin.flush()
            size = worker.SIZE.unpack(_read_exactly(process.stdout, worker.SIZE.size))[0]
            exactly = _read_exactly(process.stdout, size)
        except (OSError, EOFError):
            self._end_process()
            raise Timeout(TIMEOUT_TEXT, {}) from None
        finally:
            deadline.cancel()
        with pause_gc():
            return pickle.load(_PieceReader(exactly))

    def _spawn_process(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-c", _START.format(path=sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            process_group=0,  # Ctrl+C in the terminal is for the server only
        )

    def _end_process(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        process.wait()

    def close(self) -> None:
        """Stop thread and process. Work in progress ends with Timeout."""
        process = self._process
        if process is not None:
            process.kill()
        self._thread.submit(self._end_process)
        self._thread.shutdown(wait=True)


class _PieceReader:
    """Bytes as a file in Python, so that the loop's thread can run between reads of 64 KiB of a pickle.

    Read at once, 3 MB hold the GIL for a third of a second.
    """

    def __init__(self, data: bytes) -> None:
        self._data = memoryview(data)
        self._at = 0

    def read(self, size: int) -> bytes:
        """Return the next bytes."""
        self._at += size
        return bytes(self._data[self._at - size : self._at])

    def readinto(self, into: bytearray) -> int:
        """Read the next bytes into a buffer, and return their number."""
        data = self.read(len(into))
        into[: len(data)] = data
        return len(data)

    def readline(self) -> bytes:
        """Return b"": pickles of this protocol have no lines."""
        return b""


def _read_exactly(pipe: BinaryIO | Any, size: int) -> bytes:
    data: bytes = pipe.read(size)
    if len(data) < size:
        raise EOFError
    return data


class ParserProcess:
    """Parses long bodies in the worker process. seconds: limit for each body. Call `close` at the end."""

    # the worker of this process, and the number of its users
    _lock: ClassVar = threading.Lock()
    _shared: ClassVar[_WorkerProcess | None] = None
    _users: ClassVar = 0

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._worker: _WorkerProcess | None = None

    async def parse_yaml(self, raw: bytes) -> serializer.ParsedYAML:
        """Parse a YAML text. Raises Timeout, TooManyRequests."""
        parsed = serializer.ParsedYAML(raw)
        parsed.outcome = await self._run_work(worker.YAML, raw)
        return parsed

    async def parse_applied(self, raw: bytes) -> serializer.ParsedYAML:
        """Parse a text that may be JSON or YAML. Raises Timeout, TooManyRequests."""
        parsed = serializer.ParsedYAML(raw)
        parsed.outcome = await self._run_work(worker.APPLIED, raw)
        return parsed

    async def parse_json(self, raw: bytes) -> serializer.ParsedJSON:
        """Parse a JSON text. Raises Timeout, TooManyRequests."""
        parsed = serializer.ParsedJSON(raw)
        parsed.outcome, parsed.pairs = await self._run_work(worker.JSON, raw)
        return parsed

    async def _run_work(self, kind: bytes, raw: bytes) -> Any:
        if self._worker is None:
            with ParserProcess._lock:
                ParserProcess._users += 1
                self._worker = ParserProcess._shared = ParserProcess._shared or _WorkerProcess()
        return await self._worker.run_work(kind, raw, self._seconds)

    def close(self) -> None:
        """Release the worker. It stops after its last user."""
        released, self._worker = self._worker, None
        if released is None:
            return
        with ParserProcess._lock:
            ParserProcess._users -= 1
            if ParserProcess._users:
                return
            ParserProcess._shared = None
        released.close()
