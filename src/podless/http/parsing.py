"""Turns bytes into requests with llhttp (httptools), within limits.

A client sends the same header fields with each request. So parsed heads are found again by their bytes: only the length
of the body and the body of such a request are new, and often the first line. llhttp parsed the other bytes when they
first came, in a request that arrived alone. llhttp parses every request that is less plain.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import httptools

from podless.http.info import RequestLine, parse_line
from podless.http.message import HTTPRequest

_MAX_HEADS = 256  # cached heads
_MAX_CACHED_HEAD = 1 << 12  # maximum bytes of a cached head
_MAX_LINES = 2048  # cached first lines
_MAX_CACHED_LINE = 512  # maximum bytes of a cached first line
_LINE, _END = b"\r\n", b"\r\n\r\n"
_VERSION = "HTTP/1.1"
_CACHED_METHODS = frozenset(("GET", "POST", "PUT", "PATCH", "DELETE"))
_LENGTH, _LENGTH_LOWER = b"\r\nContent-Length: ", b"\r\ncontent-length: "
_PLAIN = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/?&=%+,: "
# maps harmless characters to themselves and all others to something else: translate() returns the same bytes object if
# all are harmless
_HARMLESS_BYTES = bytes(code if code in _PLAIN else code ^ 0x80 for code in range(256))
_CONNECTION_HEADERS = frozenset(("transfer-encoding", "upgrade", "connection", "expect"))
_MAX_KEPT_TARGET = 1024  # bytes; a longer target is not kept to be compared with the next one
_VERSIONS = ("1.1", "1.0")
_METHOD = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_LONGEST = 32  # maximum characters of an unknown method
# header names that most clients send, in their usual spellings
_USUAL = ("accept", "accept-encoding", "authorization", "content-length", "content-type", "host", "user-agent")
_NAMES = {written.encode(): name for name in _USUAL for written in (name, name.title())}

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
            if version != _VERSION or method not in _CACHED_METHODS or target[:1] != "/":
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
        if len(self._cached) >= _MAX_HEADS:
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


class Receiver(Protocol):
    """Receives the parsed parts of requests."""

    def begin_head(self) -> None:
        """A request starts."""

    def take_head(self, request: HTTPRequest, length: int) -> None:
        """A head is complete. length: of the body in bytes, -1 if unknown."""

    def take_piece(self, piece: bytes) -> None:
        """A piece of the body has arrived."""

    def end_request(self) -> None:
        """The body, and so the request, is complete."""

    def take_request(self, line: RequestLine, headers: dict[str, str], body: bytes) -> None:
        """A request has arrived with its whole body: replaces the calls above."""

    def fail_request(self, status: int, text: str) -> None:
        """The bytes are not a request. Nothing after them is parsed."""


class RequestParser:
    """Parses the bytes of one connection, in pieces of any size.

    limit: maximum bytes of a head. make: creates a request from method, target and headers. heads: cached heads of all
    connections. After a failure nothing more is reported.
    """

    def __init__(
        self,
        receiver: Receiver,
        limit: int,
        make: Callable[[str, str, dict[str, str]], HTTPRequest],
        heads: Heads | None = None,
    ) -> None:
        self._receiver: Receiver = receiver
        self._limit = limit
        self._make = make
        self._heads = heads
        self._between = True  # between two requests; False after a failure
        self._llhttp: Any = httptools.HttpRequestParser(self)
        self._deaf = False
        self._method = ""  # a method that llhttp does not know
        self._ended = 0  # number of requests of the present piece
        self._body_left = 0  # remaining bytes of a body of known length
        self._in_head = False
        self._unfinished = 0  # bytes of incomplete heads, not counting the piece in which they started
        self._reset_head()

    def _reset_head(self) -> None:
        self._target = b""
        self._headers: dict[str, str] = {}
        self._length = ""  # the Content-Length
        self._repeated: dict[str, list[str]] | None = None
        self._size = 0

    def drop_receiver(self) -> None:
        """Drop the receiver, to break the reference cycle."""
        self._deaf = True
        self._between = False
        self._llhttp = None

    def feed(self, data: bytes | memoryview) -> bool:
        """Parse bytes. Returns whether they were exactly one request."""
        if self._between and self._heads is not None and len(data) <= self._limit:
            request = self._heads.find_request(bytes(data))
            if request is not None:
                self._receiver.take_request(*request)
                return True
        if 0 < self._body_left < len(data):  # split after a body, so that the start of the next request is seen
            body_left = self._body_left
            self._feed_llhttp(data[:body_left])
            data = data[body_left:]
        self._feed_llhttp(data)
        return False

    def _feed_llhttp(self, data: bytes | memoryview) -> None:
        self._ended = 0
        began = not self._in_head
        was_between = self._between
        while data and not self._deaf:
            try:
                self._llhttp.feed_data(data)
                if was_between and self._between and self._ended == 1:
                    self._cache_request(bytes(data))
                break
            # the client offers an upgrade, which is ignored; the next bytes are a request
            except httptools.HttpParserUpgrade as upgrade:
                data = data[upgrade.args[0] :]
                self._llhttp = httptools.HttpRequestParser(self)
            except httptools.HttpParserInvalidMethodError:
                data = self._replace_method(bytes(data))
            except httptools.HttpParserError:
                self._fail_request(400)
        if self._in_head and not began:
            self._unfinished += len(data)
            if self._unfinished > self._limit:
                self._too_long()

    def _cache_request(self, data: bytes) -> None:
        """Cache the header fields of a request with these bytes."""
        if self._heads is not None and not self._deaf:
            method = self._llhttp.get_method().decode("latin-1")
            line = parse_line(method, self._target.decode("latin-1"))
            self._heads.cache_head(data, line, self._headers, self._length)

    def _replace_method(self, data: bytes) -> bytes:
        """Replace a method that llhttp does not know, because a 405 needs the parsed request.

        Returns the bytes with a known method. Works only if the request starts at the first byte.
        """
        line, end, _ = data.partition(b"\n")
        method, _, target_and_version = line.partition(b" ")
        target, _, version = target_and_version.rstrip(b"\r").rpartition(b" ")
        sound = (
            end and version in (b"HTTP/1.1", b"HTTP/1.0") and target.startswith(b"/") and 0 < len(method) <= _LONGEST
        )
        if self._ended or self._method or self._unfinished or not sound or not _METHOD.issuperset(method):
            self._fail_request(400)
            return b""
        self._method = method.decode("latin-1")
        self._llhttp = httptools.HttpRequestParser(self)
        return b"OPTIONS" + data[len(method) :]

    def _too_long(self) -> None:
        self._fail_request(431)

    def _fail_request(self, status: int, text: str = "") -> None:
        if not self._deaf:
            self._deaf = True
            self._between = False
            self._receiver.fail_request(status, text)

    # called by llhttp

    def on_message_begin(self) -> None:
        """Start a request."""
        if self._deaf:
            return
        self._reset_head()
        self._in_head = True
        self._between = False
        self._unfinished = 0
        self._receiver.begin_head()

    def on_url(self, piece: bytes) -> None:
        """Add a piece of the request target."""
        self._size += len(piece)
        if self._size > self._limit:
            self._too_long()
        self._target += piece

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header field. Trailers of a chunked body are ignored."""
        size = self._size = self._size + len(name) + len(value) + 4
        if size > self._limit:
            self._too_long()
        if self._deaf or not self._in_head:
            return
        key, headers = _NAMES.get(name) or name.decode("latin-1").lower(), self._headers
        if key in headers:
            self._add_repeated(key, value.decode("utf-8", "replace"))
        else:
            headers[key] = value.decode("utf-8", "replace")

    def _add_repeated(self, key: str, text: str) -> None:
        if self._repeated is None:
            self._repeated = {}
        self._repeated.setdefault(key, [self._headers[key]]).append(text)

    def on_headers_complete(self) -> None:
        """Complete the head."""
        self._in_head = False
        if self._deaf:
            return
        headers = self._headers
        version = self._llhttp.get_http_version()
        length = 0
        if version != "1.1" or "host" not in headers or "transfer-encoding" in headers or self._repeated is not None:
            fault = self._find_fault(version)
            if fault is not None:
                self._fail_request(400, fault)
                return
            if self._repeated is not None:
                self._join_repeated(self._repeated)
            length = -1 if "transfer-encoding" in headers else 0
        self._length = headers.pop("content-length", "")
        if self._length and not length:
            length = int(self._length)
        self._body_left = length if length > 0 else 0
        method = self._method or self._llhttp.get_method().decode("latin-1")
        self._method = ""
        try:
            request = self._make(method, self._target.decode("latin-1"), headers)
        except ValueError:
            self._fail_request(400)
            return
        if len(self._target) > _MAX_KEPT_TARGET:  # the request may live long, and shares it
            self._target = b""
        request.version = version
        request.keep_alive = self._llhttp.should_keep_alive()
        self._receiver.take_head(request, length)

    def _join_repeated(self, repeated: dict[str, list[str]]) -> None:
        for key, values in repeated.items():
            # a group name may contain a comma; no value contains a line break
            self._headers[key] = ("\n" if key.startswith("impersonate-") else ", ").join(values)

    def _find_fault(self, version: str) -> str | None:
        """Return the error of a head in Go's words, often without any; None if it is valid."""
        headers = self._headers
        if "host" not in headers and version == "1.1":
            return "missing required Host header"
        repeated = self._repeated is not None and not self._repeated.keys().isdisjoint(("host", "transfer-encoding"))
        unread = headers.get("transfer-encoding", "chunked").lower() != "chunked"
        return "" if version not in _VERSIONS or repeated or unread else None

    def on_body(self, piece: bytes) -> None:
        """Add a piece of the body."""
        if self._body_left:
            self._body_left -= len(piece)
        if not self._deaf:
            self._receiver.take_piece(piece)

    def on_message_complete(self) -> None:
        """Complete the request."""
        if not self._deaf:
            self._ended += 1
            self._between = True
            self._receiver.end_request()
