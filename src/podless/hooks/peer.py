"""A worker of hooks as the server sees it: a socket, the worker's calls, and the hooks whose answers are quick."""

from __future__ import annotations

import asyncio
import os
import select
import socket
import time
from collections.abc import Callable
from typing import Final, cast

from podless.hooks import SUBRESOURCE
from podless.hooks.wire import ANSWER_HEAD, CANCEL, CHUNK, MAX_CONVERTED, POLLED, QUESTION_HEAD
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object

WAIT: Final = 0.001  # seconds that the loop's thread waits for answers; the minimum of poll()
NEVER: Final = float("inf")
MAX_CALLS = 32  # maximum calls of a worker
DIRECT: Final = os.name == "posix"  # other systems cannot read a socket on which the event loop has started to read
# maximum seconds that the thread polls for the answer of an awake worker; useless if both run on the same processor
_POLL_SECONDS = 0.00003
# maximum answers after useless polling for which the thread does not poll: none the first time, then 1, 2, 4, ...
_MAX_SKIPPED = 32
_QUICK_ANSWER = 0.0005  # seconds from question to answer; faster hooks earn credit
_MAX_QUESTION = 1 << 15 if DIRECT else 0  # maximum bytes of a question for whose answer the thread waits
_MIN_TIMEOUT = 1.0  # minimum seconds of the timeout of such a question
_MISS_COST = 0.002  # seconds that a missing answer costs
_MIN_CREDIT, _MAX_CREDIT = 0.001, 0.01  # initial and maximum credit in seconds
# seconds for which a hook without credit is awaited; doubled each time, up to the maximum
_PAUSE, _MAX_PAUSE = 0.05, 60.0


class HookFailed(Exception):
    """A hook gave no answer. The text is for all clients; details: for administrators, "" for none."""

    def __init__(self, reason: str, details: str = "") -> None:
        super().__init__(reason)
        self.details = details


class DeclaredHook:
    """A declared hook. index: among all hooks. shares: for its calls while it is quick; see `HookCall`.

    The loop's thread waits for the answers of quick hooks, because the way back through the event loop (a poll, cold
    caches) costs more than the hook. credit: seconds by which earlier answers were faster than `_QUICK_ANSWER`; without
    credit, calls are awaited for a while. awaited_until: by the monotonic clock. pause: the next one, in seconds.
    """

    __slots__ = ("awaited_until", "credit", "index", "is_async", "pause", "shares")

    def __init__(self, index: int, declared: Object) -> None:
        self.index = index
        self.is_async: bool = declared["async"]
        # a call that waits too long is sent to a second worker; only hooks without side effects may run twice
        self.shares = declared["kind"] != SUBRESOURCE
        self.awaited_until = 0.0
        self.credit = _MIN_CREDIT
        self.pause = _PAUSE

    def is_quick(self, frame: bytes, seconds: float, now: float) -> bool:
        """Return whether the thread waits for the answer. seconds: the timeout."""
        return len(frame) <= _MAX_QUESTION and seconds >= _MIN_TIMEOUT and now >= self.awaited_until

    def add_wait(self, seconds: float, now: float, *, answered: bool) -> None:
        """Count a call for which the thread waited."""
        if answered and seconds < _QUICK_ANSWER and self.credit >= _MAX_CREDIT and self.pause <= _PAUSE:
            return  # the most frequent case
        # limited to WAIT: a longer time only shows that the machine was busy
        self.credit += _QUICK_ANSWER - (min(seconds, WAIT) if answered else _MISS_COST)
        if self.credit < 0:
            self.credit = _MIN_CREDIT
            self.awaited_until = now + self.pause
            self.pause = min(self.pause * 2, _MAX_PAUSE)
        elif seconds < _QUICK_ANSWER:
            self.pause = max(self.pause / 2, _PAUSE)
            self.credit = min(self.credit, _MAX_CREDIT)


@dataclass(slots=True, eq=False)
class HookCall:
    """One call. peer: its worker, None while it is queued. due: the time of its timeout.

    shares: its worker may have other calls before and after it. lost: the number of workers that ended with the call.
    moved: another worker has a copy.
    """

    number: int
    frame: bytes
    seconds: float
    result: asyncio.Future[bytes | None]
    is_async: bool
    shares: bool
    peer: Peer | None = None
    due: float = NEVER
    moved: bool = False
    lost: int = 0

    def fail_with(self, failed: HookFailed) -> None:
        """Complete the call with an error."""
        if not self.result.done():
            self.result.set_exception(failed)
            self.result.exception()  # the caller may have been cancelled

    def copy_to_move(self) -> HookCall:
        """Return a copy of the call for another worker; the first answer counts."""
        self.moved = True
        return HookCall(self.number, self.frame, self.seconds, self.result, self.is_async, False, due=self.due)


