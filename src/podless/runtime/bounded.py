"""Caches that a process keeps for all of its servers: answers to short questions.

Nothing is global in podless but these. Each is pure (the answer follows from the arguments alone, so that no server
sees another) and bounded: in number, and in the length of what is asked, for what clients send may be long and must not
stay in memory for that. An answer is longer than its question by a constant at the most. `caches` lists them.

Any thread may ask and have its answer kept, work off the event loop too: an answer is complete before it is kept, is
kept by one store, and is the same whoever works it out.
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
    """As functools.lru_cache(most), but what has a long text among its arguments is worked out anew each time.

    A function of one argument forgets what was asked first, and takes it by its place only.
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
    """What holds something large that it can do without."""

    def drop(self) -> None:
        """Let go of it; it is made again where it is needed."""


class Weighted:
    """What holds something large, by how much that weighs: over a total, the first ones let go of theirs, one by one.

    name: module and what is kept. least: bytes that each weighs at least. total: bytes of all together.
    """

    def __init__(self, name: str, least: int, total: int) -> None:
        self._least, self._total = least, total
        self._weights: dict[Droppable, int] = {}
        self._lock = Lock()
        self.weight = 0
        _caches.append(BoundedCache(name, total // least, self._weights.__len__, self.clear))

    def keep(self, holder: Droppable, weight: int) -> None:
        """Count what a holder has now."""
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
        """All let go of theirs."""
        with self._lock:
            for holder in list(self._weights):
                self._forget(holder)
                holder.drop()


class _Long(Exception):
    """The answer to a question that is not kept, for what is raised is not."""

    def __init__(self, answer: object) -> None:
        super().__init__()
        self.answer = answer


_TEXTS = (str, bytes)
_VARIABLE = CO_VARARGS | CO_VARKEYWORDS
