"""Numbers as the client wrote them, for validation and messages.

Decoded values have numbers as Go would encode them again (serializer.py); `Floats` lists those that differ.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from podless.codec import jsontext, serializer
from podless.codec.serializer import Floats
from podless.runtime.meter import each
from podless.runtime.weigh import release_containers

_MAX_INTEGER_LENGTH = 25  # maximum length of an integer that is printed as it was sent


class _Number(float):
    """A number that is printed as it was sent."""

    def __new__(cls, literal: str) -> _Number:
        result = super().__new__(cls, literal)
        result.literal = literal
        return result

    literal: str

    def __repr__(self) -> str:
        return self.literal


def decode_as_written(raw: bytes) -> Any:
    """Return the value in a JSON text, for messages: numbers other than int64 are printed as they were sent.

    Raises ValueError or RecursionError if Python cannot parse the text.
    """
    return json.loads(
        raw, parse_float=_Number, parse_int=lambda text: int(text) if len(text) < _MAX_INTEGER_LENGTH else _Number(text)
    )


@contextmanager
def as_sent(value: Any, floats: Floats) -> Iterator[None]:
    """Turn numbers that were sent as floats into floats within the context.

    A number that was stored and read again is an integer; before that, 1.0 and -0.0 are floats for kube-apiserver.
    """
    undo = _restore_floats(value, floats)
    try:
        yield
    finally:
        for holder, key, settled in undo:
            holder[key] = settled
        release_containers(undo)


def copy_as_sent(value: Any, floats: Floats) -> Any:
    """Return a copy with floats where the client sent floats, as in `as_sent`."""
    result = serializer.copy_value(value)
    release_containers(_restore_floats(result, floats))
    return result


def _restore_floats(value: Any, floats: Floats) -> list[tuple[Any, Any, Any]]:
    """Turn numbers that were sent as floats into floats. Returns the container, key and earlier value of each."""
    undo: list[tuple[Any, Any, Any]] = []
    for path, number in each(floats):
        holder = value
        for step in path[:-1]:
            holder = _get_entry(holder, step)
        settled = _get_entry(holder, path[-1]) if path else None
        if type(settled) in (int, float) and settled == jsontext.settle_number(number):
            key = int(path[-1]) if isinstance(holder, list) else path[-1]
            undo.append((holder, key, settled))
            holder[key] = number
    return undo


def _get_entry(holder: Any, step: str | int) -> Any:
    """Return an entry of a dict or list, None if it is missing."""
    if isinstance(holder, dict):
        return holder.get(step)
    if isinstance(step, str) and step.isascii() and step.isdigit():
        step = int(step[:9])
    return holder[step] if isinstance(holder, list) and isinstance(step, int) and step < len(holder) else None
