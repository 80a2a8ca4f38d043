"""The process that parses long bodies: it reads and writes frames until its input ends.

An input frame is the kind of text (one byte), its limit in seconds of processor time and its size (see `HEAD`), and the
text. An output frame is a size and a pickle: the value, or the error of the text.
"""

from __future__ import annotations

import contextlib
import os
import signal
import struct
import sys
from typing import Any, BinaryIO

from podless.codec import serializer
from podless.structs import repeats

HEAD = struct.Struct("!cdQ")
SIZE = struct.Struct("!Q")
_NICE = 5  # the server goes first if processors are scarce
YAML, JSON, APPLIED = b"y", b"j", b"a"


def decode_text(kind: bytes, raw: bytes) -> Any:
    """Return the value of a text, or an error of codec/serializer.py. JSON with repeated keys comes with its pairs."""
    if kind == JSON:
        outcome = serializer.ParsedJSON.parse(raw).outcome
        return outcome, repeats.read_pairs(raw) if isinstance(outcome, tuple) and outcome[1] else None
    parsed = serializer.ParsedYAML.parse_as_json(raw) if kind == APPLIED else None
    return (parsed or serializer.ParsedYAML.parse(raw)).outcome


def main() -> None:
    """Serve until the input ends. A timer ends the process if a text takes too long."""
    with contextlib.suppress(OSError):
        os.nice(_NICE)
    texts, outcomes = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    while head := texts.read(HEAD.size):
        kind, seconds, size = HEAD.unpack(head)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        _send_outcome(outcomes, decode_text(kind, texts.read(size)))
        signal.setitimer(signal.ITIMER_PROF, 0)


def _send_outcome(pipe: BinaryIO, outcome: Any) -> None:
    import pickle  # imported late: the server imports this module too, and rarely needs pickle

    raw = pickle.dumps(outcome, pickle.HIGHEST_PROTOCOL)
    pipe.write(SIZE.pack(len(raw)))
    pipe.write(raw)
    pipe.flush()
