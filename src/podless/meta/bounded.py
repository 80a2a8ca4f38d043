"""Remembering answers to short questions: what clients send may be long, and must not stay in memory for that."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")

LONGEST = 1024  # characters of one argument


def bounded_cache(most: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """As functools.lru_cache(most), but what has a long text among its arguments is worked out anew each time."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        cached = cast(Callable[P, R], lru_cache(most)(function))

        if function.__code__.co_argcount == 1:  # as most are that every request asks

            def one(arg: Any) -> Any:
                work: Any = function if arg.__class__ is str and len(arg) > LONGEST else cached
                return work(arg)

            return cast(Callable[P, R], wraps(function)(one))

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            for arg in args:
                if arg.__class__ is str and len(arg) > LONGEST:
                    return function(*args, **kwargs)
            return cached(*args, **kwargs)

        return call

    return decorate
