"""Compression of states, for the history logs of both engines."""

from __future__ import annotations

import zlib

_LEVEL = 1  # of zlib: of level 6 states were 4% smaller, and took twice as long
_MEMORY = 6  # of zlib: with the default of 8 a small state took 30% longer and was as large


def deflate(value: bytes, like: bytes = b"") -> bytes:
    """Return a value compressed. like: a similar value, without which it cannot be read again; b"" for none."""
    if not like:
        return zlib.compress(value, _LEVEL, -15)
    work = zlib.compressobj(_LEVEL, zlib.DEFLATED, -15, _MEMORY, zlib.Z_DEFAULT_STRATEGY, like)
    return work.compress(value) + work.flush()


def inflate(packed: bytes, like: bytes = b"") -> bytes:
    """Return the value that `deflate` packed. Raises zlib.error."""
    work = zlib.decompressobj(-15, like) if like else zlib.decompressobj(-15)
    return work.decompress(packed) + work.flush()
