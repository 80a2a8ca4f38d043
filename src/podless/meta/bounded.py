"""Caches that a process keeps for all of its servers: answers to short questions.

Nothing is global in podless but these. Each is pure (the answer follows from the arguments alone, so that no server
sees another) and bounded: in number, and in the length of what is asked, for what clients send may be long and must not
stay in memory for that. An answer is longer than its question by a constant at the most. `caches` lists them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")

LONGEST = 1024  # characters or bytes of one argument


class Cache(NamedTuple):
    """One of the caches. name: module and function. most: answers kept. size: how many there are. clear: drops all."""

    name: str
    most: int
    size: Callable[[], int]
    clear: Callable[[], None]


_caches: list[Cache] = []


def caches() -> tuple[Cache, ...]:
    """Every cache that the modules imported so far keep for the process."""
    return tuple(_caches)


def bounded_cache(most: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """As functools.lru_cache(most), but what has a long text among its arguments is worked out anew each time."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        def short(*args: Any, **kwargs: Any) -> R:
            answer = function(*args, **kwargs)
            for arg in (*args, *kwargs.values()):
                if arg.__class__ in _TEXTS and len(arg) > LONGEST:
                    raise _Long(answer)
            return answer

        kept: Any = lru_cache(most)(short)
        name = f"{function.__module__}.{function.__qualname__}"
        _caches.append(Cache(name, most, lambda: kept.cache_info().currsize, kept.cache_clear))

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                answer: R = kept(*args, **kwargs)
                return answer
            except _Long as long:
                return cast(R, long.answer)

        return call

    return decorate


class _Long(Exception):
    """The answer to a question that is not kept, for what is raised is not."""

    def __init__(self, answer: object) -> None:
        super().__init__()
        self.answer = answer


_TEXTS = (str, bytes)
