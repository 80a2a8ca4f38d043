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
from podless.hooks.wire import ACCEPTED, MAX_ANSWER, MAX_CONVERTED, Question, decode_part
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

    def find_hook(self, question: Question) -> Hook:
        """Return the hook that a question is for."""
        return self.hooks[question.index]

    def _limit_time(self) -> None:
        """Set a timer that ends the process after some processor time.

        A timer that was set a moment ago is kept, because setting it costs as much as a quick hook.
        """
        now = time.monotonic()
        if now - self._armed > _CPU_SECONDS / 4:
            self._armed = now
            signal.setitimer(signal.ITIMER_PROF, _CPU_SECONDS)

    def run_hook(self, question: Question) -> bytes:
        """Run a hook that is not a coroutine function, and return its answer. Raises the hook's exception."""
        hook = self.hooks[question.index]
        if self._bounded:
            self._limit_time()
        if hook.kind == declared.CONVERT:
            request = question.request
            return _encode_objects(request, [_convert_one(hook, request, obj) for obj in request["objects"]])
        call = _make_call(hook, question)
        try:
            return call.encode_answer(hook.function(**call.arguments))
        except Denied as denied:
            return call.encode_denial(denied)

    async def await_hook(self, question: Question) -> bytes:
        """Run a coroutine hook, and return its answer. Raises the hook's exception."""
        hook = self.hooks[question.index]
        if hook.kind == declared.CONVERT:
            request = question.request
            return _encode_objects(request, [await _convert_one(hook, request, obj) for obj in request["objects"]])
        call = _make_call(hook, question)
        try:
            return call.encode_answer(await hook.function(**call.arguments))
        except Denied as denied:
            return call.encode_denial(denied)


def _make_call(hook: Hook, question: Question) -> _AdmissionCall | _SubresourceCall:
    return (_SubresourceCall if hook.kind == declared.SUBRESOURCE else _AdmissionCall)(hook, question)


class _Call:
    """One call of a hook for a request. arguments: the values of the hook's parameters, by name."""

    third = ""  # the parameter that gets the third part

    def __init__(self, hook: Hook, question: Question) -> None:
        parameters = hook.parameters
        self.request = Request(question.request) if "request" in parameters else None
        self.arguments: dict[str, Any] = {}
        if "obj" in parameters:
            self.arguments["obj"] = _read_instance(question.obj, parameters["obj"])
        if "request" in parameters:
            self.arguments["request"] = self.request
        if self.third in parameters:
            self.arguments[self.third] = _read_instance(question.third_part, parameters[self.third])

    def encode_denial(self, denied: Denied) -> bytes:
        """Return the answer that denies the request."""
        return self._encode_answer({"allowed": False, "status": denied.status})

    def _encode_answer(self, answer: Object) -> bytes:
        if self.request is not None and self.request.warnings:
            answer["warnings"] = self.request.warnings
        if self.request is not None and self.request.annotations:
            answer["annotations"] = self.request.annotations
        return _check_size(_encode_result(answer), MAX_ANSWER)


class _SubresourceCall(_Call):
    """One call of a hook that answers a subresource."""

    third = "body"

    def encode_answer(self, result: Any) -> bytes:
        """Return the answer to a subresource request, with the object that the hook returned."""
        obj = _write_plain(result)
        if not isinstance(obj, dict):
            raise WrongResult(f"it returned {type(result).__name__}: a subresource hook returns an object")
        return self._encode_answer({"allowed": True, "object": obj})


class _AdmissionCall(_Call):
    """One call of a hook for a write."""

    third = "old"

    def __init__(self, hook: Hook, question: Question) -> None:
        super().__init__(hook, question)
        self._hook = hook
        self._before = question.obj_bytes

    def encode_answer(self, result: Any) -> bytes:
        """Return the answer that allows the request."""
        changed = None
        if self._hook.kind == declared.VALIDATE:
            if result is not None:
                raise WrongResult(f"it returned {type(result).__name__}: a validate hook returns None or raises Denied")
        elif self._before and (result is not None or "obj" in self.arguments):
            changed = self._find_change(self.arguments["obj"] if result is None else result)
        request = self.request
        if changed is None and (request is None or not (request.warnings or request.annotations)):
            return ACCEPTED
        return self._encode_answer({"allowed": True} | ({"object": changed} if changed is not None else {}))

    def _find_change(self, result: Any) -> Object | None:
        """Return the object after the hook, None if it is unchanged. Raises WrongResult."""
        obj = _write_plain(result)
        if not isinstance(obj, dict):
            raise WrongResult(f"it returned {type(result).__name__}, not an object")
        raw = _encode_result(obj)
        if raw == self._before:
            return None
        # checked before encoding, which takes eight times a text's length in memory and crashes without it
        _check_size(raw, MAX_ANSWER)
        if b"null" in raw:
            _check_numbers(obj)
        before = decode_part(self._before)
        if self._hook.kind == declared.DEFAULT:
            obj = _fill_missing(before, obj)
        return obj if _encode_result(obj, serializer.encode_sorted) != serializer.encode_sorted(before) else None


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


def _check_size(raw: bytes, limit: int) -> bytes:
    if len(raw) > limit:
        raise WrongResult(f"its result has {len(raw)} bytes, and {limit} are the most")
    return raw


def _convert_one(hook: Hook, request: Object, obj: Object) -> Any:
    arguments = {"obj": obj, "version": request["version"].rpartition("/")[2]}
    return hook.function(**{name: _read_instance(arguments[name], class_) for name, class_ in hook.parameters.items()})


def _set_version(request: Object, result: Any) -> Object:
    """Return a converted object with the apiVersion of the request. Raises WrongResult."""
    plain = _write_plain(result)
    if not isinstance(plain, dict):
        raise WrongResult(f"it returned {type(result).__name__}, not an object")
    return {**plain, "apiVersion": request["version"]}


def _encode_objects(request: Object, results: list[Any]) -> bytes:
    """Return the converted objects as an answer. A hook that returns None has changed the object itself."""
    pairs = zip(request["objects"], results, strict=True)
    converted = [_set_version(request, obj if result is None else result) for obj, result in pairs]
    return _check_size(_encode_result({"objects": converted}), MAX_CONVERTED)


def _fill_missing(present: Any, defaults: Any) -> Any:
    """Return a value with the fields of another that it lacks, at every depth."""
    if not isinstance(present, dict) or not isinstance(defaults, dict):
        return present
    filled = {name: _fill_missing(value, defaults.get(name)) for name, value in present.items()}
    return {**filled, **{name: value for name, value in defaults.items() if name not in present}}


def _read_instance(value: Any, class_: type | None) -> Any:
    """Return an object as an instance of its parameter's annotated class."""
    if class_ is None or not isinstance(value, dict):
        return value
    from podless.models.objects import read_object

    return read_object(class_, value)


def _write_plain(value: Any) -> Any:
    if isinstance(value, dict | list | str | int | float | None):
        return value
    from podless.models.objects import write_object

    try:
        return write_object(value)
    except TypeError:
        raise WrongResult(f"it returned {type(value).__name__}, which is not JSON") from None
