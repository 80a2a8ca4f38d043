"""Runs one hook: decodes its parameters, calls the function, checks and encodes the result."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Sequence
from typing import Any

from podless import hooks as declared
from podless.codec import serializer
from podless.hooks import Denied, Hook, Request
from podless.hooks.wire import ACCEPTED, ANSWER_MOST, CONVERTED_MOST, Question, decode_part
from podless.runtime.jsonobject import Object

_CPU_SECONDS = 120.0  # maximum processor seconds of a hook, if the server is gone and cannot end the process


class WrongResult(Exception):
    """A hook returned a value of the wrong type or size. The text contains none of the user's data."""


class HookRunner:
    """Runs the hooks of one worker. bounded: a timer limits the processor time of each hook."""

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
        """Run a hook that is not a coroutine function, and return its answer. Raises the hook's exception."""
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
        """Run a coroutine hook, and return its answer. Raises the hook's exception."""
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

    third = ""  # the parameter that gets the third part

    def __init__(self, hook: Hook, question: Question) -> None:
        takes = hook.takes
        self.request = Request(question.request) if "request" in takes else None
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
        if self.request is not None and self.request.warnings:
            answer["warnings"] = self.request.warnings
        if self.request is not None and self.request.annotations:
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
    """One call of a hook for a write."""

    third = "old"

    def __init__(self, hook: Hook, question: Question) -> None:
        super().__init__(hook, question)
        self._hook = hook
        self._before = question.obj_bytes

    def answer(self, result: Any) -> bytes:
        """Return the answer that allows the request."""
        changed = None
        if self._hook.kind == declared.VALIDATE:
            if result is not None:
                raise WrongResult(f"it returned {type(result).__name__}: a validate hook returns None or raises Denied")
        elif self._before and (result is not None or "obj" in self.arguments):
            changed = self._changed(self.arguments["obj"] if result is None else result)
        request = self.request
        if changed is None and (request is None or not (request.warnings or request.annotations)):
            return ACCEPTED
        return self._encode({"allowed": True} | ({"object": changed} if changed is not None else {}))

    def _changed(self, result: Any) -> Object | None:
        """Return the object after the hook, None if it is unchanged. Raises WrongResult."""
        made = _plain(result)
        if not isinstance(made, dict):
            raise WrongResult(f"it returned {type(result).__name__}, not an object")
        raw = _encode_result(made)
        if raw == self._before:
            return None
        # checked before encoding, which takes eight times a text's length in memory and crashes without it
        _bounded(raw, ANSWER_MOST)
        if b"null" in raw:
            _check_numbers(made)
        before = decode_part(self._before)
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
    """Encode the result of a hook. Raises WrongResult."""
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
    """Return a value with the fields of another that it lacks, at every depth."""
    if not isinstance(known, dict) or not isinstance(more, dict):
        return known
    return {name: _filled(value, more.get(name)) for name, value in known.items()} | {
        name: value for name, value in more.items() if name not in known
    }


def _typed(value: Any, wanted: type | None) -> Any:
    """Return an object as an instance of its parameter's annotated class."""
    if wanted is None or not isinstance(value, dict):
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
