"""The server's side of hooks: workers, calls, deadlines, and restarts.

A function that exceeds its timeout ends its worker: a process is killed, a thread is abandoned. Coroutines share a
worker and are cancelled; if a coroutine does not end then, its worker is killed, too. Calls that the worker had not
started move to another one.

The loop's thread waits for quick hooks and polls for their answers (peer.py), because sleeping would cost it more than
the hook: 60 to 100 us for each question, as its caches are cold then. With polling, a trivial hook adds 36 to 55 us of
its time to a create (16 creates at once). "The thread contract" in architecture.md says how long it may wait.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from podless.codec import serializer
from podless.hooks import Hook, processes, worker
from podless.hooks.peer import MAX_CALLS, NEVER, WAIT, DeclaredHook, HookCall, HookFailed, Peer
from podless.hooks.wire import ANSWER_HEAD, FAILED, PARTS, QUESTION, SUCCEEDED
from podless.runtime.jsonobject import Object
from podless.runtime.meter import run_unsuspended

log = logging.getLogger("podless")
_HOOKS_FOLDER = str(Path(__file__).parent)

MAX_WORKERS = 4  # maximum workers
_MAX_THREADS = 8  # maximum worker threads of this process, with abandoned ones
_MAX_QUEUED = 1000  # maximum queued calls
_GROWTH_DELAY = 0.05  # seconds that a call waits before another worker is started for it, or takes it over
_MAX_LOST = 3  # maximum workers that may end with a call before it fails
_CANCEL_TIMEOUT = 1.0  # seconds for a cancelled coroutine to end
_LOAD_TIMEOUT = 60.0  # timeout of loading hooks in seconds
_HEAD = PARTS.size
_TIMER_TOLERANCE = 0.002  # seconds by which a timer may fire early: uvloop's timers have millisecond resolution
_RESTART_DELAY = 1.0  # seconds until a worker that failed to start is started again
_MAX_BLOCKED = 0.003  # seconds that calls may block the loop before one of them is awaited
# calls until the pool checks again whether an iteration of the loop has several; doubled each time, up to the maximum
_SINGLE_CALLS, _MAX_SINGLE_CALLS = 8, 256


HookParts = tuple[bytes, bytes, bytes]  # the parts of a Question


class LoadFailed(Exception):
    """Hooks could not be loaded; the text is for the administrator of the server."""


class WorkerPool:
    """The workers that run one loaded set of hooks.

    sources: files and modules; if empty, the hooks of this process are used. declared: the hooks' declarations. files:
    the files that they were loaded from.
    """

    def __init__(self, sources: Sequence[str], hooks: Sequence[Hook] = ()) -> None:
        self._sources = list(sources)
        self._hooks = list(hooks)
        self.declared: list[Object] = []
        self.files: list[str] = []
        self._peers: list[Peer] = []
        self._queue: deque[HookCall] = deque()
        self._number = 0
        self._threads: list[threading.Thread] = []
        self._starting: asyncio.Task[None] | None = None
        self._growth_timer: asyncio.TimerHandle | None = None
        self._timer: asyncio.TimerHandle | None = None  # one timer for all calls, until the first deadline
        self._due = NEVER
        self._closed = False
        self._hooks_by_name: dict[tuple[str, str], DeclaredHook] = {}
        self._blocked = 0.0  # seconds that calls have blocked the loop since one was awaited
        self._uncollected: list[tuple[HookCall, DeclaredHook]] = []  # calls of this iteration of the loop
        self._single = 0  # calls that are sent at once, because the last iteration had only one
        self._next_single = _SINGLE_CALLS

    async def load_hooks(self) -> None:
        """Start a worker that loads the hooks. Raises LoadFailed."""
        greeting = await self._start_worker()
        self.declared, self.files = greeting["hooks"], greeting["files"]
        self._hooks_by_name = {
            (hook["kind"], hook["name"]): DeclaredHook(index, hook) for index, hook in enumerate(self.declared)
        }

    async def ask_hook(
        self, kind: str, name: str, question: HookParts, seconds: float, meanwhile: Callable[[], object] | None = None
    ) -> bytes | None:
        """Call a hook and return its answer, None if there is no such hook. See `LoadedHooks.call_hook`.

        If the last turn of the loop had one question, this one is sent at once. It is answered without a future, a
        timer and a place among the worker's calls, which cost more than a quick hook. If there is no answer in time, or
        more than one, the call gets them afterwards.
        """
        hook, peers = self._hooks_by_name.get((kind, name)), self._peers
        if hook is None:
            return None
        number, frame = self._make_frame(hook, question)
        is_alone = self._single and peers and peers[0].is_idle and self._blocked < _MAX_BLOCKED
        sent_at = time.monotonic()
        if not is_alone or not hook.is_quick(frame, seconds, sent_at):
            return await self._begin_call(hook, number, frame, seconds)
        self._single -= 1
        peer = peers[0]
        peer.send_frames(frame, sent_at)
        if meanwhile is not None:
            run_unsuspended(meanwhile)
        began = time.monotonic()
        until = began + WAIT
        data = peer.receive_soon(began, until)
        now = time.monotonic()
        self._blocked += now - began
        hook.add_wait(now - began, now, answered=bool(data))
        if len(data) >= ANSWER_HEAD.size:
            size, answered, status = ANSWER_HEAD.unpack_from(data)
            if answered == number and status == SUCCEEDED and size == len(data) - ANSWER_HEAD.size:
                peer.answered_at = now
                return data[ANSWER_HEAD.size :]
        call = self._make_call(hook, number, frame, seconds, now, quick=True)
        peer.add_call(call, already_sent=True)
        if data:
            peer.data_received(data)
            peer.wait_for(call, until)
        if not call.result.done():
            self._relieve_later(peer)
        return await call.result

    def _make_frame(self, hook: DeclaredHook, question: HookParts) -> tuple[int, bytes]:
        self._number = number = self._number + 1
        first, second, third = question
        size = _HEAD + len(first) + len(second) + len(third)
        return number, QUESTION.pack(size, number, hook.index, len(first), len(second)) + first + second + third

    def _make_call(
        self, hook: DeclaredHook, number: int, frame: bytes, seconds: float, now: float, *, quick: bool
    ) -> HookCall:
        """Return a new call, with its timer if it needs no new worker."""
        answer: asyncio.Future[bytes | None] = asyncio.get_running_loop().create_future()
        shares = hook.is_async or (quick and hook.shares)
        call = HookCall(number, frame, seconds, answer, hook.is_async, shares)
        if self._peers:
            call.due = due = now + seconds
            if due < self._due:
                self._set_timer(due)
        return call

    def _begin_call(
        self, hook: DeclaredHook, number: int, frame: bytes, seconds: float
    ) -> asyncio.Future[bytes | None]:
        """Send a question to a worker, now or at the end of this turn of the loop, or queue it."""
        if self._closed:
            raise HookFailed("the server is stopping")
        if len(self._queue) >= _MAX_QUEUED:
            raise HookFailed("too many calls of hooks are waiting")
        now = time.monotonic()
        is_quick = hook.is_quick(frame, seconds, now)
        call = self._make_call(hook, number, frame, seconds, now, quick=is_quick)
        peer = self._assign_call(call)
        if peer is None:
            return call.result
        if not is_quick:
            peer.flush_calls()
        elif self._single and len(peer.calls) == 1:
            self._single -= 1
            self._collect_answers(((call, hook),))
        else:
            if not self._uncollected:
                asyncio.get_running_loop().call_soon(self._collect_all)
            self._uncollected.append((call, hook))
        return call.result

    def _collect_all(self) -> None:
        """Wait for the answers to the questions of this iteration of the loop."""
        calls, self._uncollected = self._uncollected, []
        self._next_single = min(self._next_single * 2, _MAX_SINGLE_CALLS) if len(calls) == 1 else _SINGLE_CALLS
        self._single = self._next_single if len(calls) == 1 else 0
        self._collect_answers(calls)

    def _collect_answers(self, calls: Sequence[tuple[HookCall, DeclaredHook]]) -> None:
        """Send the questions, and block the loop until they are answered, for at most `WAIT`."""
        began = time.monotonic()
        self._flush_peers()
        if self._blocked >= _MAX_BLOCKED:
            self._blocked = 0.0
            is_late = True
        else:
            until, is_late = began + WAIT, False
            for call, hook in calls:
                last = hook
                if call.peer is not None and not call.peer.wait_for(call, until):
                    is_late = True
                    break
            now = time.monotonic()
            self._blocked += now - began
            last.add_wait((now - began) / len(calls), now, answered=not is_late)
        for call, _ in calls if is_late else ():
            if not call.result.done() and call.peer is not None:
                self._relieve_later(call.peer)

    def _relieve_later(self, peer: Peer) -> None:
        """Check soon whether calls wait too long behind each other."""
        if peer.relief is None and peer.in_turn:
            relieve, slow = self._relieve_worker, peer.functions[0]
            peer.relief = asyncio.get_running_loop().call_later(_GROWTH_DELAY, relieve, peer, slow)

    def _relieve_worker(self, peer: Peer, slow: HookCall) -> None:
        """Send calls to other workers, too, if a worker has not answered one of several calls.

        The pool does not know which call it runs, because it sends answers together. The first answer counts.
        """
        peer.relief = None
        peer.catch_up()
        if peer.dead or slow.number not in peer.calls:
            self._relieve_later(peer)
            return
        calls = peer.functions
        for call in calls:
            peer.isolate_call(call)
        for call in calls if len(calls) > 1 else ():
            self._assign_call(call.copy_to_move())
        self._flush_peers()

    def _flush_peers(self) -> None:
        for peer in self._peers:
            peer.flush_calls()

    def _set_timer(self, due: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._due = due
        self._timer = asyncio.get_running_loop().call_at(due, self._end_overdue)

    def _end_overdue(self) -> None:
        """End the calls whose timeout has passed, and set the timer for the next one."""
        self._timer, self._due = None, NEVER
        now = asyncio.get_running_loop().time() + _TIMER_TOLERANCE
        under_way = [*self._queue, *(call for peer in self._peers for call in peer.calls.values())]
        for call in under_way:
            if call.due <= now:
                self._end_call(call)
        due = min((call.due for call in under_way), default=NEVER)
        if due < self._due:
            self._set_timer(due)

    def _assign_call(self, call: HookCall) -> Peer | None:
        """Give a call to a worker, which must be flushed, or queue it."""
        best, calls = None, MAX_CALLS
        for peer in self._peers:
            if not peer.alone and len(peer.calls) < calls and (call.shares or peer.accepts_alone(call)):
                best, calls = peer, len(peer.calls)
        if best is not None:
            best.add_call(call)
        else:
            self._queue.append(call)
            self._ask_for_more(0.0 if not self._peers else _GROWTH_DELAY)
        return best

    def _ask_for_more(self, delay: float) -> None:
        if (
            self._growth_timer is None
            and self._starting is None
            and len(self._peers) < MAX_WORKERS
            and not self._closed
        ):
            self._growth_timer = asyncio.get_running_loop().call_later(delay, self._begin_growth)

    def _begin_growth(self) -> None:
        self._growth_timer = None
        if self._queue and not self._closed and self._starting is None and len(self._peers) < MAX_WORKERS:
            self._starting = asyncio.get_running_loop().create_task(self._add_worker())

    async def _add_worker(self) -> None:
        try:
            await self._start_worker()
        except LoadFailed as failed:
            self._starting = None
            if self._closed:  # a reload has replaced this pool, or the server stops
                return
            log.error("hooks: a worker was not started: %s", failed)
            if not self._peers:
                self._fail_waiting("no worker of hooks could be started")
            self._ask_for_more(_RESTART_DELAY)
        else:
            self._starting = None
            if self._queue:
                self._ask_for_more(_GROWTH_DELAY)

    def _fail_waiting(self, reason: str) -> None:
        while self._queue:
            self._queue.popleft().fail_with(HookFailed(reason))

    async def _start_worker(self) -> Object:
        """Start a worker, and return the declarations of its hooks. Raises LoadFailed."""
        loop = asyncio.get_running_loop()
        server_end, worker_end = socket.socketpair()
        server_end.setblocking(False)
        try:
            kill = await self._spawn_worker(worker_end)
        except (OSError, LoadFailed) as error:
            server_end.close()
            worker_end.close()
            raise LoadFailed(str(error)) from None
        peer = Peer(server_end, kill, self._handle_answer, self._handle_loss)
        await loop.create_connection(lambda: peer, sock=server_end)
        try:
            async with asyncio.timeout(_LOAD_TIMEOUT):
                greeting = await asyncio.shield(peer.greeting)
        except TimeoutError:
            peer.end_worker()
            raise LoadFailed(f"{self._source_names}: not loaded within {_LOAD_TIMEOUT:.0f} s") from None
        if not greeting or greeting[0] == FAILED:
            peer.end_worker()
            failure = serializer.decode_json(greeting[1:]) if greeting else {}
            raise LoadFailed(_explain_load(self._source_names, failure))
        if self._closed:
            peer.end_worker()
            raise LoadFailed("the server is stopping")
        self._peers.append(peer)
        now = loop.time()
        for call in self._queue:
            if call.due == NEVER:
                call.due = now + call.seconds
        due = min((call.due for call in self._queue), default=NEVER)
        if due < self._due:
            self._set_timer(due)
        self._send_waiting(peer)
        declarations: Object = serializer.decode_json(greeting[1:])
        return declarations

    @property
    def _source_names(self) -> str:
        return ", ".join(self._sources) or "hooks"

    async def _spawn_worker(self, worker_end: socket.socket) -> Callable[[], None]:
        """Start a process, or a thread of this process. Return the function that ends it."""
        if not self._sources:
            return self._spawn_thread(worker_end)
        loop = asyncio.get_running_loop()
        started = await loop.run_in_executor(None, processes.start_worker, worker_end, self._sources)

        def kill_worker() -> None:
            started.kill()
            loop.run_in_executor(None, started.clean_up)

        return kill_worker

    def _spawn_thread(self, worker_end: socket.socket) -> Callable[[], None]:
        alive = [thread for thread in self._threads if thread.is_alive()]
        if len(alive) >= _MAX_THREADS:
            raise LoadFailed(f"{len(alive)} threads run hooks that do not end")
        loop = asyncio.get_running_loop()

        def log_text(text: str) -> None:
            with contextlib.suppress(RuntimeError):  # the server has stopped
                loop.call_soon_threadsafe(log.error, "hooks: %s", text)

        self._threads = [*alive, worker.start_thread(worker_end, self._hooks, log_text)]
        return lambda: None

    def _handle_answer(self, peer: Peer, number: int, status: int, raw: bytes) -> None:
        """Complete the call that a worker has answered."""
        call = peer.calls.pop(number, None)
        if call is None:  # code of a hook writes to the socket
            peer.end_worker()
            return
        peer.in_turn -= not call.is_async
        peer.alone -= not call.shares
        if status == FAILED:
            failed = _explain_failure(raw)
            call.fail_with(failed or HookFailed("its worker returned a malformed answer"))
            if failed is None:
                peer.end_worker()
                return
        elif not call.result.done():
            call.result.set_result(raw)
        if self._queue:
            self._send_waiting(peer)

    def _send_waiting(self, peer: Peer) -> None:
        """Send queued calls to a worker, as many as it accepts."""
        queue = self._queue
        while (
            queue
            and not peer.alone
            and (queue[0].shares or peer.accepts_alone(queue[0]))
            and len(peer.calls) < MAX_CALLS
        ):
            call = queue.popleft()
            if not call.result.done():
                peer.add_call(call)
        peer.flush_calls()

    def _handle_loss(self, peer: Peer) -> None:
        """Fail the call that ended a worker. Retry all others on other workers.

        A worker runs one function at a time, so coroutines beside it are not the cause. Nor is a function that waits
        behind a coroutine that blocks. If the worker had several functions, or only coroutines, the cause is unknown.
        So functions are retried one at a time, and coroutines the second time.
        """
        if peer in self._peers:
            self._peers.remove(peer)
        blames = peer.in_turn == 1 and not peer.blocked
        calls, peer.calls = list(peer.calls.values()), {}
        for call in calls:
            call.lost += 1
            is_cause = len(calls) == 1 or (blames and not call.is_async) or call.lost > _MAX_LOST
            if is_cause or self._closed:
                call.fail_with(HookFailed("its worker ended"))
            elif not call.moved and not call.result.done():
                call.peer, call.shares = None, call.is_async and call.lost == 1
                self._assign_call(call)
        self._flush_peers()
        if self._queue:
            self._ask_for_more(0.0)

    def _end_call(self, call: HookCall) -> None:
        """Fail a call whose timeout has passed, and cancel its coroutine or end its worker."""
        peer, call.due = call.peer, NEVER
        if peer is not None:
            peer.catch_up()
        call.fail_with(HookFailed(f"it did not answer within {call.seconds:g} s"))
        if peer is None:
            with contextlib.suppress(ValueError):
                self._queue.remove(call)
        elif call.number not in peer.calls:
            return
        elif call.is_async:
            peer.isolate_call(call)
            peer.cancel_call(call.number)
            asyncio.get_running_loop().call_later(_CANCEL_TIMEOUT, self._end_uncancelled, peer, call.number)
        else:
            log.error("hooks: ended a worker: a hook did not answer within its timeout of %g s", call.seconds)
            peer.end_worker()

    def _end_uncancelled(self, peer: Peer, number: int) -> None:
        """Kill a worker whose coroutine still runs after it was cancelled."""
        if number in peer.calls:
            log.error("hooks: ended a worker: a coroutine went on after it was cancelled")
            peer.blocked = True
            peer.end_worker()

    @property
    def is_quiet(self) -> bool:
        """Whether no call is in progress."""
        return not self._queue and not any(peer.calls for peer in self._peers)

    def close(self) -> None:
        """End all workers; calls in progress fail."""
        self._closed = True
        for timer in (self._growth_timer, self._timer):
            if timer is not None:
                timer.cancel()
        self._fail_waiting("the server is stopping")
        for peer in list(self._peers):
            peer.end_worker()


def _explain_load(sources: str, failure: Object) -> str:
    """Return why hooks could not be loaded, with file and line if the hooks raised the error."""
    if not failure:
        return f"{sources}: the worker ended while it loaded the hooks"
    if failure["named"]:
        return str(failure["why"])
    file = failure.get("file") or ""
    if not file or file.startswith(("<frozen ", _HOOKS_FOLDER)):  # raised before the first line of the hooks
        return f"{sources}: {failure['why']}"
    return f"{file}:{failure['line']}: {failure['type']}: {failure['why']}"


def _explain_failure(raw: bytes) -> HookFailed | None:
    """Return the error of a failed hook, None if it is malformed: the worker runs any code.

    The exception's type and place are for administrators only.
    """
    try:
        failure = serializer.decode_json(raw)
        name, location = failure["type"], f"{failure['file']}:{failure['line']}" if failure.get("file") else ""
    except (ValueError, LookupError, TypeError, AttributeError):
        return None
    if failure.get("why"):
        return HookFailed(failure["why"], location)
    return HookFailed("it raised an exception", f"{name} at {location}" if location else name)
