"""The worker that runs hooks: it reads and writes frames on a socket until the other side closes it.

Hooks from files run in a process, because only a process can be ended whatever its code does: a thread that loops in C
never gives up the interpreter. Functions that a program passes to its own server run on a thread of that program, which
is abandoned when it overruns.

A frame in is a size, a number and a `Question`. A frame out is a size, the number, a status and JSON. Number 0 is the
first frame out: the declared hooks, or why they could not be loaded.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import struct
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import orjson

from podless import hooks as declared
from podless.codec import serializer
from podless.hooks import Denied, Hook, Request
from podless.hooks.sources import find_place, list_files, load_hooks, place_of
from podless.runtime.jsonobject import Object

GIVEN = struct.Struct("!IQ")  # size, number
PARTS = struct.Struct("!HII")  # place of the hook, sizes of the first and the second part
QUESTION = struct.Struct("!IQHII")  # both together
TOLD = struct.Struct("!IQB")  # size, number, status
GOOD, FAILED = 0, 1
CANCEL = b"cancel"
ACCEPTED = b'{"allowed":true}'
ANSWER_MOST = 4 << 20  # bytes of an answer about one object, as of a webhook
CONVERTED_MOST = 16 << 20  # bytes of converted objects
_MEMORY_MOST = 2 << 30  # bytes that a worker process may allocate
_CPU_SECONDS = 120.0  # of a hook, if the server is gone and cannot end the process
_CHUNK = 1 << 18
_NAME_MOST = 200  # characters of an exception's type that are told


class WrongResult(Exception):
    """A hook returned a value of the wrong type or size. The text contains none of the user's data."""


class Question:
    """The question to a hook: its place among the declared hooks, and three parts in JSON, decoded at first use.

    | hooks | parts |
    |---|---|
    | validate, mutate, default | the AdmissionRequest, the object, the old object |
    | convert | the wanted apiVersion and the objects |
    | subresource | the request, the object, the body |

    A part that the hook does not take is empty, for encoding and decoding cost as much as a quick hook.
    """

    __slots__ = ("_first", "_second", "_third", "place")

    def __init__(self, raw: bytes) -> None:
        self.place: int
        self.place, first, second = PARTS.unpack_from(raw)
        middle = PARTS.size + first
        self._first = raw[PARTS.size : middle]
        self._second = raw[middle : middle + second]
        self._third = raw[middle + second :]

    @property
    def request(self) -> Any:
        """The first part."""
        return _decode(self._first)

    @property
    def obj(self) -> Any:
        """The second part."""
        return _decode(self._second)

    @property
    def obj_bytes(self) -> bytes:
        """The second part as it was sent."""
        return self._second

    @property
    def other(self) -> Any:
        """The third part."""
        return _decode(self._third)


def _decode(raw: bytes) -> Any:
    """Decode JSON that the server encoded; its numbers are already as Go has them."""
    if not raw:
        return None
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:  # deeper than it takes
        return serializer.decode_json(raw)


class HookRunner:
    """Runs the hooks of one worker. bounded: the process limits the processor time of its hooks with a timer."""

    def __init__(self, hooks: Sequence[Hook], *, bounded: bool = False) -> None:
        self.hooks = list(hooks)
        self._bounded = bounded
        self._armed = -_CPU_SECONDS

    def find(self, question: Question) -> Hook:
        """Return the hook that a question is for."""
        return self.hooks[question.place]

    def _bound(self) -> None:
        """Set a timer that ends the process after some processor time.

        A timer that was set a moment ago is kept, because setting it costs as much as a quick hook.
        """
        now = time.monotonic()
        if now - self._armed > _CPU_SECONDS / 4:
            self._armed = now
            signal.setitimer(signal.ITIMER_PROF, _CPU_SECONDS)

    def run_hook(self, question: Question) -> bytes:
        """Run a hook that is no coroutine function, and return its answer. Raises what the hook raises."""
        hook = self.hooks[question.place]
        if self._bounded:
            self._bound()
        if hook.kind == declared.CONVERT:
            given = question.request
            made = [(obj, _convert_one(hook, given, obj)) for obj in given["objects"]]
            return _converted([_named(given, obj if result is None else result) for obj, result in made])
        call = _make_call(hook, question)
        try:
            return call.answer(hook.function(**call.arguments))
        except Denied as denied:
            return call.refuse(denied)

    async def wait(self, question: Question) -> bytes:
        """Run a coroutine hook, and return its answer. Raises what the hook raises."""
        hook = self.hooks[question.place]
        if hook.kind == declared.CONVERT:
            given = question.request
            made = [(obj, await _convert_one(hook, given, obj)) for obj in given["objects"]]
            return _converted([_named(given, obj if result is None else result) for obj, result in made])
        call = _make_call(hook, question)
        try:
            return call.answer(await hook.function(**call.arguments))
        except Denied as denied:
            return call.refuse(denied)


