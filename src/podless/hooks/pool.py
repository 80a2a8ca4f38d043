"""The server's side of hooks: workers, calls, deadlines, and restarts.

A function that overruns ends its worker: a process is killed, a thread is abandoned. Coroutines share a worker and are
cancelled; a worker whose coroutine does not end then is killed, too. Calls that the worker had not started go to
another one.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from podless.codec import serializer
from podless.hooks import Hook, worker
from podless.hooks.peer import NEVER, WAIT, Call, HookFailed, Peer
from podless.hooks.worker import FAILED, PARTS, QUESTION
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
_HELD_MOST = 0.003  # seconds that calls may hold the loop before one of them is awaited
_QUICK = 0.0005  # seconds that a quick hook takes, from question to answer
_SHORT = 1 << 15 if os.name == "posix" else 0  # bytes of a question; elsewhere the loop may have begun to read
_MISSED = 0.002  # seconds that an answer which did not come counts for
_CREDIT_LEAST, _CREDIT_MOST = 0.001, 0.01  # seconds
_PAUSE, _PAUSE_MOST = 0.05, 60.0  # seconds that a hook without credit is awaited, doubled each time
_START = "import sys; sys.path[:] = {path!r}; from podless.hooks.worker import main; main({descriptor}, {sources!r})"


Parts = tuple[bytes, bytes, bytes]  # of a Question


class LoadFailed(Exception):
    """Hooks could not be loaded; the text is for the operator of the server."""


class _Known:
    """A declared hook. place: among all of them.

    The loop's thread waits for the answer of a quick hook, because the way back through the event loop costs more than
    the hook: a suspended request, a poll, a callback. credit: seconds by which earlier answers were quicker than
    `_QUICK`; without credit, calls are awaited for a while. awaited_until: by the monotonic clock. pause: the next one.
    """

    __slots__ = ("awaited_until", "credit", "is_async", "pause", "place")

    def __init__(self, place: int, declared: Object) -> None:
        self.place = place
        self.is_async: bool = declared["async"]
        self.awaited_until = 0.0
        self.credit = _CREDIT_LEAST
        self.pause = _PAUSE

    def add_wait(self, seconds: float, now: float, *, answered: bool) -> None:
        """Count a call that the thread waited for."""
        # an answer was there within `WAIT`, whatever the clock says: the machine was busy
        self.credit += _QUICK - (min(seconds, WAIT) if answered else _MISSED)
        if self.credit < 0:
            self.credit = _CREDIT_LEAST
            self.awaited_until = now + self.pause
            self.pause = min(self.pause * 2, _PAUSE_MOST)
        elif seconds < _QUICK:
            self.pause = max(self.pause / 2, _PAUSE)
            self.credit = min(self.credit, _CREDIT_MOST)


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
        self._peers: list[Peer] = []
        self._idle: list[Peer] = []
        self._queue: deque[Call] = deque()
        self._number = 0
        self._threads: list[threading.Thread] = []
        self._starting: asyncio.Task[None] | None = None
        self._hurry: asyncio.TimerHandle | None = None
        self._timer: asyncio.TimerHandle | None = None  # one for all calls, until the first of them is due
        self._due = NEVER
        self._closed = False
        self._known: dict[tuple[str, str], _Known] = {}
        self._held = 0.0  # seconds that calls have held the loop since one was awaited

    async def open(self) -> None:
        """Start a worker, and have it load the hooks. Raises LoadFailed."""
        hello = await self._start()
        self.declared, self.files = hello["hooks"], hello["files"]
        self._known = {(one["kind"], one["name"]): _Known(at, one) for at, one in enumerate(self.declared)}

    def call(self, kind: str, name: str, parts: Parts, seconds: float) -> bytes | asyncio.Future[bytes] | None:
        """Call a hook. Return its answer, or a future of it. See LoadedHooks.call."""
        known = self._known.get((kind, name))
        if known is None:
            return None
        if self._closed:
            raise HookFailed("the server is stopping")
        if len(self._queue) >= _WAITING_MOST:
            raise HookFailed("too many calls of hooks are waiting")
        self._number = number = self._number + 1
        first, second, third = parts
        size = PARTS.size + len(first) + len(second) + len(third)
        frame = QUESTION.pack(size, number, known.place, len(first), len(second)) + first + second + third
        asked = None
        if size <= _SHORT and seconds >= 1.0 and self._held < _HELD_MOST and self._idle and not self._idle[-1].calls:
            began = time.monotonic()
            if began >= known.awaited_until:
                asked = self._idle[-1]
                answer = asked.ask(number, frame)
                now = time.monotonic()
                self._held += now - began
                known.add_wait(now - began, now, answered=answer is not None)
                if answer is not None:
                    return answer
        self._held = 0.0
        loop = asyncio.get_running_loop()
        call = Call(number, frame, seconds, known.is_async, loop.create_future())
        if self._peers:
            call.due = due = loop.time() + seconds
            if due < self._due:
                self._set_timer(due)
        if asked is None:
            self._place(call)
        else:
            if not call.is_async:
                self._idle.pop()
            asked.adopt(call)
        return call.done

    def _set_timer(self, due: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._due = due
        self._timer = asyncio.get_running_loop().call_at(due, self._end_overdue)

    def _end_overdue(self) -> None:
        """End the calls whose time is over, and look again when the next one is due."""
        self._timer, self._due = None, NEVER
        now = asyncio.get_running_loop().time() + _EARLY
        under_way = [*self._queue, *(call for peer in self._peers for call in peer.calls.values())]
        for call in under_way:
            if call.due <= now:
                self._overrun(call)
        due = min((call.due for call in under_way), default=NEVER)
        if due < self._due:
            self._set_timer(due)

    def _place(self, call: Call) -> None:
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
            self._starting = None
            if self._closed:  # a reload has replaced this pool, or the server stops
                return
            log.error("hooks: a worker was not started: %s", failed)
            if not self._peers:
                self._fail_waiting("no worker of hooks could be started")
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
        _, peer = await loop.create_connection(lambda: Peer(self, ours, kill), sock=ours)
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
            if call.due == NEVER:
                call.due = now + call.seconds
        due = min((call.due for call in self._queue), default=NEVER)
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
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)  # with the processes that hooks have started
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

    def answered(self, peer: Peer, number: int, status: int, raw: bytes) -> None:
        """Complete the call that a worker has answered."""
        call = peer.calls.pop(number, None)
        if call is not None:
            if status == FAILED:
                failed = _explain(raw)
                call.fail(failed or HookFailed("its worker gave a malformed answer"))
                if failed is None:
                    peer.end()
                    return
            elif not call.done.done():
                call.done.set_result(raw)
        self._free(peer)

    def _free(self, peer: Peer) -> None:
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

    def lost(self, peer: Peer) -> None:
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

    def _overrun(self, call: Call) -> None:
        """Fail a call whose timeout has passed, and cancel its coroutine or end its worker."""
        peer, call.due = call.peer, NEVER
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

    def _insist(self, peer: Peer, number: int) -> None:
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


def _explain(raw: bytes) -> HookFailed | None:
    """Return the error of a failed hook, None if it is malformed: the worker runs any code.

    The exception's type and place are for administrators only.
    """
    try:
        told = serializer.decode_json(raw)
        name, place = told["type"], f"{told['file']}:{told['line']}" if told.get("file") else ""
    except (ValueError, LookupError, TypeError, AttributeError):
        return None
    if told.get("why"):
        return HookFailed(told["why"], place)
    return HookFailed("it raised an exception", f"{name} at {place}" if place else name)
