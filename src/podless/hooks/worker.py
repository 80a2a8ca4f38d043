"""The worker that loads and runs hooks: it reads and writes frames on a socket until the other side closes it.

Hooks from files run in a process, because only a process can be ended whatever its code does: a thread that loops in C
never releases the GIL. Functions that a program passes to its own server run on a thread of that program, which is
abandoned when it exceeds the timeout.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import importlib.util
import inspect
import os
import select
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

from podless.codec import serializer
from podless.hooks import Hook, check_names, find_hooks
from podless.hooks.runner import HookRunner, WrongResult
from podless.hooks.wire import ANSWER_HEAD, CANCEL, CHUNK, FAILED, POLLED, SUCCEEDED, FrameReader, Question
from podless.runtime.jsonobject import Object
from podless.runtime.system import count_processors

_MAX_MEMORY = 2 << 30  # maximum memory of a worker process in bytes
_CONTENTION = 0.00005  # seconds of another process on this processor, after which polling is wasteful
# first and maximum seconds without polling after that, doubled each time; once in several questions is no reason
_PAUSE, _MAX_PAUSE = 0.001, 0.256
# seconds of work whose answers are sent together, because each write may have to wake the server
_BATCH_SECONDS = 0.0005
_MAX_NAME = 200  # maximum characters of an exception's type in an answer


class SourceError(ValueError):
    """A source cannot be loaded, or has no hooks. The text names it."""


class Polling:
    """Decides whether a worker polls for the next question: it does while questions come in quick succession.

    Waking a sleeping process costs the server 20 us, and the first answer comes 50 us later. If other processes need
    the processor, polling is worse than sleeping: the scheduler prefers a process that wakes. able: polling is allowed.
    """

    def __init__(self, *, able: bool) -> None:
        self._able = able
        self._since = self._paused_until = 0.0
        self._pause = 0.0
        self.useful = False

    def start_wait(self) -> None:
        """Start to count the time, after a question was answered."""
        self._since = time.monotonic()

    def end_wait(self) -> None:
        """Count a question that has arrived."""
        now = time.monotonic()
        if self.useful and now > self._paused_until:
            self._pause = self._pause * 0.9 if self._pause > _PAUSE / 2 else 0.0
        self.useful = self._able and now - self._since < POLLED and now > self._paused_until

    def should_poll(self) -> bool:
        """Yield the processor, and return whether to poll once more."""
        before = time.monotonic()
        os.sched_yield()
        now = time.monotonic()
        if now - before > _CONTENTION:
            pause, self._pause = self._pause, min(self._pause * 2 or _PAUSE, _MAX_PAUSE)
            self._paused_until = now + pause
            return False
        return now - self._since < POLLED


class Worker:
    """Talks to the server over a socket. sources: the hooks' files. say: receives tracebacks.

    polling: see `Polling`.
    """

    def __init__(
        self,
        channel: socket.socket,
        runner: HookRunner,
        sources: Sequence[str],
        say: Callable[[str], None],
        polling: Polling,
    ) -> None:
        self._channel = channel
        self._runner = runner
        self._sources = sources
        self._say = say
        self._polling = polling
        self._process = os.getpid()

    def make_frame(self, number: int, status: int, raw: bytes) -> bytes:
        """Return a frame to the server. A process that a hook forked ends here, because the frame is its parent's."""
        if os.getpid() != self._process:
            os._exit(1)
        return ANSWER_HEAD.pack(len(raw), number, status) + raw

    def make_greeting(self) -> bytes:
        """Return the first frame to the server: the declarations of the hooks, and their files."""
        loaded = {"hooks": [hook.describe() for hook in self._runner.hooks], "files": list_files(self._sources)}
        return self.make_frame(0, SUCCEEDED, serializer.encode_json(loaded))

    def serve(self) -> None:
        """Answer questions until the server disconnects. Coroutines run concurrently, other hooks one at a time."""
        if any(hook.is_async for hook in self._runner.hooks):
            asyncio.run(self._serve_async())
            return
        self._channel.sendall(self.make_greeting())
        frames = FrameReader()
        while data := self._receive_bytes():
            answers, began = [], time.monotonic()
            for number, raw in frames.add_bytes(data):
                answers.append(self.run_hook(number, raw))
                if time.monotonic() - began > _BATCH_SECONDS:
                    self._channel.sendall(b"".join(answers))
                    answers, began = [], time.monotonic()
            self._channel.sendall(b"".join(answers))

    def _receive_bytes(self) -> bytes:
        """Return the next bytes from the server, b"" at the end."""
        polling = self._polling
        polling.start_wait()
        if polling.useful:
            poll = select.poll()
            poll.register(self._channel, select.POLLIN)
            while not poll.poll(0) and polling.should_poll():
                pass
        data = self._channel.recv(CHUNK)
        polling.end_wait()
        return data

    def run_hook(self, number: int, raw: bytes) -> bytes:
        """Run a hook that is not a coroutine function, and return the frame with its answer."""
        question = Question(raw)
        try:
            return self.make_frame(number, SUCCEEDED, self._runner.run_hook(question))
        except BaseException as error:  # also SystemExit: the failure policy applies to whatever a hook raises
            return self.make_failure(number, error, self._runner.find_hook(question))

    async def await_hook(self, number: int, question: Question) -> bytes:
        """Run a coroutine hook, and return the frame with its answer."""
        try:
            return self.make_frame(number, SUCCEEDED, await self._runner.await_hook(question))
        except BaseException as error:
            return self.make_failure(number, error, self._runner.find_hook(question))

    def make_failure(self, number: int, error: BaseException, hook: Hook) -> bytes:
        """Return the frame of a hook that failed."""
        failure = {"type": type(error).__name__[:_MAX_NAME]}
        if isinstance(error, WrongResult):
            failure |= place_of(hook) | {"why": str(error)}
        else:
            failure |= find_place(error, self._sources)
        try:
            text = "".join(traceback.format_exception(error))
        except Exception:  # raised by its __str__
            text = f"{failure['type']} without a text\n"
        self._say(text)
        return self.make_frame(number, FAILED, serializer.encode_json(failure))

    async def _serve_async(self) -> None:
        loop = asyncio.get_running_loop()
        channel = _AsyncChannel(self, self._runner, self._polling)
        await loop.create_connection(lambda: channel, sock=self._channel)
        await channel.ended


