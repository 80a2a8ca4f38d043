"""Waits on a watch for a state of an object; on timeout, the error shows its last state."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

from podless.app import App
from podless.codec import serializer
from podless.controllers.write import find_condition, list_conditions
from podless.runtime.jsonobject import Object
from podless.testing.ask import Lines

Check = Callable[[Object], Any]
Condition = str | Check | None

_CONDITION = re.compile(r"(?:condition=)?([A-Za-z][\w./-]*)(?:=(\w+))?")
_PLAIN = re.compile(r"[A-Z]\w*(?:=\w+)?|condition=.*")
DELETE = "delete"
_QUERY = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}


class Waited(TimeoutError):
    """The wait timed out. last: the last state of the object, None if it does not exist."""

    def __init__(self, text: str, last: Object | None) -> None:
        super().__init__(text)
        self.last = last


class Test:
    """A condition to wait for. evaluation_error: of the CEL expression at the last check, "" for none."""

    __test__ = False  # pytest must not collect this class

    def __init__(self, condition: Condition) -> None:
        self.condition = condition
        self.evaluation_error = ""
        self._check = self._make_check(condition)

    def _make_check(self, condition: Condition) -> Check:
        if condition is None or callable(condition):
            return condition or (lambda obj: True)
        if not isinstance(condition, str):
            raise TypeError(f"wait takes a condition, a CEL expression or a function, not {type(condition).__name__}")
        if condition == DELETE:
            return lambda obj: False
        if _PLAIN.fullmatch(condition) and (match := _CONDITION.fullmatch(condition)):
            name, status = match[1], match[2] or "True"
            wanted = status.capitalize()
            return lambda obj: str(find_condition(list_conditions(obj), name).get("status", "")) == wanted
        return self._make_cel_check(condition)

    def _make_cel_check(self, source: str) -> Check:
        from podless.cel import EvaluationError, compile
        from podless.cel.types import DYN

        program = compile(source, {"object": DYN})

        def check_object(obj: Object) -> bool:
            try:
                return program.evaluate({"object": obj}) is True
            except EvaluationError as error:  # e.g. a field that does not exist yet
                self.evaluation_error = str(error)
                return False

        return check_object

    def holds(self, obj: Object | None) -> bool:
        """Return whether the condition holds for an object, None for a missing one."""
        self.evaluation_error = ""
        if obj is None:
            return self.condition == DELETE
        return bool(self._check(obj))

    def __str__(self) -> str:
        if self.condition is None:
            return "exists"
        return self.condition if isinstance(self.condition, str) else getattr(self.condition, "__name__", "a condition")


async def wait_for(app: App, path: str, name: str, test: Test, seconds: float) -> Object:
    """Return the first state of an object that meets a condition; for "delete" the last one, or {}.

    path: of its collection. Raises Waited after the timeout in seconds, Refused if the watch is rejected.
    """
    last: list[Object | None] = [None]
    try:
        async with asyncio.timeout(seconds):
            while True:
                result = await _watch_once(app, path, name, test, last)
                if result is not None:
                    return result
    except TimeoutError:
        raise Waited(_describe_timeout(path, name, test, seconds, last[0]), last[0]) from None


async def _watch_once(app: App, path: str, name: str, test: Test, last: list[Object | None]) -> Object | None:
    """Run one watch; return None if it ends before the condition holds."""
    lines = await Lines.of(app, path, fieldSelector=f"metadata.name={name}", **_QUERY)
    before: Object = {}
    present = None
    try:
        while (event := await lines.next()) is not None and event["type"] != "ERROR":
            if event["type"] == "BOOKMARK":
                if present is not None:
                    continue
            elif event["type"] == "DELETED":
                before, present = event["object"], None
            else:
                present = event["object"]
            last[0] = present
            if test.holds(present):
                return present if present is not None else before
    finally:
        lines.stop()
    return None


def _describe_timeout(path: str, name: str, test: Test, seconds: float, last: Object | None) -> str:
    text = f"waited {seconds:g} s for {path}/{name}: {test}"
    if last is None:
        return f"{text}\nthe object does not exist"
    if test.evaluation_error:
        text += f"\nthe expression said: {test.evaluation_error}"
    metadata = {key: value for key, value in last["metadata"].items() if key != "managedFields"}
    text_of_object = serializer.encode_yaml({**last, "metadata": metadata}).decode()
    return f"{text}\nlast seen:\n" + "".join(f"  {line}\n" for line in text_of_object.splitlines())