class Peer(asyncio.Protocol):
    """A worker as the server sees it. kill: ends or abandons it. calls: its calls by number, in order.

    on_answer: called with the number of a call, the status and the bytes of its answer. on_loss: called when the worker
    has ended, to take back its calls.

    alone: number of calls that allow no other call beside them. in_turn: number of calls that are not coroutines; the
    worker runs these one after the other. blocked: the worker is ended because of a coroutine, so its other calls did
    not cause it. relief: the time until calls that share the worker are moved.
    """

    def __init__(
        self,
        server_end: socket.socket,
        kill: Callable[[], None],
        on_answer: Callable[[Peer, int, int, bytes], None],
        on_loss: Callable[[Peer], None],
    ) -> None:
        self._on_answer = on_answer
        self._on_loss = on_loss
        self._kill = kill
        self._socket = server_end
        self._poll = select.poll() if DIRECT else None
        if self._poll is not None:
            self._poll.register(server_end, select.POLLIN)
        self._incomplete = bytearray()
        self._frames: list[bytes] = []
        self._transport: asyncio.Transport | None = None
        self.answered_at = 0.0
        self._answered_lately = self._awake = False
        self._skipped = self._next_skipped = 0
        self.calls: dict[int, HookCall] = {}
        self.alone = self.in_turn = 0
        self.relief: asyncio.TimerHandle | None = None
        self.greeting: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self.blocked = self.dead = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports do not inherit from asyncio.Transport
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self.answered_at = time.monotonic()
        incomplete = self._incomplete
        if incomplete:
            incomplete += data
        received: bytes | bytearray = incomplete or data
        at, length = 0, len(received)
        while at + ANSWER_HEAD.size <= length and not self.dead:
            size, number, status = ANSWER_HEAD.unpack_from(received, at)
            if size > MAX_CONVERTED:
                self.end_worker()
                return
            begin = at + ANSWER_HEAD.size
            if begin + size > length:
                break
            at = begin + size
            raw = bytes(received[begin:at])
            if number:
                self._on_answer(self, number, status, raw)
            elif not self.greeting.done():
                self.greeting.set_result(bytes([status]) + raw)
            else:
                self.end_worker()
        if received is incomplete:
            del incomplete[:at]
        elif at < length:
            incomplete += data[at:]

    def connection_lost(self, exc: Exception | None) -> None:
        self.end_worker()

    @property
    def functions(self) -> list[HookCall]:
        """The calls of hooks that are not coroutines, in order."""
        return [call for call in self.calls.values() if not call.is_async]

    def accepts_alone(self, call: HookCall) -> bool:
        """Return whether a call that shares no worker may go to this one: coroutines do not delay a function."""
        return not self.calls if call.lost > 1 else not self.in_turn

    @property
    def is_idle(self) -> bool:
        """Return whether the worker has no call, and has sent nothing that is incomplete."""
        return not self.calls and not self._incomplete

    def add_call(self, call: HookCall, *, already_sent: bool = False) -> None:
        """Add a call; `flush_calls` sends it. already_sent: `send_frames` has sent it already."""
        call.peer = self
        self.calls[call.number] = call
        self.in_turn += not call.is_async
        self.alone += not call.shares
        if not already_sent:
            self._frames.append(call.frame)

    def flush_calls(self) -> None:
        """Send the new calls to the worker, in one piece, because each write may have to wake it."""
        frames = self._frames
        if frames:
            data = b"".join(frames)  # does not copy a single frame
            frames.clear()
            self.send_frames(data, time.monotonic())

    def send_frames(self, data: bytes, now: float) -> None:
        """Send frames to the worker."""
        transport = self._transport
        if transport is None or self.dead:
            return
        # the same condition as for the worker's polling: see hooks/worker.py
        self._awake, self._answered_lately = self._answered_lately, now - self.answered_at < POLLED
        try:
            count = self._socket.send(data) if DIRECT and not transport.get_write_buffer_size() else 0
        except OSError:  # the transport reports a lost connection
            count = 0
        if count < len(data):
            transport.write(data[count:] if count else data)

    def isolate_call(self, call: HookCall) -> None:
        """Allow no more calls beside this one."""
        if call.shares:
            call.shares = False
            self.alone += 1

    def wait_for(self, call: HookCall, until: float) -> bool:
        """Block the thread until a call has been answered. until: monotonic time; the wait is rounded to milliseconds.

        Returns whether the call was answered.
        """
        while call.number in self.calls:
            now = time.monotonic()
            if now > until or not (data := self.receive_soon(now, until)):
                return False
            self.data_received(data)
        return True

    def receive_soon(self, now: float, until: float) -> bytes:
        """Block the thread until the worker sends something. Returns b"" if it does not, or has ended."""
        poll = self._poll
        assert poll is not None
        readable = poll.poll(0)
        if not readable and self._awake and not self._skipped:
            spin_until = now + _POLL_SECONDS
            while not readable and time.monotonic() < spin_until:
                readable = poll.poll(0)
            if not readable:
                self._skipped, self._next_skipped = self._next_skipped, min(self._next_skipped * 2 or 1, _MAX_SKIPPED)
        elif self._skipped:
            self._skipped -= 1
        if not readable and (time.monotonic() >= until or not poll.poll(1)):
            return b""
        if self._next_skipped and time.monotonic() - now < _POLL_SECONDS:  # polling was, or would have been, useful
            self._skipped = self._next_skipped = 0
        return self._read_socket()

    def _read_socket(self) -> bytes:
        """Return bytes that have come from the worker, b"" without any."""
        try:
            return self._socket.recv(CHUNK) if DIRECT and not self.dead else b""
        except OSError:  # mostly BlockingIOError; the transport reports a lost connection
            return b""

    def receive_answers(self) -> bool:
        """Read bytes that have come from the worker. Returns False if there are none."""
        data = self._read_socket()
        if data:
            self.data_received(data)
        return bool(data)

    def catch_up(self) -> None:
        """Read all answers that have come."""
        for _ in range(MAX_CALLS):  # limited, because the code of hooks may send without end
            if not self.receive_answers():
                return

    def cancel_call(self, number: int) -> None:
        """Ask the worker to cancel a coroutine."""
        if self._transport is not None:
            self._transport.write(QUESTION_HEAD.pack(len(CANCEL), number) + CANCEL)

    def end_worker(self) -> None:
        """Kill the worker at once; its calls fail or are retried (`WorkerPool`)."""
        if self.dead:
            return
        self.dead = True
        if self.relief is not None:
            self.relief.cancel()
        if not self.greeting.done():
            self.greeting.set_result(b"")
        if self._transport is not None:
            self._transport.abort()
        self._kill()
        self._on_loss(self)
