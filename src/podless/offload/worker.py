"""The process that long bodies are read in: frames in, frames out, until its input ends.

A frame in is a kind of text (one byte), the seconds of processor time that it may take and its size (see `HEAD`), and
the text. A frame out is a size and a pickle: what was read, or what is wrong with the text.
"""

from __future__ import annotations

import contextlib
import os
import signal
import struct
import sys
from typing import Any, BinaryIO

from podless.codec import serializer, yamlasjson
from podless.structs import repeats

HEAD = struct.Struct("!cdQ")
SIZE = struct.Struct("!Q")
_NICE = 5  # where there are fewer processors than work, the server goes first
YAML, JSON, APPLIED = b"y", b"j", b"a"


def decode_text(kind: bytes, raw: bytes) -> Any:
    """What codec/serializer.py reads in a text, or the error that it raises; of JSON also pairs where keys repeat."""
    if kind == JSON:
        read = serializer.ParsedJSON.of(raw).outcome
        return read, repeats.read_pairs(raw) if isinstance(read, tuple) and read[1] else None
    made = yamlasjson.read_yaml_as_json(raw) if kind == APPLIED else None
    return (made or serializer.ParsedYAML.of(raw)).outcome


def main() -> None:
    """Work until the input ends. What takes too long ends the process, should nobody else do so."""
    with contextlib.suppress(OSError):
        os.nice(_NICE)
    given, told = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    while head := given.read(HEAD.size):
        kind, seconds, size = HEAD.unpack(head)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        _send_outcome(told, decode_text(kind, given.read(size)))
        signal.setitimer(signal.ITIMER_PROF, 0)


def _send_outcome(told: BinaryIO, found: Any) -> None:
    import pickle  # the server, which has this module too, needs it less often

    made = pickle.dumps(found, pickle.HIGHEST_PROTOCOL)
    told.write(SIZE.pack(len(made)))
    told.write(made)
    told.flush()
