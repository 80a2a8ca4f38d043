"""Caches that all servers of a process share: answers to short questions.

Nothing else in podless is global. Each cache is pure (the answer follows from the arguments alone, so servers do not
see each other) and bounded: in number, and in the length of the arguments, because clients may send long values that
must not stay in memory. An answer is longer than its question by at most a constant. `caches` lists them.

Any thread may use a cache, also work off the event loop: an answer is complete before it is stored, one store publishes
it, and it is the same whichever thread computes it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache, wraps
from inspect import CO_VARARGS, CO_VARKEYWORDS
from threading import Lock
from typing import Any, NamedTuple, ParamSpec, Protocol, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")

LONGEST = 1024  # characters or bytes of one argument


class BoundedCache(NamedTuple):
    """One of the caches. name: module and function. most: answers kept. size: how many there are. clear: drops all."""

    name: str
    most: int
    size: Callable[[], int]
    clear: Callable[[], None]


_caches: list[BoundedCache] = []


def caches() -> tuple[BoundedCache, ...]:
    """Every cache that the modules imported so far keep for the process."""
    return tuple(_caches)


def register_cache(cache: BoundedCache) -> None:
    """List a cache that is bounded by other means than `bounded_cache`."""
    _caches.append(cache)


def bounded_cache(most: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Cache a function as functools.lru_cache(most) does, except for calls with a long text among the arguments.

    A function of one argument drops the oldest entry, and accepts it as a positional argument only.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        name = f"{function.__module__}.{function.__qualname__}"
        if _takes_one(function):
            answers = _Answers(function, most)
            _caches.append(BoundedCache(name, most, answers.__len__, answers.clear))
            return cast(Callable[P, R], answers.__getitem__)

        def short(*args: Any, **kwargs: Any) -> R:
            answer = function(*args, **kwargs)
            for arg in (*args, *kwargs.values()):
                if arg.__class__ in _TEXTS and len(arg) > LONGEST:
                    raise _Long(answer)
            return answer

        kept: Any = lru_cache(most)(short)
        _caches.append(BoundedCache(name, most, lambda: kept.cache_info().currsize, kept.cache_clear))

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                answer: R = kept(*args, **kwargs)
                return answer
            except _Long as long:
                return cast(R, long.answer)

        return call

    return decorate


def _takes_one(function: Callable[..., Any]) -> bool:
    code = function.__code__
    return code.co_argcount == 1 and not code.co_kwonlyargcount and not code.co_flags & _VARIABLE


class _Answers(dict[Any, Any]):
    """The answers of a function of one argument, by that: one that is known costs a look into a dict, and no call."""

    __slots__ = ("_function", "_most")

    def __init__(self, function: Callable[..., Any], most: int) -> None:
        super().__init__()
        self._function: Any = function
        self._most = most

    def __missing__(self, question: Any) -> Any:
        answer = self._function(question)
        if question.__class__ not in _TEXTS or len(question) <= LONGEST:
            self[question] = answer
            while len(self) > self._most:
                with suppress(KeyError, RuntimeError, StopIteration):  # another thread was quicker, or came between
                    del self[next(iter(self))]  # who was asked first
        return answer


class Droppable(Protocol):
    """Holds a large value that can be computed again."""

    def drop(self) -> None:
        """Drop the value. It is computed again when it is needed."""


class Weighted:
    """Limits the total size of droppable values. Beyond the limit, the oldest holders drop theirs, one by one.

    name: module and kind of value. least: the minimum that each counts for, in bytes. total: limit in bytes.
    """

    def __init__(self, name: str, least: int, total: int) -> None:
        self._least, self._total = least, total
        self._weights: dict[Droppable, int] = {}
        self._lock = Lock()
        self.weight = 0
        _caches.append(BoundedCache(name, total // least, self._weights.__len__, self.clear))

    def keep(self, holder: Droppable, weight: int) -> None:
        """Count the present size of a holder's value."""
        with self._lock:
            self._forget(holder)
            self._weights[holder] = weight = max(weight, self._least)
            self.weight += weight
            while self.weight > self._total and len(self._weights) > 1:
                first = next(iter(self._weights))
                self._forget(first)
                first.drop()

    def _forget(self, holder: Droppable) -> None:
        self.weight -= self._weights.pop(holder, 0)

    def clear(self) -> None:
        """Drop all values."""
        with self._lock:
            for holder in list(self._weights):
                self._forget(holder)
                holder.drop()


class _Long(Exception):
    """Carries the answer of a call that is not cached, because lru_cache does not store exceptions."""

    def __init__(self, answer: object) -> None:
        super().__init__()
        self.answer = answer


_TEXTS = (str, bytes)
_VARIABLE = CO_VARARGS | CO_VARKEYWORDS
