"""Parsed request heads, found again by their bytes: a client sends the same header fields with each request.

So only the length of the body and the body of such a request are new, and often the first line. llhttp parsed the other
bytes when they first came (parsing.py), in a request that arrived alone. llhttp parses every request that is less
plain.
"""

from __future__ import annotations

from podless.http.info import RequestLine, parse_line

_MAX = 256  # cached heads
_MAX_CACHED_HEAD = 1 << 12  # maximum bytes of a cached head
_MAX_LINES = 2048  # cached first lines
_MAX_CACHED_LINE = 512  # maximum bytes of a cached first line
_LINE, _END = b"\r\n", b"\r\n\r\n"
_VERSION = "HTTP/1.1"
_METHODS = frozenset(("GET", "POST", "PUT", "PATCH", "DELETE"))
_LENGTH, _LENGTH_LOWER = b"\r\nContent-Length: ", b"\r\ncontent-length: "
_PLAIN = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/?&=%+,: "
# maps harmless characters to themselves and all others to something else: translate() returns the same bytes object if
# all are harmless
_HARMLESS_BYTES = bytes(code if code in _PLAIN else code ^ 0x80 for code in range(256))
_CONNECTION_HEADERS = frozenset(("transfer-encoding", "upgrade", "connection", "expect"))


KnownHead = tuple[RequestLine, dict[str, str], bytes]
"""The first line, the headers and the body of a request whose fields came in before.

The headers are shared by all requests with these fields; nobody changes them. A plain tuple costs a call less than a
named one.
"""
_Fields = bytes | tuple[bytes, bytes] | None


class Heads:
    """Parsed first lines, and parsed header fields by their bytes, which exclude the length of a body."""

    __slots__ = ("_cached", "_lines")

    def __init__(self) -> None:
        self._cached: dict[_Fields, dict[str, str]] = {}  # oldest first
        self._lines: dict[bytes, RequestLine] = {}  # oldest first

    def find_request(self, data: bytes) -> KnownHead | None:
        """Return the request in some bytes, if they are exactly one request and its fields are known."""
        end = data.find(_LINE)
        fields, body = _split_fields(data, end)
        headers = self._cached.get(fields)
        if headers is None:
            return None
        line = self._lines.get(data[:end]) or self._parse_line(data[:end])
        return None if line is None else (line, headers, body)

    def _parse_line(self, data: bytes) -> RequestLine | None:
        """Return a plain first line, None for others."""
        if data.translate(_HARMLESS_BYTES) != data:
            return None
        try:
            method, target, version = data.decode("ascii").split(" ")
            if version != _VERSION or method not in _METHODS or target[:1] != "/":
                return None
            line = parse_line(method, target)
        except ValueError:
            return None
        if len(data) <= _MAX_CACHED_LINE:
            if len(self._lines) >= _MAX_LINES:
                del self._lines[next(iter(self._lines))]
            self._lines[data] = line
        return line

    def cache_head(self, data: bytes, line: RequestLine, headers: dict[str, str], length: str) -> None:
        """Cache the header fields of a request with these bytes. length: its Content-Length, "" for none."""
        end = data.find(_LINE)
        fields, body = _split_fields(data, end)
        if fields is None or not _CONNECTION_HEADERS.isdisjoint(headers) or str(len(body)) != (length or "0"):
            return
        if len(data) - end - len(body) > _MAX_CACHED_HEAD or data.find(_END) + len(_END) + len(body) != len(data):
            return
        if len(self._cached) >= _MAX:
            del self._cached[next(iter(self._cached))]
        self._cached[fields] = headers
        if self.find_request(data) != (line, headers, body):  # its first line is less plain
            del self._cached[fields]


def _split_fields(data: bytes, end: int) -> tuple[_Fields, bytes]:
    """Return the header fields that follow the first line, and the body.

    With a body, the fields are the bytes before and after the digits of its length; None if it has another length.
    """
    if data.endswith(_END):
        return data[end:], b""
    head, _, body = data[end:].partition(_END)
    before, name_found, after_name = head.partition(_LENGTH)
    if not name_found:
        before, _, after_name = head.partition(_LENGTH_LOWER)
    digits, _, after = after_name.partition(_LINE)
    return ((before, after) if digits == b"%d" % len(body) else None), body
