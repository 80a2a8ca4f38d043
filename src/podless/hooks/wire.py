"""The frames between the server and the workers of its hooks.

A frame to a worker is a size, a number and a `Question`. A frame from it is a size, the number, a status and JSON.
Number 0 is the worker's first frame: the declared hooks, or why they could not be loaded.
"""

from __future__ import annotations

import struct
from typing import Any, Final

import orjson

from podless.codec import serializer

QUESTION_HEAD = struct.Struct("!IQ")  # size, number
PARTS = struct.Struct("!HII")  # index of the hook, sizes of the first and second part
QUESTION = struct.Struct("!IQHII")  # GIVEN and PARTS together
ANSWER_HEAD = struct.Struct("!IQB")  # size, number, status
SUCCEEDED, FAILED = 0, 1
CANCEL = b"cancel"
ACCEPTED = b'{"allowed":true}'
MAX_ANSWER = 4 << 20  # maximum bytes of an answer about one object, as for a webhook
MAX_CONVERTED = 16 << 20  # maximum bytes of converted objects
CHUNK: Final = 1 << 15  # bytes of one read; larger reads map new memory each time, which takes 12 us
POLLED: Final = 0.001  # seconds that a worker polls for the next question, if the last one came as fast


class Question:
    """The question to a hook: its index among the declared hooks, and three parts in JSON, decoded at first use.

    | hooks | parts |
    |---|---|
    | validate, mutate, default | the AdmissionRequest, the object, the old object |
    | convert | the wanted apiVersion and the objects |
    | subresource | the request, the object, the body |

    A part that the hook does not use is empty, because encoding and decoding it costs as much as a quick hook.
    """

    __slots__ = ("_first", "_second", "_third", "index")

    def __init__(self, raw: bytes) -> None:
        self.index: int
        self.index, first, second = PARTS.unpack_from(raw)
        middle = PARTS.size + first
        self._first = raw[PARTS.size : middle]
        self._second = raw[middle : middle + second]
        self._third = raw[middle + second :]

    @property
    def request(self) -> Any:
        """The first part."""
        return decode_part(self._first)

    @property
    def obj(self) -> Any:
        """The second part."""
        return decode_part(self._second)

    @property
    def obj_bytes(self) -> bytes:
        """The second part as it was sent."""
        return self._second

    @property
    def third_part(self) -> Any:
        """The third part."""
        return decode_part(self._third)


def decode_part(raw: bytes) -> Any:
    """Decode JSON that the server encoded. Its numbers have Go's form already."""
    if not raw:
        return None
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:  # nested too deeply for orjson
        return serializer.decode_json(raw)


class FrameReader:
    """Divides the bytes that a worker receives into frames."""

    def __init__(self) -> None:
        self._incomplete = bytearray()

    def add_bytes(self, data: bytes | memoryview) -> list[tuple[int, bytes]]:
        """Add received bytes, and return the frames that they complete, as (number, body)."""
        frames, incomplete = [], self._incomplete
        if not incomplete and len(data) >= QUESTION_HEAD.size:  # the most frequent case: one short question
            size, number = QUESTION_HEAD.unpack_from(data)
            if len(data) == QUESTION_HEAD.size + size:
                return [(number, bytes(data[QUESTION_HEAD.size :]))]
        incomplete += data
        while len(incomplete) >= QUESTION_HEAD.size:
            size, number = QUESTION_HEAD.unpack_from(incomplete)
            if len(incomplete) < QUESTION_HEAD.size + size:
                break
            frames.append((number, bytes(incomplete[QUESTION_HEAD.size : QUESTION_HEAD.size + size])))
            del incomplete[: QUESTION_HEAD.size + size]
        return frames
