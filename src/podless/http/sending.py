"""Encodes answers: heads, the Date line, the pieces of a long body, and gzip for large ones."""

from __future__ import annotations

import asyncio
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from http import HTTPStatus
from time import monotonic as _now
from typing import NamedTuple

from podless.http.message import Answer, HTTPRequest, LazyBody, Pending, Response
from podless.runtime import clock

THRESHOLD = 128 * 1024  # bytes; as on a real server, like the next one
SWAGGER_THRESHOLD = 1400  # bytes of /openapi/v2
_LINES = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus}
_PRIVATE = b"Cache-Control: no-cache, private\r\n"
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_SLICE = 1 << 16  # long bodies are passed to TLS in slices that fit into the processor's cache
_MAX_IN_ONE_GO = 1 << 24  # bytes; longer answers are compressed while they are sent
_LEVEL = 1
_GZIP = 16 + zlib.MAX_WBITS


class DatedHeads:
    """The first lines of answers with the Date, cached by second, status and media type.

    The date is that of the clock in whose context this is created. It is updated once a second and when that clock is
    advanced, because computing it costs more than everything else here.
    """

    __slots__ = ("_clock", "_lines", "_second", "_shift", "_until")

    def __init__(self) -> None:
        self._clock = clock.CURRENT.get()
        self._shift = 0.0
        self._until = 0.0  # end of the present second, by the monotonic clock
        self._second = 0
        self._lines: dict[tuple[int, bytes, bytes], bytes] = {}  # few different combinations exist

    def make_lines(self, status: int, media: bytes, flow: bytes = b"") -> bytes:
        """Return the status line and the common headers.

        media: b"" for none. flow: lines that name the request's FlowSchema.
        """
        if _now() >= self._until or self._clock.shift != self._shift:
            self._renew_date()
        lines = self._lines.get((status, media, flow))
        if lines is None:
            line = _LINES.get(status) or b"HTTP/1.1 %d \r\n" % status
            kind = b"Content-Type: %b\r\n" % media if media else b""
            date = format_date(self._second).encode()
            lines = b"%b%b%b%bDate: %b\r\n" % (line, kind, _PRIVATE, flow, date)
            self._lines[status, media, flow] = lines
        return lines

    def _renew_date(self) -> None:
        """Update the date, and the time until which it is valid."""
        self._shift = self._clock.shift
        now = self._clock.time()
        self._until = _now() + 1.0 - now % 1.0
        if int(now) != self._second:
            self._second = int(now)
            self._lines = {}

    def make_head(
        self, status: int, media: bytes, headers: Sequence[tuple[str, str]], end: bytes, flow: bytes = b""
    ) -> bytes:
        """Return the head of an answer. end: lines about its body and the connection. flow: as in `make_lines`."""
        lines = self.make_lines(status, media, flow)
        if headers and any(name == "Cache-Control" for name, _ in headers):
            lines = lines.replace(_PRIVATE, b"")
        header_lines = [f"{name}: {value}\r\n".encode("utf-8", "replace") for name, value in headers]
        return b"".join((lines, *header_lines, end, b"\r\n"))


def format_date(second: int) -> str:
    """Return a time, in seconds since 1970, in the form of RFC 9110, section 5.6.7, in any locale."""
    year, month, day, hour, minute, seconds, weekday, *_ = time.gmtime(second)
    return f"{_DAYS[weekday]}, {day:02} {_MONTHS[month - 1]} {year:04} {hour:02}:{minute:02}:{seconds:02} GMT"


class DiscardingTransport(asyncio.Transport):
    """The transport of a disconnected client, which discards everything."""

    def write(self, data: object) -> None:
        """Discard the data."""

    def get_write_buffer_size(self) -> int:
        return 0

    def close(self) -> None:
        pass

    abort = pause_reading = resume_reading = close

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Do nothing: there is no buffer."""


def frame_chunk(piece: bytes | memoryview) -> bytes:
    """Return a piece of a body of unknown length as an HTTP chunk."""
    return b"".join((b"%x\r\n" % len(piece), piece, b"\r\n"))


class Framing(NamedTuple):
    """How the pieces of a body are framed. wrap: returns the bytes of a piece. last: bytes that end the body."""

    wrap: Callable[[bytes | memoryview], bytes | memoryview]
    last: bytes


PLAIN = Framing(lambda piece: piece, b"")
CHUNKED = Framing(frame_chunk, b"0\r\n\r\n")


class JoinedPieces:
    """The pieces of a body whose bytes exist, in place of a `SlicedIterator`: no piece needs a slice."""

    __slots__ = ("_pieces",)

    def __init__(self, pieces: Iterator[bytes | memoryview]) -> None:
        self._pieces = pieces

    def next_item(self) -> bytes | memoryview | None:
        """Return the next piece, None at the end."""
        return next(self._pieces, None)

    def close(self) -> None:
        """Do nothing: there is no work to end."""


def slice_chunks(chunks: Iterable[bytes]) -> Iterator[bytes | memoryview]:
    """Yield the same bytes in pieces of about _SLICE each."""
    small: list[bytes] = []
    size = 0
    for chunk in chunks:
        if len(chunk) > 2 * _SLICE:
            if small:
                yield b"".join(small)
            yield from (memoryview(chunk)[start : start + _SLICE] for start in range(0, len(chunk), _SLICE))
            small, size = [], 0
            continue
        if not small and len(chunk) > _SLICE // 2:
            yield chunk  # not joined, which would copy it
            continue
        small.append(chunk)
        size += len(chunk)
        if size >= _SLICE:
            yield b"".join(small)
            small, size = [], 0
    if small:
        yield b"".join(small)


def accepts_gzip(request: HTTPRequest) -> bool:
    """Return whether the client accepts gzip. As in a real server, quality values are ignored."""
    accepted = request.headers.get("accept-encoding", "")
    return "gzip" in accepted and any(segment.strip() == "gzip" for segment in accepted.split(","))


def shrink_answer(request: HTTPRequest, answer: Response) -> Answer | Pending:
    """Return the answer, or a coroutine that compresses it if it is large and the client accepts gzip."""
    if 0 <= answer.size <= THRESHOLD or not accepts_gzip(request):
        return answer
    return compress_answer(request, answer)


async def compress_answer(request: HTTPRequest, answer: Response, threshold: int = THRESHOLD) -> Response:
    """Return the answer, compressed if it is large and the client accepts gzip."""
    if 0 <= answer.size <= threshold or not accepts_gzip(request):
        return answer
    headers = [*answer.headers, ("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding")]
    chunks = answer.chunks
    if not 0 <= answer.size <= _MAX_IN_ONE_GO:
        own_size = answer.own_size
        return Response(
            answer.status,
            LazyBody(lambda: _compress_in_pieces(slice_chunks(chunks)), own_size=own_size),
            answer.media,
            headers,
        )
    body = await asyncio.get_running_loop().run_in_executor(None, _compress_chunks, chunks)
    return Response(answer.status, [body], answer.media, headers)


def _compress_chunks(chunks: Iterable[bytes | memoryview]) -> bytes:
    engine = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
    return b"".join([*(engine.compress(chunk) for chunk in chunks), engine.flush()])


def _compress_in_pieces(chunks: Iterable[bytes | memoryview]) -> Iterator[bytes]:
    """Yield compressed pieces, for answers that are compressed while they are sent."""
    engine = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
    for chunk in chunks:
        yield engine.compress(chunk)
    yield engine.flush()
