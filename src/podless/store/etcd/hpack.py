"""HPACK header compression: decodes the peer's header fields, and encodes its own without compression.

Source: RFC 7541. A block without references to earlier ones, as in most answers, is decoded once and cached.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

_TABLE = 4096  # bytes of the dynamic table, the default of RFC 7541
_ENTRY = 32  # bytes that a field counts besides its text
_KNOWN = 256  # cached blocks
_LARGEST = 1 << 24  # maximum number in a block
# appendix A: the static table of names, with values for some
_NAMES = """:authority :method=GET :method=POST :path=/ :path=/index.html :scheme=http :scheme=https :status=200
:status=204 :status=206 :status=304 :status=400 :status=404 :status=500 accept-charset accept-encoding=gzip,+deflate
accept-language accept-ranges accept access-control-allow-origin age allow authorization cache-control
content-disposition content-encoding content-language content-length content-location content-range content-type cookie
date etag expect expires from host if-match if-modified-since if-none-match if-range if-unmodified-since last-modified
link location max-forwards proxy-authenticate proxy-authorization range referer refresh retry-after server set-cookie
strict-transport-security transfer-encoding user-agent vary via www-authenticate"""
# appendix B: the Huffman code is canonical, so the lengths of its 257 codes define it; one letter each, a for 5 bits
_LENGTHS = (
    "isxxxxxxxtzxxzxxxxxxxxzxxxxxxxxxbffhibdgffdgdbbbaaabbbbbbbcdkbhfibccccccccccccccccccccccdcdioijb"
    "kabababbbaccbbbabcbaabccccckgjixprpprrrsrssssststtrstssssqrsrsstrqprrssqsrrtqrssqqrqsrssprrrsrrs"
    "vvporsruvvvwwvtuoqvwwvwtqqvvxwwwptpqrqqsrruuttvsvwvvwwwwwxwwwwwvz"
)
_END = 256  # the end-of-string symbol
Field = tuple[bytes, bytes]


def _static() -> list[Field]:
    found = []
    for each in _NAMES.split():
        start, sign, value = each[1:].partition("=")
        found.append(((each[0] + start).encode(), value.replace("+", " ").encode() if sign else b""))
    return found


def _codes() -> dict[tuple[int, int], int]:
    """Return the symbols by (length of the code, code)."""
    found, code, before = {}, 0, 0
    for length, symbol in sorted((ord(letter) - ord("a") + 5, symbol) for symbol, letter in enumerate(_LENGTHS)):
        code <<= length - before
        found[length, code] = symbol
        code, before = code + 1, length
    return found


_STATIC = _static()
_CODES = _codes()


def encode_headers(fields: Iterable[tuple[str, str]]) -> bytes:
    """Return a block with these fields, which the peer does not index."""
    return b"".join(b"\0" + _plain(name) + _plain(value) for name, value in fields)


def _plain(text: str) -> bytes:
    data = text.encode()
    size = len(data)
    if size < 127:
        return bytes((size,)) + data
    size -= 127
    head = bytearray((127,))
    while size >= 128:
        head.append(size & 127 | 128)
        size >>= 7
    return bytes((*head, size)) + data


def _unpacked(data: bytes) -> bytes:
    """Return a text decoded from Huffman's code. Raises ValueError."""
    found, code, length = bytearray(), 0, 0
    for byte in data:
        for shift in range(7, -1, -1):
            code, length = code << 1 | byte >> shift & 1, length + 1
            symbol = _CODES.get((length, code))
            if symbol is not None:
                if symbol == _END:
                    raise ValueError("HPACK: a string contains the end-of-string symbol")
                found.append(symbol)
                code = length = 0
            elif length > 30:
                raise ValueError("HPACK: a string has an invalid Huffman code")
    if length > 7 or code != (1 << length) - 1:
        raise ValueError("HPACK: a string has invalid padding")
    return bytes(found)


class HeaderDecoder:
    """Decodes the header blocks of one peer, in the order in which they arrive."""

    def __init__(self) -> None:
        self._recent: deque[Field] = deque()  # the dynamic table, newest first
        self._size = 0
        self._most = _TABLE
        self._known: dict[bytes, dict[bytes, bytes]] = {}

    def fields(self, block: bytes) -> dict[bytes, bytes]:
        """Return the fields of a block; the last one of a name counts. Raises ValueError."""
        found = self._known.get(block)
        if found is not None and not self._recent:
            return found
        alone, most = not self._recent, self._most
        found = dict(self._all(block))
        if alone and not self._recent and most == self._most and len(self._known) < _KNOWN:
            self._known[block] = found
        return found

    def _all(self, block: bytes) -> list[Field]:
        found: list[Field] = []
        at = 0
        try:
            while at < len(block):
                first = block[at]
                if first & 0x80:
                    number, at = _number(block, at, 7)
                    found.append(self._at(number))
                elif first & 0xC0 == 0x40:
                    one, at = self._literal(block, at, 6)
                    found.append(one)
                    self._keep(one)
                elif first & 0xE0 == 0x20:
                    self._most, at = _number(block, at, 5)
                    if self._most > _TABLE:
                        raise ValueError("HPACK: the dynamic table exceeds its maximum size")
                    self._shrink()
                else:
                    one, at = self._literal(block, at, 4)
                    found.append(one)
        except IndexError:
            raise ValueError("HPACK: a header block is truncated, or has an unknown index") from None
        return found

    def _at(self, number: int) -> Field:
        if not number:
            raise ValueError("HPACK: index 0 is invalid")
        return _STATIC[number - 1] if number <= len(_STATIC) else self._recent[number - len(_STATIC) - 1]

    def _literal(self, block: bytes, at: int, bits: int) -> tuple[Field, int]:
        number, at = _number(block, at, bits)
        if number:
            name = self._at(number)[0]
        else:
            name, at = _read_text(block, at)
        value, at = _read_text(block, at)
        return (name, value), at

    def _keep(self, one: Field) -> None:
        self._recent.appendleft(one)
        self._size += _size(one)
        self._shrink()

    def _shrink(self) -> None:
        while self._size > self._most:
            self._size -= _size(self._recent.pop())


def _size(one: Field) -> int:
    return len(one[0]) + len(one[1]) + _ENTRY


def _number(block: bytes, at: int, bits: int) -> tuple[int, int]:
    """Return an integer with a prefix of some bits, and the position after it."""
    most = (1 << bits) - 1
    number = block[at] & most
    at += 1
    if number < most:
        return number, at
    shift = 0
    while True:
        byte = block[at]
        at += 1
        number += (byte & 127) << shift
        if number > _LARGEST:
            raise ValueError("HPACK: an integer is too large")
        if byte < 128:
            return number, at
        shift += 7
        if shift > 28:
            raise ValueError("HPACK: an integer is too long")


def _read_text(block: bytes, at: int) -> tuple[bytes, int]:
    packed = block[at] & 0x80
    size, at = _number(block, at, 7)
    if at + size > len(block):
        raise ValueError("HPACK: a header block is truncated")
    data = block[at : at + size]
    return _unpacked(data) if packed else data, at + size
