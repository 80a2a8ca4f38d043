"""The server's side of hooks: workers, calls, deadlines, and restarts.

A function that overruns ends its worker: a process is killed, a thread is abandoned. Coroutines share a worker and are
cancelled; a worker whose coroutine does not end then is killed, too. Calls that the worker had not started go to
another one.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, cast

from podless.codec import serializer
from podless.hooks import Hook, worker
from podless.hooks.worker import CANCEL, CONVERTED_MOST, FAILED, GIVEN, PARTS, QUESTION, TOLD
from podless.runtime.jsonobject import Object

log = logging.getLogger("podless")
_HERE = str(Path(__file__).parent)

WORKERS_MOST = 4  # that run at once
_THREADS_MOST = 8  # of this process, abandoned ones included
_WAITING_MOST = 1000  # calls that may wait for a worker
_PATIENCE = 0.05  # seconds that a call waits before another worker is started for it
_CANCEL = 1.0  # seconds that a coroutine has to end after it was cancelled
_LOAD = 60.0  # seconds that hooks may take to load
_EARLY = 0.002  # seconds that a timer may fire early: those of uvloop count whole milliseconds
_REST = 1.0  # seconds before a worker that could not be started is tried again
_NEVER: Final = float("inf")
_START = "import sys; sys.path[:] = {path!r}; from podless.hooks.worker import main; main({descriptor}, {sources!r})"


Parts = tuple[bytes, bytes, bytes]  # of a Question


class HookFailed(Exception):
    """A hook gave no answer. The text is sent to every client; place: details for administrators, "" for none."""

    def __init__(self, why: str, place: str = "") -> None:
        super().__init__(why)
        self.place = place


class LoadFailed(Exception):
    """Hooks could not be loaded; the text is for the operator of the server."""


class _Call:
    """One call. peer: the worker that runs it, None while the call is queued. due: when its timeout has passed.

    overdue: it has, and the coroutine still runs.
    """

    __slots__ = ("done", "due", "frame", "is_async", "number", "overdue", "peer", "retried", "seconds")

    def __init__(
        self, number: int, frame: bytes, seconds: float, is_async: bool, done: asyncio.Future[bytes | None]
    ) -> None:
        self.number = number
        self.frame = frame
        self.seconds = seconds
        self.is_async = is_async
        self.done = done
        self.peer: _Peer | None = None
        self.due = _NEVER
        self.overdue = self.retried = False

    def fail(self, failed: HookFailed) -> None:
        """Complete the call with an error."""
        if not self.done.done():
            self.done.set_exception(failed)
            self.done.exception()  # whoever waited may have gone


class _Peer(asyncio.Protocol):
    """A worker as the server sees it. kill: ends or abandons it. calls: those that it has, by number.

    blocked: it is ended because of a coroutine, so its other calls are not to blame.
    """

    def __init__(self, pool: Pool, kill: Callable[[], None]) -> None:
        self._pool = pool
        self._kill = kill
        self._rest = bytearray()
        self._transport: asyncio.Transport | None = None
        self.calls: dict[int, _Call] = {}
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

    def send(self, call: _Call) -> None:
        """Hand a call over."""
        assert self._transport is not None
        call.peer = self
        self.calls[call.number] = call
        self._transport.write(call.frame)

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
        self._kill()
        self._pool.lost(self)


class Pool:
    """The workers that run one loaded set of hooks.

    sources: files and modules; if there are none, the hooks of this process are run. declared: the hooks' declarations.
    files: the files that they were loaded from.
    """

    def __init__(self, sources: Sequence[str], hooks: Sequence[Hook] = ()) -> None:
        self._sources = list(sources)
        self._hooks = list(hooks)
        self.declared: list[Object] = []
        self.files: list[str] = []
        self._peers: list[_Peer] = []
        self._idle: list[_Peer] = []
        self._queue: deque[_Call] = deque()
        self._number = 0
        self._threads: list[threading.Thread] = []
        self._starting: asyncio.Task[None] | None = None
        self._hurry: asyncio.TimerHandle | None = None
        self._timer: asyncio.TimerHandle | None = None  # one for all calls, until the first of them is due
        self._due = _NEVER
        self._closed = False
        self._known: dict[tuple[str, str], tuple[int, bool]] = {}  # the place of each hook, and whether it is async

    async def open(self) -> None:
        """Start a worker, and have it load the hooks. Raises LoadFailed."""
        hello = await self._start()
        self.declared, self.files = hello["hooks"], hello["files"]
        self._known = {(one["kind"], one["name"]): (at, one["async"]) for at, one in enumerate(self.declared)}

    def call(self, kind: str, name: str, parts: Parts, seconds: float) -> asyncio.Future[bytes | None]:
        """Call a hook. See LoadedHooks.call."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[bytes | None] = loop.create_future()
        known = self._known.get((kind, name))
        if known is None:
            done.set_result(None)
            return done
        if self._closed:
            raise HookFailed("the server is stopping")
        if len(self._queue) >= _WAITING_MOST:
            raise HookFailed("too many calls of hooks are waiting")
        self._number = number = self._number + 1
        place, is_async = known
        first, second, third = parts
        size = PARTS.size + len(first) + len(second) + len(third)
        head = QUESTION.pack(size, number, place, len(first), len(second))
        call = _Call(number, b"".join((head, first, second, third)), seconds, is_async, done)
        if self._peers:
            call.due = due = loop.time() + seconds
            if due < self._due:
                self._set_timer(due)
        self._place(call)
        return done

    def _set_timer(self, due: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._due = due
        self._timer = asyncio.get_running_loop().call_at(due, self._end_overdue)

    def _end_overdue(self) -> None:
        """End the calls whose time is over, and look again when the next one is due."""
        self._timer, self._due = None, _NEVER
        now = asyncio.get_running_loop().time() + _EARLY
        under_way = [*self._queue, *(call for peer in self._peers for call in peer.calls.values())]
        for call in under_way:
            if call.due <= now:
                self._overrun(call)
        due = min((call.due for call in under_way), default=_NEVER)
        if due < self._due:
            self._set_timer(due)

    def _place(self, call: _Call) -> None:
        """Send a call to a worker, or queue it."""
        if call.is_async and (free := [peer for peer in self._peers if not peer.is_busy]):
            min(free, key=lambda peer: len(peer.calls)).send(call)
        elif self._idle and not call.is_async:
            self._idle.pop().send(call)
        else:
            self._queue.append(call)
            self._ask_for_more(0.0 if not self._peers else _PATIENCE)

    def _ask_for_more(self, delay: float) -> None:
        if self._hurry is None and self._starting is None and len(self._peers) < WORKERS_MOST and not self._closed:
            self._hurry = asyncio.get_running_loop().call_later(delay, self._grow)

    def _grow(self) -> None:
        self._hurry = None
        if self._queue and not self._closed and self._starting is None and len(self._peers) < WORKERS_MOST:
            self._starting = asyncio.get_running_loop().create_task(self._add_worker())

    async def _add_worker(self) -> None:
        try:
            await self._start()
        except LoadFailed as failed:
            log.error("hooks: a worker was not started: %s", failed)
            if not self._peers:
                self._fail_waiting("no worker of hooks could be started")
            self._starting = None
            self._ask_for_more(_REST)
        else:
            self._starting = None
            if self._queue:
                self._ask_for_more(_PATIENCE)

    def _fail_waiting(self, why: str) -> None:
        while self._queue:
            self._queue.popleft().fail(HookFailed(why))

    async def _start(self) -> Object:
        """Start a worker, and return the declarations of its hooks. Raises LoadFailed."""
        loop = asyncio.get_running_loop()
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        try:
            kill = await self._spawn(theirs)
        except (OSError, LoadFailed) as error:
            ours.close()
            theirs.close()
            raise LoadFailed(str(error)) from None
        _, peer = await loop.create_connection(lambda: _Peer(self, kill), sock=ours)
        try:
            async with asyncio.timeout(_LOAD):
                told = await asyncio.shield(peer.greeting)
        except TimeoutError:
            peer.end()
            raise LoadFailed(f"{self._shown}: not loaded within {_LOAD:.0f} s") from None
        if not told or told[0] == FAILED:
            peer.end()
            raise LoadFailed(_explain_load(self._shown, serializer.decode_json(told[1:]) if told else {}))
        if self._closed:
            peer.end()
            raise LoadFailed("the server is stopping")
        self._peers.append(peer)
        now = loop.time()
        for call in self._queue:
            if call.due == _NEVER:
                call.due = now + call.seconds
        due = min((call.due for call in self._queue), default=_NEVER)
        if due < self._due:
            self._set_timer(due)
        self._free(peer)
        found: Object = serializer.decode_json(told[1:])
        return found

    @property
    def _shown(self) -> str:
        return ", ".join(self._sources) or "hooks"

    async def _spawn(self, theirs: socket.socket) -> Callable[[], None]:
        """Start a process, or a thread of this one; what ends it."""
        if not self._sources:
            return self._spawn_thread(theirs)
        process = await asyncio.get_running_loop().run_in_executor(None, _popen, theirs, self._sources)

        def kill() -> None:
            process.kill()
            asyncio.get_running_loop().run_in_executor(None, process.wait)

        return kill

    def _spawn_thread(self, theirs: socket.socket) -> Callable[[], None]:
        alive = [one for one in self._threads if one.is_alive()]
        if len(alive) >= _THREADS_MOST:
            raise LoadFailed(f"{len(alive)} threads run hooks that do not end")
        loop = asyncio.get_running_loop()

        def say(text: str) -> None:
            with contextlib.suppress(RuntimeError):  # the server has stopped
                loop.call_soon_threadsafe(log.error, "hooks: %s", text)

        self._threads = [*alive, worker.start_thread(theirs, self._hooks, say)]
        return lambda: None

    def answered(self, peer: _Peer, number: int, status: int, raw: bytes) -> None:
        """Complete the call that a worker has answered."""
        call = peer.calls.pop(number, None)
        if call is not None:
            if status == FAILED:
                call.fail(_explain(serializer.decode_json(raw)))
            elif not call.done.done():
                call.done.set_result(raw)
        self._free(peer)

    def _free(self, peer: _Peer) -> None:
        """Send queued calls to a worker, as many as it can take."""
        while self._queue and not peer.is_busy:
            call = self._queue.popleft()
            if not call.done.done():
                peer.send(call)
        if peer in self._idle:
            if peer.is_busy:
                self._idle.remove(peer)
        elif not peer.is_busy:
            self._idle.append(peer)

    def lost(self, peer: _Peer) -> None:
        """Fail the call that ended a worker. All others are retried once on another worker.

        A worker runs one function at a time; coroutines beside it are not to blame. Nor is a function that waits behind
        a coroutine that blocks.
        """
        for peers in (self._peers, self._idle):
            if peer in peers:
                peers.remove(peer)
        calls, peer.calls = list(peer.calls.values()), {}
        for call in calls:
            is_to_blame = not call.is_async and not peer.blocked
            if is_to_blame or call.retried or self._closed or call.done.done():
                call.fail(HookFailed("its worker ended"))
            else:
                call.peer, call.retried = None, True
                self._place(call)
        if self._queue:
            self._ask_for_more(0.0)

    def _overrun(self, call: _Call) -> None:
        """Fail a call whose timeout has passed, and cancel its coroutine or end its worker."""
        peer, call.due = call.peer, _NEVER
        call.fail(HookFailed(f"it did not answer within {call.seconds:g} s"))
        if peer is None:
            with contextlib.suppress(ValueError):
                self._queue.remove(call)
        elif call.number not in peer.calls:
            return
        elif call.is_async:
            call.overdue = True
            if peer in self._idle:
                self._idle.remove(peer)
            peer.cancel(call.number)
            asyncio.get_running_loop().call_later(_CANCEL, self._insist, peer, call.number)
        else:
            log.error("hooks: ended a worker: a hook did not answer within its timeout of %g s", call.seconds)
            peer.end()

    def _insist(self, peer: _Peer, number: int) -> None:
        """End a worker whose coroutine still runs after it was cancelled."""
        if number in peer.calls:
            log.error("hooks: ended a worker: a coroutine went on after it was cancelled")
            peer.blocked = True
            peer.end()

    @property
    def is_quiet(self) -> bool:
        """Whether no call is on its way."""
        return not self._queue and not any(peer.calls for peer in self._peers)

    def close(self) -> None:
        """End all workers; calls on their way fail."""
        self._closed = True
        for timer in (self._hurry, self._timer):
            if timer is not None:
                timer.cancel()
        self._fail_waiting("the server is stopping")
        for peer in list(self._peers):
            peer.end()


def _popen(theirs: socket.socket, sources: Sequence[str]) -> subprocess.Popen[bytes]:
    with theirs:
        start = _START.format(path=sys.path, descriptor=theirs.fileno(), sources=list(sources))
        return subprocess.Popen(
            [sys.executable, "-c", start],
            stdin=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(),),
            process_group=0,  # a signal from the terminal is for the server
        )


def _explain_load(shown: str, told: Object) -> str:
    """Return why hooks could not be loaded, with file and line if the hooks raised the error."""
    if not told:
        return f"{shown}: the worker ended while it loaded the hooks"
    file = told.get("file") or ""
    if not file or file.startswith(("<frozen ", _HERE)):  # raised before a line of the hooks ran
        return f"{shown}: {told['why']}"
    return f"{file}:{told['line']}: {told['type']}: {told['why']}"


def _explain(told: Object) -> HookFailed:
    """Return the error of a failed hook. The exception's type and place are for administrators only."""
    place = f"{told['file']}:{told['line']}" if told.get("file") else ""
    if told.get("why"):
        return HookFailed(told["why"], place)
    return HookFailed("it raised an exception", f"{told['type']} at {place}" if place else told["type"])
