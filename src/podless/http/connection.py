"""One client connection: requests in, answers out, in order and one at a time, within limits.

A request is handed on as soon as its head is there and what came with it is read. Its body is read when the handler
asks for it: who is refused need not send it, and nothing large is held for somebody nobody knows.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from podless.auth.certificates import Certificate
from podless.http import sending
from podless.http.bodies import Bodies
from podless.http.limits import Limits
from podless.http.message import Answer, Handler, Pending, Request, Response, Sink, Stream
from podless.http.parsing import Parser
from podless.http.sending import Clock, Nowhere
from podless.http.status import trace
from podless.meta.errors import BadRequest, TooLarge

log = logging.getLogger("podless")

_SLOW = 1 << 17  # bytes; a body that is bigger goes out as fast as the client takes it
_PIECE = 1 << 14  # bytes that are parsed at a time
_AHEAD = 1 << 18  # bytes of answers that may wait for a client to read before its next request is begun
_DRAIN = 1 << 18  # bytes of a body that are read though nobody wants them, so that the connection can be used again
_LINGER = 0.5  # seconds in which a client that still sends can read why it is to stop
_NOWHERE = Nowhere()
_LOST = "unexpected EOF"


@dataclass(slots=True, eq=False)
class Shared:
    """What the connections of a listener share.

    refuse: makes the answer for bytes that never become a request. buffer: where bytes come in, for what is read is
    parsed in the same call. (Without it each read over TLS takes fresh memory of 256 KiB, which the system has to map
    and unmap.)
    """

    handler: Handler
    refuse: Callable[[int, str], Response]
    limits: Limits
    bodies: Bodies
    connections: set[Connection] = field(default_factory=set)
    clock: Clock = field(default_factory=Clock)
    buffer: memoryview = field(default_factory=lambda: memoryview(bytearray(1 << 18)))


class Connection(asyncio.BufferedProtocol):
    """The protocol of one connection."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._handler = shared.handler
        self._buffer = shared.buffer
        self._limits = shared.limits
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport
        self._parser = Parser(self, shared.limits.head, self._make)
        self._peer = ""
        self._certificate: Certificate | None = None
        # requests that wait for their turn, and the refusal that ends them; only the last may lack its body
        self._waiting: deque[Request | Response] = deque()
        self._turning = False
        self._current: Request | None = None  # the one at work
        self._task: asyncio.Task[Any] | None = None
        self._stop_stream: Callable[[], None] | None = None
        self._arriving: Request | None = None  # the one whose body still comes in
        self._pieces: list[bytes] = []
        self._size = 0
        self._wanted: asyncio.Future[bytes] | None = None  # the handler waits for the body that comes in
        self._answered = False  # the current request is, but its body still comes in
        self._served = False  # since bytes were read last
        self._paused = False
        self._rest = b""  # bytes that were read, and are not parsed yet
        self._writable: asyncio.Event | None = None
        self._closing = False
        self.deadline = self._loop.time() + shared.limits.head_time

    # what asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client is there."""
        self._transport = cast(asyncio.Transport, transport)  # uvloop's transports do not inherit from it
        self._shared.connections.add(self)
        peer = transport.get_extra_info("peername")
        self._peer = str(peer[0]) if peer else ""
        fields = transport.get_extra_info("peercert")
        if fields:
            tls = transport.get_extra_info("ssl_object")
            der = tls.getpeercert(True)
            self._certificate = Certificate(der, fields, trusted=tls.trusted(der))

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone: what works for it alone ends."""
        self._shared.connections.discard(self)
        self._closing = True
        for request in (*self._waiting, self._arriving, self._current if self._task is None else None):
            if isinstance(request, Request):
                self._release(request)
        self._waiting.clear()
        if self._wanted is not None and not self._wanted.done():
            self._wanted.set_exception(BadRequest(_LOST))
        if self._stop_stream is not None:
            self._stop_stream()
            self._stop_stream = None
        if self._writable is not None:
            self._writable.set()
        if self._task is not None and self._current is None:
            self._task.cancel()
        # they know us: what a connection and its TLS hold is to be free now, not when the garbage collector comes
        self._parser.forget()
        self._parser = _DEAF
        self._task = self._arriving = None
        self._transport = _NOWHERE

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where the next bytes go."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Bytes came in."""
        if self._rest:
            self._rest += self._buffer[:nbytes]
        else:
            self._feed(self._buffer[:nbytes])

    def _feed(self, data: bytes | memoryview) -> None:
        self._served = False
        if len(data) <= _PIECE and not self._waiting:
            self._parser.feed(data)
        else:
            self._feed_pieces(data)
        request = self._arriving
        if request is not None:
            if self._current is None and not self._waiting:
                self._begin(request)
            if self._arriving is not None and self._wanted is None and not self._answered:
                self._hush()
        if self._waiting or self._rest:
            self._hush()

    def _feed_pieces(self, data: bytes | memoryview) -> None:
        for start in range(0, len(data), _PIECE):
            if self._closing:
                return
            if len(self._waiting) >= self._limits.pipeline:
                self._rest = bytes(data[start:])
                return
            self._parser.feed(data[start : start + _PIECE])

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
            self._turn_soon()

    def _hush(self) -> None:
        if not self._paused and not self._closing:
            self._paused = True
            self._transport.pause_reading()

    def _listen(self) -> None:
        """Read on, after what was read already."""
        if self._paused:
            self._paused = False
            self._loop.call_soon(self._resume)

    def _resume(self) -> None:
        if self._closing or self._paused:
            return
        rest, self._rest = self._rest, b""
        if rest:
            self._feed(rest)
        if not self._paused:
            self._transport.resume_reading()

    # what the parser tells

    def _make(self, method: str, target: str, headers: dict[str, str]) -> Request:
        request = Request(method, target, headers, self._peer)
        request.certificate = self._certificate
        return request

    def begun(self) -> None:
        """The first bytes of a request are there."""
        self.deadline = self._loop.time() + self._limits.head_time

    def headed(self, request: Request, length: int) -> None:
        """A head is whole; the request begins with the last byte that came with it, or waits for its turn."""
        self.deadline = 0.0
        request.length = length
        self._arriving = request
        self._size = 0
        if self._current is not None or self._waiting or self._flooded():
            self._waiting.append(request)
            self._turn_soon()

    def _flooded(self) -> bool:
        """Whether too many answers wait for the client already."""
        if self._writable is not None:
            return True
        return self._served and self._transport.get_write_buffer_size() > _AHEAD

    def piece(self, part: bytes) -> None:
        """A piece of a body."""
        request = self._arriving
        if self._answered or self._closing or request is None:
            return
        self._size += len(part)
        if self._wanted is not None:
            if self._size > self._limits.body:
                self._pieces.clear()
                if not self._wanted.done():
                    self._wanted.set_exception(self._too_large())
            else:
                self._pieces.append(part)
            return
        self._pieces.append(part)
        request.loose += len(part)
        self._shared.bodies.loose += len(part)
        if self._shared.bodies.full:
            self.failed(429, "the server holds too many request bodies, please try again later")

    def ended(self) -> None:
        """A request is whole."""
        request, self._arriving = self._arriving, None
        if request is None:
            return
        if self._answered:
            self._answered = False
            self._finish(request)
            return
        if self._pieces or self._wanted is not None:
            self._put_together(request)
        if self._current is None and not self._waiting:
            self._begin(request)

    def _put_together(self, request: Request) -> None:
        pieces, self._pieces = self._pieces, []
        if self._wanted is not None:
            if not self._wanted.done():
                self._wanted.set_result(b"".join(pieces))
        elif pieces:
            request.body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
            request.source = self

    def failed(self, status: int, text: str) -> None:
        """What came in is no request: those before it are answered, then this is, and the connection ends."""
        self._parser.forget()
        request, self._arriving = self._arriving, None
        self._pieces = []
        if request is not None:
            self._release(request)
            request.keep_alive = False
            if request is self._current:
                self._broken(request, BadRequest(text))
                return
            if self._waiting:
                self._waiting.pop()
        self._waiting.append(self._shared.refuse(status, text))
        if self._current is None and len(self._waiting) == 1:
            self._next()
        else:
            self._turn_soon()

    def _broken(self, request: Request, error: Exception) -> None:
        """The body of the request at work cannot be read to its end."""
        request.fault = error
        if self._wanted is not None and not self._wanted.done():
            self._wanted.set_exception(error)
        elif self._answered:
            self._finish(request)

    # bodies

    async def body(self, request: Request) -> bytes:
        """The whole body of a request, read now if it is not there. Raises TooLarge, TooManyRequests, BadRequest."""
        most, arriving = self._limits.body, request is self._arriving
        if request.fault is not None:
            raise request.fault
        size = len(request.body) if not arriving else request.length if request.length >= 0 else most
        if max(size, self._size if arriving else 0) > most:
            raise self._too_large()
        self._release(request)
        self._shared.bodies.take(request.user.name, size)
        request.payer, request.taken = request.user.name, size
        if not arriving:
            return request.body
        if self._expects(request):
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self._wanted = self._loop.create_future()
        self.deadline = self._loop.time() + self._limits.body_time
        self._listen()
        try:
            return await self._wanted
        finally:
            self._wanted = None
            self.deadline = 0.0

    def _too_large(self) -> TooLarge:
        return TooLarge(f"Request entity too large: limit is {self._limits.body}")

    def _expects(self, request: Request) -> bool:
        """Whether the client waits for leave to send its body."""
        return not self._size and request.headers.get("expect", "").lower() == "100-continue"

    def _release(self, request: Request) -> None:
        """Nothing is held for the request's body any more."""
        bodies = self._shared.bodies
        if request.loose:
            bodies.loose -= request.loose
            request.loose = 0
        if request.taken:
            bodies.give(request.payer, request.taken)
            request.taken = 0

    # one request after the other

    def _begin(self, request: Request) -> None:
        self._current = request
        self._served = True
        if request is self._arriving:
            request.source = self
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

    async def _wait(self, request: Request, pending: Pending) -> None:
        try:
            answer = await pending
            if not self._closing:
                self._answer(request, answer)
        except Exception as error:
            log.error("an answer could not be sent: %s", trace(error))
            self.abort()
        finally:
            if self._closing:
                self._release(request)

    def _answer(self, request: Request, answer: Answer) -> None:
        if isinstance(answer, Stream):
            self._stream(request, answer)
            return
        if answer.size > _SLOW and request.method != "HEAD":
            self._task = self._loop.create_task(self._write_slowly(request, answer))
            return
        self._write(answer, request)
        self._done(request)

    def _end(self, request: Request) -> bytes:
        """The lines of an answer's head that say that it is the last, where it is."""
        if request.keep_alive and request is self._arriving:
            left = request.length - self._size if 0 <= request.length <= self._limits.body else -1
            request.keep_alive = 0 <= left <= _DRAIN and not self._expects(request)
        return b"" if request.keep_alive else b"Connection: close\r\n"

    def _write(self, answer: Response, request: Request) -> None:
        end = b"Content-Length: %d\r\n%b" % (answer.size, self._end(request))
        head = sending.head(answer.status, answer.media, answer.headers, self._shared.clock.line(), end)
        self._transport.write(head if request.method == "HEAD" else b"".join((head, *answer.chunks)))

    async def _write_slowly(self, request: Request, answer: Response) -> None:
        """Send a big body slice by slice, as fast as the client takes it."""
        end = b"Content-Length: %d\r\n%b" % (answer.size, self._end(request))
        date = self._shared.clock.line()
        self._transport.write(sending.head(answer.status, answer.media, answer.headers, date, end))
        for piece in sending.slices(answer.chunks):
            if self._writable is not None:
                await self._writable.wait()
            if self._closing:
                self._release(request)
                return
            self._transport.write(piece)
            await asyncio.sleep(0)  # what is written goes out between two turns of the loop
        self._done(request)

    def _stream(self, request: Request, answer: Stream) -> None:
        chunked = request.version != "1.0"
        request.keep_alive = request.keep_alive and chunked
        end = (b"Transfer-Encoding: chunked\r\n" if chunked else b"") + self._end(request)
        date = self._shared.clock.line()
        self._transport.write(sending.head(200, answer.media, answer.headers, date, end))
        if request.method == "HEAD":
            answer.start(_Nobody())()
            self._done(request)
        else:
            self._stop_stream = answer.start(_StreamSink(self, request, chunked))

    def _done(self, request: Request) -> None:
        """The answer is out."""
        if request.loose or request.taken:
            self._release(request)
        self._stop_stream = None
        if request is not self._arriving or self._closing:
            self._finish(request)
            return
        self._answered = True  # the rest of its body is read, and forgotten
        self._pieces = []
        if request.keep_alive:
            self.deadline = self._loop.time() + self._limits.body_time
        else:  # what the client still sends must not make its system forget the answer
            self.deadline = self._loop.time() + _LINGER
            self._loop.call_later(_LINGER, self._leave)
        self._listen()

    def _finish(self, request: Request) -> None:
        """The request is over."""
        self._current = None
        if not request.keep_alive or self._closing:
            self._leave()
        elif self._waiting:
            self._turn_soon()
        else:
            self.deadline = self._loop.time() + self._limits.idle_time
            if self._paused:
                self._listen()

    def _turn_soon(self) -> None:
        if self._waiting and self._current is None and not self._turning:
            self._turning = True
            self._loop.call_soon(self._next)

    def _next(self) -> None:
        self._turning = False
        if self._closing or self._current is not None or not self._waiting or self._writable is not None:
            return
        following = self._waiting.popleft()
        if isinstance(following, Request):
            self._begin(following)
            if not self._waiting and self._arriving is None:
                self._listen()
        else:
            self._write(following, _LAST)
            self._leave()

    def _leave(self) -> None:
        self._closing = True
        self._transport.close()

    # what the server calls

    def expire(self, now: float) -> None:
        """Cut the connection if it has used up its time."""
        if self.deadline and now > self.deadline:
            self.abort()

    def shut(self) -> asyncio.Task[Any] | None:
        """The server stops: streams end in order, idle connections close. Returns the request at work, if any."""
        if self._stop_stream is not None:
            self._stop_stream()
            self._stop_stream = None
            self._transport.write(b"0\r\n\r\n")
            self._current = None
        if self._current is None:
            self._leave()
            return None
        return self._task

    def abort(self) -> None:
        """Let go at once."""
        self._closing = True
        self._transport.abort()


_DEAF = Parser(cast(Any, None), 0, Request)
_DEAF.forget()
_LAST = Request("GET", "/", {})
_LAST.keep_alive = False


class _Nobody(Sink):
    """Takes nothing."""

    def send(self, data: bytes) -> bool:
        return False

    def end(self) -> None:
        pass


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
        self._connection._done(self._request)