def _make_call(hook: Hook, question: Question) -> _Admission | _Subresource:
    return (_Subresource if hook.kind == declared.SUBRESOURCE else _Admission)(hook, question)


class _Call:
    """One call of a hook for a request. arguments: the values of the hook's parameters, by name."""

    third = ""  # the name of the parameter for the third part

    def __init__(self, hook: Hook, question: Question) -> None:
        takes = hook.takes
        self.request = Request(question.request if "request" in takes else {})
        self.arguments: dict[str, Any] = {}
        if "obj" in takes:
            self.arguments["obj"] = _typed(question.obj, takes["obj"])
        if "request" in takes:
            self.arguments["request"] = self.request
        if self.third in takes:
            self.arguments[self.third] = _typed(question.other, takes[self.third])

    def refuse(self, denied: Denied) -> bytes:
        """Return the answer that denies the request."""
        return self._encode({"allowed": False, "status": denied.status})

    def _encode(self, answer: Object) -> bytes:
        if self.request.warnings:
            answer["warnings"] = self.request.warnings
        if self.request.annotations:
            answer["annotations"] = self.request.annotations
        return _bounded(_encode_result(answer), ANSWER_MOST)


class _Subresource(_Call):
    """One call of a hook that answers a subresource."""

    third = "body"

    def answer(self, result: Any) -> bytes:
        """Return the answer to a subresource request, with the object that the hook returned."""
        made = _plain(result)
        if not isinstance(made, dict):
            raise WrongResult(f"it returned {type(result).__name__}: a subresource hook returns an object")
        return self._encode({"allowed": True, "object": made})


class _Admission(_Call):
    """One call of a hook about a write."""

    third = "old"

    def __init__(self, hook: Hook, question: Question) -> None:
        super().__init__(hook, question)
        self._hook = hook
        self._before = question.obj_bytes

    def answer(self, result: Any) -> bytes:
        """Return the answer that lets the request pass."""
        changed = None
        if self._hook.kind == declared.VALIDATE:
            if result is not None:
                raise WrongResult(f"it returned {type(result).__name__}: a validate hook returns None or raises Denied")
        elif self._before and (result is not None or "obj" in self.arguments):
            changed = self._changed(self.arguments["obj"] if result is None else result)
        if changed is None and not self.request.warnings and not self.request.annotations:
            return ACCEPTED
        return self._encode({"allowed": True} | ({"object": changed} if changed is not None else {}))

    def _changed(self, result: Any) -> Object | None:
        """Return the object after the hook, None where it is as it was. Raises WrongResult."""
        made = _plain(result)
        if not isinstance(made, dict):
            raise WrongResult(f"it returned {type(result).__name__}, not an object")
        raw = _encode_result(made)
        if raw == self._before:
            return None
        _bounded(raw, ANSWER_MOST)  # now: the encoder takes eight times a text's length, and crashes without that room
        if b"null" in raw:
            _check_numbers(made)
        before = _decode(self._before)
        if self._hook.kind == declared.DEFAULT:
            made = _filled(before, made)
        return made if _encode_result(made, serializer.encode_sorted) != serializer.encode_sorted(before) else None


