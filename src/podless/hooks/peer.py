"""A worker of hooks as the server sees it: a socket, and the calls that the worker has."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable
from typing import Final, Protocol, cast

from podless.hooks.worker import CANCEL, CONVERTED_MOST, GIVEN, GOOD, TOLD

WAIT: Final = 0.001  # seconds that the loop's thread waits for an answer; the least that poll() can
NEVER: Final = float("inf")
_CHUNK = 1 << 15  # bytes that are read while the thread waits


class HookFailed(Exception):
    """A hook gave no answer. The text is sent to every client; place: details for administrators, "" for none."""

    def __init__(self, why: str, place: str = "") -> None:
        super().__init__(why)
        self.place = place


class Call:
    """One call. peer: the worker that runs it, None while the call is queued. due: when its timeout has passed.

    overdue: it has, and the coroutine still runs.
    """

    __slots__ = ("done", "due", "frame", "is_async", "number", "overdue", "peer", "retried", "seconds")

    def __init__(self, number: int, frame: bytes, seconds: float, is_async: bool, done: asyncio.Future[bytes]) -> None:
        self.number = number
        self.frame = frame
        self.seconds = seconds
        self.is_async = is_async
        self.done = done
        self.peer: Peer | None = None
        self.due = NEVER
        self.overdue = self.retried = False

    def fail(self, failed: HookFailed) -> None:
        """Complete the call with an error."""
        if not self.done.done():
            self.done.set_exception(failed)
            self.done.exception()  # the caller may have gone


class Owner(Protocol):
    """Has workers: the pool."""

    def answered(self, peer: Peer, number: int, status: int, raw: bytes) -> None:
        """Take an answer of a worker."""

    def lost(self, peer: Peer) -> None:
        """Take the calls of a worker that has ended."""


class Peer(asyncio.Protocol):
    """A worker as the server sees it. kill: ends or abandons it. calls: those that it has, by number.

    blocked: it is ended because of a coroutine, so its other calls are not to blame.
    """

    def __init__(self, pool: Owner, ours: socket.socket, kill: Callable[[], None]) -> None:
        self._pool = pool
        self._kill = kill
        self._ours = ours
        self._waiting = ours.dup()  # the same socket, with a timeout
        self._waiting.settimeout(WAIT)
        self._rest = bytearray()
        self._transport: asyncio.Transport | None = None
        self.calls: dict[int, Call] = {}
        self.greeting: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self.blocked = self.dead = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # that of uvloop is none by its class

    def data_received(self, data: bytes) -> None:
        rest = self._rest
        if not rest and len(data) >= TOLD.size:  # mostly one short answer, whole
            size, number, status = TOLD.unpack_from(data)
            if len(data) == TOLD.size + size and number:
                self._pool.answered(self, number, status, data[TOLD.size :])
                return
        rest += data
        while len(rest) >= TOLD.size:
            size, number, status = TOLD.unpack_from(rest)
            if size > CONVERTED_MOST:
                self.end()
                return
            if len(rest) < TOLD.size + size:
                return
            raw = bytes(rest[TOLD.size : TOLD.size + size])
            del rest[: TOLD.size + size]
            if number:
                self._pool.answered(self, number, status, raw)
            elif not self.greeting.done():
                self.greeting.set_result(bytes([status]) + raw)

    def connection_lost(self, exc: Exception | None) -> None:
        self.end()

    def send(self, call: Call) -> None:
        """Hand a call over."""
        assert self._transport is not None
        call.peer = self
        self.calls[call.number] = call
        self._transport.write(call.frame)

    def ask(self, number: int, frame: bytes) -> bytes | None:
        """Hand a question over and wait for the answer, `WAIT` at most. The worker has no other call.

        Return None if the answer comes later, or if the hook failed: then `adopt` takes the call.
        """
        sent = 0
        with contextlib.suppress(OSError):  # the transport reports a lost connection
            sent = self._ours.send(frame)
        if sent < len(frame):
            assert self._transport is not None
            self._transport.write(frame[sent:])
            return None
        try:
            data = self._waiting.recv(_CHUNK)
        except OSError:
            return None
        size = len(data) - TOLD.size
        if size > 0 and data.startswith(TOLD.pack(size, number, GOOD)):
            return data[TOLD.size :]
        self._rest += data
        return None

    def adopt(self, call: Call) -> None:
        """Take a call whose question has been handed over."""
        call.peer = self
        self.calls[call.number] = call
        if self._rest:
            self.data_received(b"")

    def cancel(self, number: int) -> None:
        """Ask the worker to cancel a coroutine."""
        if self._transport is not None:
            self._transport.write(GIVEN.pack(len(CANCEL), number) + CANCEL)

    @property
    def is_busy(self) -> bool:
        """Whether it runs a hook that is no coroutine, or a coroutine that may block it."""
        return bool(self.calls) and any(not call.is_async or call.overdue for call in self.calls.values())

    def end(self) -> None:
        """Stop the worker at once; its calls fail or are retried (`Pool.lost`)."""
        if self.dead:
            return
        self.dead = True
        if not self.greeting.done():
            self.greeting.set_result(b"")
        if self._transport is not None:
            self._transport.abort()
        self._waiting.close()
        self._kill()
        self._pool.lost(self)
