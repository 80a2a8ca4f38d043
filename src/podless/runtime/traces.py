"""Describes errors for the log, and frees what their tracebacks refer to."""

from __future__ import annotations

import traceback


def trace_error(error: BaseException) -> str:
    """Return the places and types of an error and its causes, without texts, which may contain secrets."""
    descriptions: list[str] = []
    seen: BaseException | None = error
    while seen is not None:
        frames = "".join(traceback.format_tb(seen.__traceback__))
        descriptions.insert(0, f"{frames}{type(seen).__module__}.{type(seen).__qualname__}")
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    return "\nthen\n".join(descriptions)


def drop_tracebacks(error: BaseException) -> None:
    """Drop the tracebacks of an error and its causes. If their frames refer to the error, they would stay in memory."""
    seen: BaseException | None = error
    while seen is not None:
        seen.__traceback__ = None
        seen = seen.__cause__ or seen.__context__