def _check_numbers(value: Any) -> None:
    """Raise WrongResult for NaN and infinity, which the encoder replaces with null."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        raise WrongResult("its result is not JSON: a number is NaN or infinite") from None


def _encode_result(value: Any, encode: Callable[[Any], bytes] = serializer.encode_json) -> bytes:
    """Encode what a hook made. Raises WrongResult."""
    try:
        return encode(value)
    except RecursionError:
        raise WrongResult("its result is nested too deeply, or contains itself") from None
    except (TypeError, ValueError) as error:
        raise WrongResult("its result is not JSON") from error


def _bounded(raw: bytes, most: int) -> bytes:
    if len(raw) > most:
        raise WrongResult(f"its result has {len(raw)} bytes, and {most} are the most")
    return raw


def _convert_one(hook: Hook, given: Object, obj: Object) -> Any:
    every = {"obj": obj, "version": given["version"].rpartition("/")[2]}
    return hook.function(**{name: _typed(every[name], wanted) for name, wanted in hook.takes.items()})


def _named(given: Object, made: Any) -> Object:
    """Return a converted object with the apiVersion of the request. Raises WrongResult."""
    plain = _plain(made)
    if not isinstance(plain, dict):
        raise WrongResult(f"it returned {type(made).__name__}, not an object")
    return {**plain, "apiVersion": given["version"]}


def _converted(objects: list[Object]) -> bytes:
    return _bounded(_encode_result({"objects": objects}), CONVERTED_MOST)


def _filled(known: Any, more: Any) -> Any:
    """Return a value with those fields of another that it lacks, at every depth."""
    if not isinstance(known, dict) or not isinstance(more, dict):
        return known
    return {name: _filled(value, more.get(name)) for name, value in known.items()} | {
        name: value for name, value in more.items() if name not in known
    }


def _typed(value: Any, wanted: Any) -> Any:
    """Return an object as an instance of the class that its parameter is annotated with."""
    if not isinstance(value, dict) or not isinstance(wanted, type) or issubclass(wanted, dict):
        return value
    from podless.models.objects import read_object

    return read_object(wanted, value)


def _plain(value: Any) -> Any:
    """Return an object as JSON values."""
    if isinstance(value, dict | list | str | int | float | None):
        return value
    from podless.models.objects import write_object

    try:
        return write_object(value)
    except TypeError:
        raise WrongResult(f"it returned {type(value).__name__}, which is not JSON") from None


class Worker:
    """Talks to the server over a socket. sources: files that the hooks come from. say: gets tracebacks."""

    def __init__(
        self, channel: socket.socket, runner: HookRunner, sources: Sequence[str], say: Callable[[str], None]
    ) -> None:
        self._channel = channel
        self._runner = runner
        self._sources = sources
        self._say = say
        self._process = os.getpid()

    def tell(self, number: int, status: int, raw: bytes) -> bytes:
        """Return a frame to the server. A process that a hook forked ends here: the frame is not its own."""
        if os.getpid() != self._process:
            os._exit(1)
        return TOLD.pack(len(raw), number, status) + raw

    def greet(self) -> bytes:
        """Return the first frame to the server: the declarations of the hooks, and their files."""
        hooks = [hook.describe() for hook in self._runner.hooks]
        return self.tell(0, GOOD, serializer.encode_json({"hooks": hooks, "files": list_files(self._sources)}))

    def serve(self) -> None:
        """Answer questions until the server disconnects. Coroutines run concurrently, other hooks one at a time."""
        if any(hook.is_async for hook in self._runner.hooks):
            asyncio.run(self._serve_async())
            return
        self._channel.sendall(self.greet())
        frames = FrameReader()
        while data := self._channel.recv(_CHUNK):
            for number, raw in frames.add_bytes(data):
                if raw != CANCEL:
                    self._channel.sendall(self._work(number, raw))

    def _work(self, number: int, raw: bytes) -> bytes:
        given = Question(raw)
        try:
            return self.tell(number, GOOD, self._runner.run_hook(given))
        except BaseException as error:  # whatever a hook raises counts by its failure policy
            return self.fail(number, error, self._runner.find(given))

    def fail(self, number: int, error: BaseException, hook: Hook) -> bytes:
        """Return the frame of a hook that failed."""
        told = {"type": type(error).__name__[:_NAME_MOST]}
        if isinstance(error, WrongResult):
            told |= place_of(hook) | {"why": str(error)}
        else:
            told |= find_place(error, self._sources)
        try:
            text = "".join(traceback.format_exception(error))
        except Exception:  # raised by its __str__
            text = f"{told['type']} without a text\n"
        self._say(text)
        return self.tell(number, FAILED, serializer.encode_json(told))

    async def _serve_async(self) -> None:
        loop = asyncio.get_running_loop()
        self._channel.setblocking(False)
        await loop.sock_sendall(self._channel, self.greet())
        frames, tasks, writing = FrameReader(), dict[int, asyncio.Task[None]](), asyncio.Lock()

        async def send(frame: bytes) -> None:
            async with writing:
                await loop.sock_sendall(self._channel, frame)

        async def work(number: int, given: Question) -> None:
            try:
                frame = self.tell(number, GOOD, await self._runner.wait(given))
            except BaseException as error:
                frame = self.fail(number, error, self._runner.find(given))
            tasks.pop(number, None)
            await send(frame)

        while data := await loop.sock_recv(self._channel, _CHUNK):
            for number, raw in frames.add_bytes(data):
                if raw == CANCEL:
                    if (task := tasks.get(number)) is not None:
                        task.cancel()
                    continue
                given = Question(raw)
                if self._runner.find(given).is_async:
                    tasks[number] = loop.create_task(work(number, given))
                else:
                    await send(self._work(number, raw))


class FrameReader:
    """Cuts a stream of bytes into frames in."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def add_bytes(self, data: bytes) -> list[tuple[int, bytes]]:
        """Add received bytes, and return the frames that they complete: number and body."""
        found, rest = [], self._rest
        rest += data
        while len(rest) >= GIVEN.size:
            size, number = GIVEN.unpack_from(rest)
            if len(rest) < GIVEN.size + size:
                break
            found.append((number, bytes(rest[GIVEN.size : GIVEN.size + size])))
            del rest[: GIVEN.size + size]
        return found


