"""One client connection: bytes to requests and answers to bytes, within limits.

The parser is llhttp (httptools); requests of a connection are answered in order, one at a time.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from email.utils import formatdate
from http import HTTPStatus
from typing import Any, cast

import httptools

from podless.auth.certificates import Certificate
from podless.http.limits import Limits
from podless.http.message import Answer, Handler, Request, Response, Sink, Stream
from podless.http.status import trace

log = logging.getLogger("podless")

_LINES = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus}
_UNKNOWN_METHOD = re.compile(rb"^([A-Z][A-Z0-9_-]{0,31}) (/[^\r\n]* HTTP/1\.[01]\r?\n)")
_SLICE = 1 << 16  # a big body is handed over in slices, which then are in the processor's cache for TLS
_SLOW = 1 << 17  # what is bigger goes out as fast as the client takes it


class Clock:
    """The Date header, made once a second."""

    def __init__(self) -> None:
        self._second = 0
        self._line = b""

    def line(self) -> bytes:
        """The header line with its end."""
        now = int(time.time())
        if now != self._second:
            self._second = now
            self._line = f"Date: {formatdate(now, usegmt=True)}\r\n".encode()
        return self._line


class _Nowhere(asyncio.Transport):
    """The transport of a connection that is lost."""

    def write(self, data: object) -> None:
        pass

    def close(self) -> None:
        pass

    abort = pause_reading = resume_reading = close


_NOWHERE = _Nowhere()


class Connection(asyncio.BufferedProtocol):
    """The protocol of one connection.

    refuse: makes the answer for a request that never becomes one. buffer: where bytes come in; connections share it,
    for what is read is parsed in the same call. (Without it each read over TLS takes fresh memory of 256 KiB, which
    the system has to map and unmap.)
    """

    def __init__(
        self,
        handler: Handler,
        refuse: Callable[[int, str], Response],
        limits: Limits,
        registry: set[Connection],
        clock: Clock,
        buffer: memoryview,
    ) -> None:
        self._handler = handler
        self._buffer = buffer
        self._refuse = refuse
        self._limits = limits
        self._registry = registry
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport
        self._parser: Any = httptools.HttpRequestParser(self)
        self._waiting: deque[Request] = deque()
        self._busy = False
        self._closing = False
        self._task: asyncio.Task[Any] | None = None
        self._stop_stream: Callable[[], None] | None = None
        self._writable: asyncio.Event | None = None
        self._method_override = ""
        self._certificate: Certificate | None = None
        self._reset()
        self.deadline = self._loop.time() + limits.head_time

    # what asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client is there."""
        self._transport = cast(asyncio.Transport, transport)  # uvloop's transports do not inherit from it
        if len(self._registry) >= self._limits.connections:
            self.abort()
            return
        self._registry.add(self)
        peer = transport.get_extra_info("peername")
        self._peer = str(peer[0]) if peer else ""
        fields = transport.get_extra_info("peercert")
        if fields:
            der = transport.get_extra_info("ssl_object").getpeercert(True)
            self._certificate = Certificate(der, fields)

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone: what works for it alone ends."""
        self._registry.discard(self)
        self._closing = True
        self._waiting.clear()
        if self._stop_stream is not None:
            self._stop_stream()
            self._stop_stream = None
        if self._writable is not None:
            self._writable.set()
        if self._task is not None and not self._busy:
            self._task.cancel()
        # both know us: what a connection and its TLS hold is to be free now, not when the garbage collector comes
        self._parser = self._task = None
        self._transport = _NOWHERE

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where the next bytes go."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Bytes came in."""
        self._feed(self._buffer[:nbytes])

    def _feed(self, data: bytes | memoryview) -> None:
        if self._closing:
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserInvalidMethodError:
            self._unknown_method(bytes(data))
        except httptools.HttpParserUpgrade:
            self._fail(400, "upgrades are not offered")
        except httptools.HttpParserError:
            if not self._closing:
                self._fail(400, "the request is not HTTP/1.1")

    def eof_received(self) -> bool:
        """The client has said all; answers still go out where the transport allows it."""
        return False

    def pause_writing(self) -> None:
        """The client does not read as fast as it is sent to."""
        self._writable = asyncio.Event()

    def resume_writing(self) -> None:
        """The client reads again."""
        if self._writable is not None:
            self._writable.set()
            self._writable = None

    # what the parser calls

    def on_message_begin(self) -> None:
        """A request begins."""
        self._reset()
        self.deadline = self._loop.time() + self._limits.head_time

    def on_url(self, part: bytes) -> None:
        """A piece of the request target."""
        self._count(len(part))
        self._target += part

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header field."""
        self._count(len(name) + len(value) + 4)
        key = name.decode("latin-1").lower()
        text = value.decode("utf-8", "replace")
        known = self._headers.get(key)
        # a comma may be part of the name of a group; a line end can be in no value
        joint = "\n" if key.startswith("impersonate-") else ", "
        self._headers[key] = text if known is None else f"{known}{joint}{text}"

    def on_headers_complete(self) -> None:
        """The head is whole."""
        self.deadline = self._loop.time() + self._limits.body_time
        headers = self._headers
        length = headers.get("content-length", "0")
        if length.isdigit() and int(length) > self._limits.body:
            self._too_large()
        elif "expect" in headers and headers["expect"].lower() == "100-continue" and not self._busy:
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, part: bytes) -> None:
        """A piece of the body."""
        if self._closing:
            return
        self._size += len(part)
        if self._size > self._limits.body:
            self._too_large()
        else:
            self._body.append(part)

    def on_message_complete(self) -> None:
        """The request is whole: work on it, or let it wait for its turn."""
        if self._closing:
            return
        method = self._method_override or self._parser.get_method().decode("latin-1")
        self._method_override = ""
        target = self._target.decode("latin-1")
        request = Request(method, target, self._headers, self._peer)
        request.body = b"".join(self._body) if len(self._body) != 1 else self._body[0]
        request.certificate = self._certificate
        request.version = self._parser.get_http_version()
        request.keep_alive = self._parser.should_keep_alive()
        self._reset()
        self.deadline = 0.0
        if self._busy:
            self._waiting.append(request)
            if len(self._waiting) >= self._limits.pipeline:
                self._transport.pause_reading()
        else:
            self._begin(request)

    # inside

    def _reset(self) -> None:
        self._target = b""
        self._headers: dict[str, str] = {}
        self._body: list[bytes] = []
        self._size = 0
        self._head = 0

    def _count(self, size: int) -> None:
        self._head += size
        if self._head > self._limits.head and not self._closing:
            self._fail(431, "the request's head is too large")

    def _too_large(self) -> None:
        self._fail(413, f"Request entity too large: limit is {self._limits.body}")

    def _unknown_method(self, data: bytes) -> None:
        """llhttp knows a fixed list of methods; HTTP allows any, and a clear 405 needs the request."""
        match = _UNKNOWN_METHOD.match(data)
        if not match or self._method_override or self._head:
            self._fail(400, "the request is not HTTP/1.1")
            return
        self._method_override = match.group(1).decode("latin-1")
        self._parser = httptools.HttpRequestParser(self)
        self._feed(b"OPTIONS " + data[match.end(1) + 1 :])

    def _fail(self, status: int, text: str) -> None:
        """Answer and close: after this the bytes of the client cannot be told apart."""
        self._closing = True
        if self._busy:
            self._transport.abort()
            return
        self._write(self._refuse(status, text), Request("GET", "/", {}), close=True)
        self._transport.close()

    def _begin(self, request: Request) -> None:
        self._busy = True
        try:
            answer = self._handler(request)
        except Exception as error:
            log.error("a request could not be handled: %s", trace(error))
            self.abort()
            return
        if isinstance(answer, (Response, Stream)):
            self._answer(request, answer)
        else:
            self._task = self._loop.create_task(self._wait(request, answer))

    async def _wait(self, request: Request, pending: Coroutine[Any, Any, Answer]) -> None:
        try:
            answer = await pending
            if not self._closing:
                self._answer(request, answer)
        except Exception as error:
            log.error("an answer could not be sent: %s", trace(error))
            self.abort()

    def _answer(self, request: Request, answer: Answer) -> None:
        if isinstance(answer, Stream):
            self._stream(request, answer)
            return
        if answer.size > _SLOW and request.method != "HEAD":
            self._task = self._loop.create_task(self._write_slowly(request, answer))
            return
        self._write(answer, request, close=not request.keep_alive)
        self._done(request)

    def _head_bytes(self, status: int, media: bytes, headers: Sequence[tuple[str, str]], end: bytes) -> bytes:
        more = b"".join(f"{name}: {value}\r\n".encode("utf-8", "replace") for name, value in headers)
        kind = b"Content-Type: %b\r\n" % media if media else b""
        return b"%bCache-Control: no-cache, private\r\n%b%b%b%b\r\n" % (
            _LINES.get(status) or b"HTTP/1.1 %d \r\n" % status,
            kind,
            self._clock.line(),
            more,
            end,
        )

    def _write(self, answer: Response, request: Request, close: bool) -> None:
        end = b"Content-Length: %d\r\n%b" % (answer.size, b"Connection: close\r\n" if close else b"")
        head = self._head_bytes(answer.status, answer.media, answer.headers, end)
        self._transport.write(head if request.method == "HEAD" else b"".join((head, *answer.chunks)))

    async def _write_slowly(self, request: Request, answer: Response) -> None:
        """Send a big body slice by slice, as fast as the client takes it."""
        end = b"Content-Length: %d\r\n%b" % (answer.size, b"" if request.keep_alive else b"Connection: close\r\n")
        self._transport.write(self._head_bytes(answer.status, answer.media, answer.headers, end))
        for piece in _slices(answer.chunks):
            if self._writable is not None:
                await self._writable.wait()
            if self._closing:
                return
            self._transport.write(piece)
            await asyncio.sleep(0)  # what is written goes out between two turns of the loop
        self._done(request)

    def _stream(self, request: Request, answer: Stream) -> None:
        chunked = request.version != "1.0"
        end = b"Transfer-Encoding: chunked\r\n" if chunked else b"Connection: close\r\n"
        self._transport.write(self._head_bytes(200, answer.media, answer.headers, end))
        if request.method == "HEAD":
            self._transport.close()
            return
        self._stop_stream = answer.start(_StreamSink(self, request, chunked))

    def _done(self, request: Request) -> None:
        self._busy = False
        self._stop_stream = None
        if not request.keep_alive or self._closing:
            self._closing = True
            self._transport.close()
            return
        if self._waiting:
            following = self._waiting.popleft()
            self._transport.resume_reading()
            self._loop.call_soon(self._next, following)
        else:
            self.deadline = self._loop.time() + self._limits.idle_time

    def _next(self, request: Request) -> None:
        if not self._closing:
            self._begin(request)

    # what the server calls

    def expire(self, now: float) -> None:
        """Cut the connection if it has used up its time."""
        if self.deadline and now > self.deadline:
            self._closing = True
            self._transport.abort()

    def shut(self) -> asyncio.Task[Any] | None:
        """The server stops: streams end in order, idle connections close. Returns the request at work, if any."""
        if self._stop_stream is not None:
            self._stop_stream()
            self._stop_stream = None
            self._transport.write(b"0\r\n\r\n")
            self._busy = False
        if not self._busy:
            self._closing = True
            self._transport.close()
            return None
        return self._task

    def abort(self) -> None:
        """Let go at once."""
        self._closing = True
        self._transport.abort()


class _StreamSink(Sink):
    """Writes a stream's pieces as chunks and cuts off a client that does not read them."""

    def __init__(self, connection: Connection, request: Request, chunked: bool) -> None:
        self._connection = connection
        self._request = request
        self._chunked = chunked
        self._ended = False

    def send(self, data: bytes) -> bool:
        connection = self._connection
        if self._ended or connection._closing:
            return False
        transport = connection._transport
        transport.write(b"%x\r\n%b\r\n" % (len(data), data) if self._chunked else data)
        if transport.get_write_buffer_size() > connection._limits.buffer:
            connection.abort()
            return False
        return True

    def end(self) -> None:
        if self._ended or self._connection._closing:
            return
        self._ended = True
        if self._chunked:
            self._connection._transport.write(b"0\r\n\r\n")
        else:
            self._request.keep_alive = False
        self._connection._done(self._request)


def _slices(chunks: Iterable[bytes]) -> Iterator[bytes | memoryview]:
    """The same bytes in pieces of about a slice each."""
    small: list[bytes] = []
    size = 0
    for chunk in chunks:
        if len(chunk) > 2 * _SLICE:
            if small:
                yield b"".join(small)
            yield from (memoryview(chunk)[start : start + _SLICE] for start in range(0, len(chunk), _SLICE))
            small, size = [], 0
            continue
        small.append(chunk)
        size += len(chunk)
        if size >= _SLICE:
            yield b"".join(small)
            small, size = [], 0
    if small:
        yield b"".join(small)
