"""Caches for results of calls with short arguments, which all servers of a process share.

Nothing else in podless is global. Each cache is pure: the result follows from the arguments alone, so servers do not
see each other. Each cache is bounded, in number and in the length of the arguments: long values from clients must not
stay in memory. A result is longer than its arguments by at most a constant. `CACHES` lists them.

Any thread may use a cache, also work off the event loop. A result is complete before it is stored, one store publishes
it, and every thread computes the same one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache, wraps
from inspect import CO_VARARGS, CO_VARKEYWORDS
from threading import RLock
from typing import Any, NamedTuple, ParamSpec, Protocol, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")

CACHES: list[BoundedCache] = []
MAX_KEY_LENGTH = 1024  # maximum characters or bytes of an argument of a cached call


class BoundedCache(NamedTuple):
    """A shared cache. name: module and function. limit: results kept. size: returns their number. clear: drops all."""

    name: str
    limit: int
    size: Callable[[], int]
    clear: Callable[[], None]


def bounded_cache(limit: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Cache a function as functools.lru_cache(limit) does, except for calls with a long text among the arguments.

    A function of one argument drops the oldest entry, and accepts it as a positional argument only.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        name = f"{function.__module__}.{function.__qualname__}"
        if _takes_one(function):
            answers = _ResultTable(function, limit)
            CACHES.append(BoundedCache(name, limit, answers.__len__, answers.clear))
            return cast(Callable[P, R], answers.__getitem__)

        def call_short(*args: Any, **kwargs: Any) -> R:
            answer = function(*args, **kwargs)
            for arg in (*args, *kwargs.values()):
                if arg.__class__ in _TEXTS and len(arg) > MAX_KEY_LENGTH:
                    raise _UncachedResult(answer)
            return answer

        cached: Any = lru_cache(limit)(call_short)
        CACHES.append(BoundedCache(name, limit, lambda: cached.cache_info().currsize, cached.cache_clear))

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                answer: R = cached(*args, **kwargs)
                return answer
            except _UncachedResult as long:
                return cast(R, long.answer)

        return call

    return decorate


def _takes_one(function: Callable[..., Any]) -> bool:
    code = function.__code__
    return code.co_argcount == 1 and not code.co_kwonlyargcount and not code.co_flags & _VARIABLE


class _ResultTable(dict[Any, Any]):
    """The results of a function of one argument, by the argument: a hit costs a dict lookup and no Python call."""

    __slots__ = ("_function", "_limit")

    def __init__(self, function: Callable[..., Any], limit: int) -> None:
        super().__init__()
        self._function: Any = function
        self._limit = limit

    def __missing__(self, argument: Any) -> Any:
        answer = self._function(argument)
        if argument.__class__ not in _TEXTS or len(argument) <= MAX_KEY_LENGTH:
            self[argument] = answer
            while len(self) > self._limit:
                # another thread has removed this entry, or changed the dict meanwhile
                with suppress(KeyError, RuntimeError, StopIteration):
                    del self[next(iter(self))]  # the oldest entry
        return answer


class Droppable(Protocol):
    """Holds a large value that can be computed again."""

    def drop_value(self, forced: bool = False) -> bool:
        """Drop the value; its next use computes it again.

        Returns False, and keeps the value, if it was used since the last call. forced: drop it in any case.
        """


class WeightAccount:
    """An account of large values by their bytes. Over the total, the values that were not used lately are dropped.

    name: module and kind of value. minimum: bytes of a value. total: bytes of all values together. A value counts
    at most three quarters of it, so that a larger one stays beside others: else each of them would drop it.
    """

    def __init__(self, name: str, minimum: int, total: int) -> None:
        self._minimum, self._total = minimum, total
        self._weights: dict[Droppable, int] = {}
        self._pins: dict[Droppable, int] = {}
        # reentrant: the collector can run `remove_holder` inside any other method
        self._lock = RLock()
        self.weight = 0
        CACHES.append(BoundedCache(name, total // minimum, self._weights.__len__, self.drop_all))

    def set_weight(self, holder: Droppable, weight: int) -> None:
        """Set the bytes of a holder's value, and drop other values over the total."""
        with self._lock:
            self._add_weight(holder, min(max(weight, self._minimum), self._total * 3 // 4))
            # two rounds: a value that was used since the last round is dropped in the second one
            for _ in range(2 * len(self._weights)):
                if self.weight <= self._total:
                    break
                first = next(iter(self._weights))
                weighed = self._weights[first]
                self._drop_weight(first)
                if first is holder or first in self._pins or not first.drop_value():
                    self._add_weight(first, weighed)

    def pin_value(self, holder: Droppable) -> None:
        """Keep a holder's value, which still counts, until `unpin_value` was called as often."""
        with self._lock:
            self._pins[holder] = self._pins.get(holder, 0) + 1

    def unpin_value(self, holder: Droppable) -> None:
        """Undo one `pin_value`."""
        with self._lock:
            remaining = self._pins.pop(holder) - 1
            if remaining:
                self._pins[holder] = remaining

    def remove_holder(self, holder: Droppable) -> None:
        """Stop counting a holder whose value is gone."""
        with self._lock:
            self._drop_weight(holder)

    def drop_holder(self, holder: Droppable) -> None:
        """Drop a holder's value, unless it is pinned."""
        with self._lock:
            if holder not in self._pins:
                self._drop_weight(holder)
                holder.drop_value(forced=True)

    def _add_weight(self, holder: Droppable, weight: int) -> None:
        self._drop_weight(holder)
        self._weights[holder] = weight
        self.weight += weight

    def _drop_weight(self, holder: Droppable) -> None:
        self.weight -= self._weights.pop(holder, 0)

    def drop_all(self) -> None:
        """Drop all values."""
        with self._lock:
            for holder in list(self._weights):
                self._drop_weight(holder)
                holder.drop_value(forced=True)


class _UncachedResult(Exception):
    """Carries the answer of a call that is not cached, because lru_cache does not store exceptions."""

    def __init__(self, answer: object) -> None:
        super().__init__()
        self.answer = answer


_TEXTS = (str, bytes)
_VARIABLE = CO_VARARGS | CO_VARKEYWORDS