def main(descriptor: int, sources: Sequence[str]) -> None:
    """Run a worker process: load the hooks, then serve. The first frame reports a failed load."""
    os.dup2(2, 1)  # what hooks print is for the server's log
    with contextlib.suppress(OSError, ValueError, ImportError):
        import resource  # not on Windows; the module is imported by the server, too

        resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY_MOST, _MEMORY_MOST))
    with socket.socket(fileno=descriptor) as channel:
        try:
            runner = HookRunner(load_hooks(sources), bounded=True)
        except BaseException as error:
            told = find_place(error, sources) | {"type": type(error).__name__, "why": str(error)}
            raw = serializer.encode_json(told)
            channel.sendall(TOLD.pack(len(raw), 0, FAILED) + raw)
            return
        with contextlib.suppress(OSError):
            Worker(channel, runner, sources, _print).serve()


def start_thread(channel: socket.socket, hooks: Sequence[Hook], say: Callable[[str], None]) -> threading.Thread:
    """Start a worker on a daemon thread of this process."""

    def serve() -> None:
        with channel, contextlib.suppress(OSError):
            Worker(channel, HookRunner(hooks), (), say).serve()

    thread = threading.Thread(target=serve, name="podless-hooks", daemon=True)
    thread.start()
    return thread


def _print(text: str) -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):  # a hook may have closed or replaced it
        sys.stderr.write(text)
        sys.stderr.flush()