class _AsyncChannel(asyncio.BufferedProtocol):
    """The communication of a worker with coroutine hooks."""

    def __init__(self, worker: Worker, runner: HookRunner, polling: Polling) -> None:
        self._worker = worker
        self._runner = runner
        self._polling = polling
        self._loop = asyncio.get_running_loop()
        self._frames = FrameReader()
        self._buffer = memoryview(bytearray(CHUNK))
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._transport: asyncio.Transport | None = None
        self._polls = False
        self._answers: list[bytes] = []
        self.ended: asyncio.Future[None] = self._loop.create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.write(self._worker.make_greeting())

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.ended.done():
            self.ended.set_result(None)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        self._polling.end_wait()
        for number, raw in self._frames.add_bytes(self._buffer[:nbytes]):
            if raw == CANCEL:
                if (task := self._tasks.get(number)) is not None:
                    task.cancel()
            elif self._runner.find_hook(question := Question(raw)).is_async:
                self._tasks[number] = self._loop.create_task(self._await_hook(number, question))
            else:
                self._queue_answer(self._worker.run_hook(number, raw))

    async def _await_hook(self, number: int, question: Question) -> None:
        frame = await self._worker.await_hook(number, question)
        self._tasks.pop(number, None)
        self._queue_answer(frame)

    def _queue_answer(self, frame: bytes) -> None:
        if not self._answers:
            self._loop.call_soon(self._send_answers)
        self._answers.append(frame)

    def _send_answers(self) -> None:
        """Send the answers of this iteration of the loop."""
        assert self._transport is not None
        self._transport.write(b"".join(self._answers))
        self._answers.clear()
        self._polling.start_wait()
        if self._polling.useful and not self._polls:
            self._polls = True
            self._loop.call_soon(self._keep_awake)

    def _keep_awake(self) -> None:
        """Keep the loop from sleeping."""
        self._polls = self._polling.should_poll()
        if self._polls:
            self._loop.call_soon(self._keep_awake)


