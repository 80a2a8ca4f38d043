"""HPACK header compression: decodes the peer's header fields, and encodes its own without compression.

Source: RFC 7541. A block without references to earlier ones, as in most answers, is decoded once and cached.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

_TABLE = 4096  # bytes of the dynamic table, the default of RFC 7541
_ENTRY = 32  # bytes that a field counts besides its text
_CACHED = 256  # cached blocks
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


def _make_static_table() -> list[Field]:
    static_tables = []
    for text in _NAMES.split():
        start, sign, value = text[1:].partition("=")
        static_tables.append(((text[0] + start).encode(), value.replace("+", " ").encode() if sign else b""))
    return static_tables


def _make_codes() -> dict[tuple[int, int], int]:
    """Return the symbols by (length of the code, code)."""
    codes, code, before = {}, 0, 0
    for length, symbol in sorted((ord(letter) - ord("a") + 5, symbol) for symbol, letter in enumerate(_LENGTHS)):
        code <<= length - before
        codes[length, code] = symbol
        code, before = code + 1, length
    return codes


_STATIC = _make_static_table()
_CODES = _make_codes()


def encode_headers(fields: Iterable[tuple[str, str]]) -> bytes:
    """Return a block with these fields, which the peer does not index."""
    return b"".join(b"\0" + _encode_plain(name) + _encode_plain(value) for name, value in fields)


def _encode_plain(text: str) -> bytes:
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


def _decode_huffman(data: bytes) -> bytes:
    """Return a text decoded from Huffman's code. Raises ValueError."""
    decoded, code, length = bytearray(), 0, 0
    for byte in data:
        for shift in range(7, -1, -1):
            code, length = code << 1 | byte >> shift & 1, length + 1
            symbol = _CODES.get((length, code))
            if symbol is not None:
                if symbol == _END:
                    raise ValueError("HPACK: a string contains the end-of-string symbol")
                decoded.append(symbol)
                code = length = 0
            elif length > 30:
                raise ValueError("HPACK: a string has an invalid Huffman code")
    if length > 7 or code != (1 << length) - 1:
        raise ValueError("HPACK: a string has invalid padding")
    return bytes(decoded)


class HeaderDecoder:
    """Decodes the header blocks of one peer, in the order in which they arrive."""

    def __init__(self) -> None:
        self._recent: deque[Field] = deque()  # the dynamic table, newest first
        self._size = 0
        self._max_size = _TABLE
        self._parsed: dict[bytes, dict[bytes, bytes]] = {}

    def decode_block(self, block: bytes) -> dict[bytes, bytes]:
        """Return the fields of a block; the last one of a name counts. Raises ValueError."""
        result = self._parsed.get(block)
        if result is not None and not self._recent:
            return result
        alone, limit = not self._recent, self._max_size
        result = dict(self._decode_fields(block))
        if alone and not self._recent and limit == self._max_size and len(self._parsed) < _CACHED:
            self._parsed[block] = result
        return result

    def _decode_fields(self, block: bytes) -> list[Field]:
        fields: list[Field] = []
        at = 0
        try:
            while at < len(block):
                first = block[at]
                if first & 0x80:
                    number, at = _read_number(block, at, 7)
                    fields.append(self._find_field(number))
                elif first & 0xC0 == 0x40:
                    header, at = self._read_literal(block, at, 6)
                    fields.append(header)
                    self._add_field(header)
                elif first & 0xE0 == 0x20:
                    self._max_size, at = _read_number(block, at, 5)
                    if self._max_size > _TABLE:
                        raise ValueError("HPACK: the dynamic table exceeds its maximum size")
                    self._evict_fields()
                else:
                    header, at = self._read_literal(block, at, 4)
                    fields.append(header)
        except IndexError:
            raise ValueError("HPACK: a header block is truncated, or has an unknown index") from None
        return fields

    def _find_field(self, number: int) -> Field:
        if not number:
            raise ValueError("HPACK: index 0 is invalid")
        return _STATIC[number - 1] if number <= len(_STATIC) else self._recent[number - len(_STATIC) - 1]

    def _read_literal(self, block: bytes, at: int, bits: int) -> tuple[Field, int]:
        number, at = _read_number(block, at, bits)
        if number:
            name = self._find_field(number)[0]
        else:
            name, at = _read_text(block, at)
        value, at = _read_text(block, at)
        return (name, value), at

    def _add_field(self, field: Field) -> None:
        self._recent.appendleft(field)
        self._size += _field_size(field)
        self._evict_fields()

    def _evict_fields(self) -> None:
        while self._size > self._max_size:
            self._size -= _field_size(self._recent.pop())


def _field_size(field: Field) -> int:
    return len(field[0]) + len(field[1]) + _ENTRY


def _read_number(block: bytes, at: int, bits: int) -> tuple[int, int]:
    """Return an integer with a prefix of some bits, and the position after it."""
    limit = (1 << bits) - 1
    number = block[at] & limit
    at += 1
    if number < limit:
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
    size, at = _read_number(block, at, 7)
    if at + size > len(block):
        raise ValueError("HPACK: a header block is truncated")
    data = block[at : at + size]
    return _decode_huffman(data) if packed else data, at + size
