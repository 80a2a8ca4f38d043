"""Compression of states, for the history logs of both engines."""

from __future__ import annotations

import zlib

_LEVEL = 1  # zlib's level; at level 6 states were 4% smaller and took twice as long
_UNMATCHED = 262  # bytes at the start of zlib's window in which it finds no matches
_NARROWEST, _WIDEST = 9, 15  # log2 of the window size
# zlib allocates, clears and frees its tables for each state. With default sizes (15 and 8) the C library returned the
# memory to the system each time, and a state of 750 bytes took up to six times as long.
_SMALL, _LARGE = 5, 6  # memLevel for values below 4 KiB, and for longer ones


def pack_value(value: bytes, like: bytes = b"") -> bytes:
    """Return a value compressed. like: a similar value, which is then needed to read it; b"" for none."""
    bits = (max(len(value), len(like)) + _UNMATCHED).bit_length()
    window, memory = -max(_NARROWEST, min(bits, _WIDEST)), _SMALL if bits <= 12 else _LARGE
    if like:
        work = zlib.compressobj(_LEVEL, zlib.DEFLATED, window, memory, zlib.Z_DEFAULT_STRATEGY, like)
    else:
        work = zlib.compressobj(_LEVEL, zlib.DEFLATED, window, memory)
    return work.compress(value) + work.flush()


def unpack_value(packed: bytes, like: bytes = b"") -> bytes:
    """Return the value that `pack_value` packed. Raises zlib.error."""
    work = zlib.decompressobj(-_WIDEST, like) if like else zlib.decompressobj(-_WIDEST)
    return work.decompress(packed) + work.flush()