def main(descriptor: int, sources: Sequence[str]) -> None:
    """Run a worker process: load the hooks, then serve. The first frame reports a failed load."""
    os.dup2(2, 1)  # prints of hooks go to the server's log
    with contextlib.suppress(OSError, ValueError, ImportError):
        import resource  # does not exist on Windows, where the server imports this module, too

        resource.setrlimit(resource.RLIMIT_DATA, (_MAX_MEMORY, _MAX_MEMORY))
    with socket.socket(fileno=descriptor) as channel:
        channel.set_inheritable(False)
        os.register_at_fork(after_in_child=channel.close)
        try:
            runner = HookRunner(load_hooks(sources), bounded=True)
        except BaseException as error:
            failure = find_place(error, sources) | {"type": type(error).__name__, "why": str(error)}
            failure["named"] = isinstance(error, SourceError)
            raw = serializer.encode_json(failure)
            channel.sendall(ANSWER_HEAD.pack(len(raw), 0, FAILED) + raw)
            return
        polling = Polling(able=count_processors() > 1 and hasattr(os, "sched_yield") and hasattr(select, "poll"))
        with contextlib.suppress(OSError):
            Worker(channel, runner, sources, _print_text, polling).serve()


def start_thread(channel: socket.socket, hooks: Sequence[Hook], say: Callable[[str], None]) -> threading.Thread:
    """Start a worker on a daemon thread of this process."""

    def serve_channel() -> None:
        with channel, contextlib.suppress(OSError):
            Worker(channel, HookRunner(hooks), (), say, Polling(able=False)).serve()

    thread = threading.Thread(target=serve_channel, name="podless-hooks", daemon=True)
    thread.start()
    return thread


def _print_text(text: str) -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):  # a hook may have closed or replaced it
        sys.stderr.write(text)
        sys.stderr.flush()


def load_hooks(sources: Sequence[str]) -> list[Hook]:
    """Import files and modules, and return their hooks. Raises SourceError, ValueError and errors of the import."""
    hooks: list[Hook] = []
    for source in sources:
        path = Path(source)
        if path.suffix == ".py":
            if not path.is_file():  # otherwise the error would name a file of importlib
                raise SourceError(f"{source}: no such file")
            sys.path.insert(0, str(path.parent.absolute()))
            spec = importlib.util.spec_from_file_location(path.stem, path)
            if spec is None or spec.loader is None:
                raise SourceError(f"{source} cannot be loaded")
            module = importlib.util.module_from_spec(spec)
            sys.modules[path.stem] = module
            spec.loader.exec_module(module)
        elif "/" in source or path.is_file():
            raise SourceError(f"{source}: not a Python file: name a file that ends in .py, or a module")
        else:
            module = importlib.import_module(source)
        declared_here = find_hooks(vars(module))
        if not declared_here:
            raise SourceError(f"{source} has no hooks: decorate a function with podless.hooks.validate, mutate, ...")
        hooks += declared_here
    check_names(hooks)
    return hooks


def find_place(error: BaseException, sources: Sequence[str] = ()) -> Object:
    """Return file and line of the innermost frame of an exception, preferably in the hooks' own folders."""
    if isinstance(error, SyntaxError) and error.filename:
        return {"file": error.filename, "line": error.lineno or 0}
    frames = traceback.extract_tb(error.__traceback__)
    folders = tuple(str(Path(source).parent.absolute()) for source in sources if source.endswith(".py"))
    nearby = [frame for frame in frames if not folders or frame.filename.startswith(folders)]
    machinery = str(Path(__file__).parent)
    for frame in reversed(nearby or frames):
        if not frame.filename.startswith(machinery) or frame is frames[0]:
            return {"file": frame.filename, "line": frame.lineno or 0}
    return {}


def place_of(hook: Hook) -> Object:
    """Return file and line of a hook's function."""
    code = getattr(inspect.unwrap(hook.function), "__code__", None)
    return {"file": code.co_filename, "line": code.co_firstlineno} if code is not None else {}


def list_files(sources: Sequence[str]) -> list[str]:
    """Return the files from which the hooks were loaded: their own, and modules in the same folders."""
    folders = {str(Path(source).parent.absolute()) for source in sources if source.endswith(".py")}
    files = {str(Path(source).absolute()) for source in sources if source.endswith(".py")}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and (str(Path(file).parent) in folders or name in sources):
            files.add(file)
    return sorted(files)
