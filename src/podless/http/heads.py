"""Parsed request heads, found again by their bytes: a client sends the same header fields with each request.

Only the first line, the body's length and the body of such a request are new. llhttp parsed the other bytes when they
first came (parsing.py), in a request that arrived alone. llhttp parses every request that is less plain.
"""

from __future__ import annotations

_MOST = 256  # cached heads
_LONGEST = 1 << 12  # maximum bytes of a cached head
_LINE, _END = b"\r\n", b"\r\n\r\n"
_BEHIND = b" HTTP/1.1"
_METHODS = {name.encode(): name for name in ("GET", "POST", "PUT", "PATCH", "DELETE")}
_LENGTHS = (b"\r\nContent-Length: ", b"\r\ncontent-length: ")
_DIGITS = 7  # digits of a body's length
_SLASH = ord("/")
_PLAIN = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/?&=%+,:"
# maps harmless characters to themselves and all others to something else: translate() returns the same bytes object if
# all are harmless
_SAME = bytes(code if code in _PLAIN else code ^ 0x80 for code in range(256))
_OTHER = frozenset(("transfer-encoding", "upgrade", "connection", "expect"))
_SIZE = "content-length"


KnownHead = tuple[str, str, dict[str, str], bytes]
"""The method, target, headers and body of a request whose fields came in before.

The headers are shared by all requests without a body; nobody changes them. A plain tuple costs a call less than a
named one.
"""


class Heads:
    """Parsed header fields by their bytes, which exclude the body's length."""

    __slots__ = ("_cached",)

    def __init__(self) -> None:
        self._cached: dict[bytes, dict[str, str]] = {}  # oldest first

    def find_request(self, data: bytes) -> KnownHead | None:
        """Return the request in some bytes, if they are exactly one request and its fields are known."""
        end = data.find(_LINE)
        headers, body = self._cached.get(data[end:]), b""
        if headers is None:
            parts = _split_head(data, end)
            if parts is None or (headers := self._cached.get(parts[0])) is None:
                return None
            headers, body = {**headers, _SIZE: parts[1]}, parts[2]
        line = _parse_request_line(data, end)
        return (*line, headers, body) if line is not None else None

    def cache_head(self, data: bytes, method: str, target: str, headers: dict[str, str]) -> None:
        """Cache the header fields of a request with these bytes."""
        end = data.find(_LINE)
        if _parse_request_line(data, end) != (method, target) or not _OTHER.isdisjoint(headers):
            return
        behind, size = data[end:], headers.get(_SIZE)
        if size is not None:
            parts = _split_head(data, end)
            if parts is None or parts[1] != size:
                return
            behind = parts[0]
        if len(behind) > _LONGEST or behind.find(_END) + len(_END) != len(behind):
            return
        if len(self._cached) >= _MOST:
            del self._cached[next(iter(self._cached))]
        self._cached[behind] = headers


def _split_head(data: bytes, end: int) -> tuple[bytes, str, bytes] | None:
    """Return the bytes after the first line without the digits of Content-Length, these digits, and the body."""
    stop = data.find(_END, end)
    for field in _LENGTHS:
        at = data.find(field, end, stop)
        if at >= 0:
            break
    else:
        return None
    at += len(field)
    till = data.find(_LINE, at)
    digits, stop = data[at:till], stop + len(_END)
    if not digits.isdigit() or len(digits) > _DIGITS or int(digits) != len(data) - stop:
        return None
    return data[end:at] + data[till:stop], digits.decode("ascii"), data[stop:]


def _parse_request_line(data: bytes, end: int) -> tuple[str, str] | None:
    """Return method and target of the first line, None if they have other than harmless characters."""
    first = data.find(b" ", 0, end)
    method = _METHODS.get(data[:first])
    if method is None or not data.endswith(_BEHIND, 0, end) or data[first + 1] != _SLASH:
        return None
    target = data[first + 1 : end - len(_BEHIND)]
    return (method, target.decode("ascii")) if target.translate(_SAME) == target else None
