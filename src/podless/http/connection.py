"""One client connection: requests in, answers out, in order and one at a time, within limits.

A request is handed on as soon as its head is there and what came with it is read. Its body is read when the handler
asks for it: who is refused need not send it, and nothing large is held for somebody nobody knows.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from podless.auth.certificates import Certificate
from podless.http import websocket
from podless.http.heads import Heads
from podless.http.held import Held
from podless.http.incoming import Incoming
from podless.http.limits import Limits
from podless.http.message import JSON, Answer, Gate, Handler, Lost, Pending, Request, Response, Stream
from podless.http.outgoing import Nobody, Outgoing
from podless.http.parsing import Parser
from podless.http.sending import CHUNKED, PLAIN, Clock, Nowhere
from podless.http.status import trace
from podless.meta.errors import BadRequest
from podless.meta.pace import Pace
from podless.meta.watchdog import Watchdog

log = logging.getLogger("podless")

_SLOW = 1 << 17  # bytes; a body that is bigger goes out as fast as the client takes it
_PIECE = 1 << 13  # bytes of a body that are parsed at a time
_FEW = 1 << 11  # bytes of requests in a row; of those no more in one turn of the loop
_AHEAD = 1 << 18  # bytes of answers that may wait for a client to read before its next request is begun
_DRAIN = 1 << 18  # bytes of a body that are read though nobody wants them, so that the connection can be used again
_MUCH = 1 << 14  # bytes that come in at once; who sends so many is read from again when it is the user's turn
_READING = 0.0003  # seconds that it takes to read on
_LINGER = 0.5  # seconds in which a client that still sends can read why it is to stop
_NOWHERE = Nowhere()
_LOST = "unexpected EOF"
_CROWDED = "the server holds too many request bodies, please try again later"


@dataclass(slots=True, eq=False)
class Shared:
    """What the connections of a listener share.

    refuse: makes the answer for bytes that never become a request. gate: what whole requests wait for before they are
    handled. buffer: where bytes come in, for what is read is parsed in the same call. (Without it each read over TLS
    takes fresh memory of 256 KiB, which the system has to map and unmap.)
    """

    handler: Handler
    refuse: Callable[[int, str], Response]
    limits: Limits
    held: Held
    pace: Pace
    watchdog: Watchdog
    gate: Gate | None = None
    connections: set[Connection] = field(default_factory=set)
    clock: Clock = field(default_factory=Clock)
    heads: Heads = field(default_factory=Heads)
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
        self._parser: Parser | websocket.Reader = Parser(self, shared.limits.head, self._make, shared.heads)
        self._peer = ""
        self._certificate: Certificate | None = None
        # requests that wait for their turn, and the refusal that ends them; only the last may lack its body
        self._waiting: deque[Request | Response] = deque()
        self._turning = False
        self._current: Request | None = None  # the one at work
        self._task: asyncio.Task[Any] | None = None
        self._stop_stream: Callable[[], None] | None = None
        self._in = Incoming(shared.held, shared.limits)
        self._out = Outgoing(shared.held, shared.limits, shared.clock, shared.pace)
        self._answered = False  # the current request is, but its body still comes in
        self._served = False  # since bytes were read last
        self._paused = False
        self._resting = False  # until it is the user's turn to send more
        self._rest = b""  # bytes that were read, and are not parsed yet
        self._closing = False
        self.deadline = self._loop.time() + shared.limits.head_time

    # what asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client is there."""
        self._transport = cast(asyncio.Transport, transport)  # uvloop's transports do not inherit from it
        self._out.open(self._transport)
        self._shared.connections.add(self)
        peer = transport.get_extra_info("peername")
        self._peer = str(peer[0]) if peer else ""
        tls = transport.get_extra_info("ssl_object")
        if tls is None:
            return
        fields = transport.get_extra_info("peercert")
        if fields:
            der = tls.getpeercert(True)
            self._certificate = Certificate(der, fields, trusted=tls.trusted(der))
        tls.over()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone: what works for it alone ends."""
        self._shared.connections.discard(self)
        self._closing = True
        working = self._task is not None and not self._task.done()
        for request in (*self._waiting, self._in.request, None if working else self._current):
            if isinstance(request, Request):
                self._in.release(request)
        self._waiting.clear()
        self._in.fail(BadRequest(_LOST))
        if self._stop_stream is not None:
            self._stop_stream()
            self._stop_stream = None
        self._out.close()
        self._unread(b"")
        if self._task is not None and self._current is None:
            self._task.cancel()
        # they know us: what a connection and its TLS hold is to be free now, not when the garbage collector comes
        self._parser.forget()
        self._parser = _DEAF
        self._task = self._in.request = None
        self._transport = _NOWHERE

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where the next bytes go."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Bytes came in."""
        if self._rest:
            self._unread(self._rest + self._buffer[:nbytes])
        else:
            self._feed(self._buffer[:nbytes])
        if nbytes >= _MUCH and not self._closing:
            self._take_turns()

    def _take_turns(self) -> None:
        """Many bytes came in: others go first before there are more."""
        if not self._resting:
            self._resting = True
            if not self._paused:
                self._transport.pause_reading()
            user = self._current.user.name if self._current is not None else self._out.user
            self._shared.pace.soon(user, self._rested)

    def _rested(self) -> float:
        self._resting = False
        if self._paused or self._closing:
            return 0.0
        self._transport.resume_reading()
        return _READING

    def _feed(self, data: bytes | memoryview) -> None:
        self._served = False
        if len(data) <= _FEW and not self._waiting:
            self._parser.feed(data)
        else:
            self._feed_pieces(data)
        request = self._in.request
        if request is not None:
            if self._current is None and not self._waiting:
                self._begin(request)
            if self._in.request is not None and self._in.wanted is None and not self._answered:
                self._hush()
        if self._waiting or self._rest:
            self._hush()
            if not self._waiting and self._current is None:
                self._shared.pace.soon(self._out.user, self._go_on)

    def _feed_pieces(self, data: bytes | memoryview) -> None:
        start = 0
        while start < len(data) and not self._closing:
            if len(self._waiting) >= self._limits.pipeline or (start and self._served):  # others are to be served first
                self._unread(bytes(data[start:]))
                return
            step = _FEW if self._in.request is None else _PIECE
            self._parser.feed(data[start : start + step])
            start += step

    def _unread(self, data: bytes) -> None:
        """Keep bytes that are parsed later; where too many of them are kept, the connection ends."""
        self._shared.held.loose += len(data) - len(self._rest)
        self._rest = data
        if data and self._shared.held.crowded:
            self.abort()

    def eof_received(self) -> bool:
        """The client has said all; answers still go out where the transport allows it."""
        return False

    def pause_writing(self) -> None:
        """The client does not read as fast as it is sent to."""
        self._out.pause()

    def resume_writing(self) -> None:
        """The client reads again."""
        self._out.resume()
        self._turn_soon()

    def _hush(self) -> None:
        if not self._paused and not self._closing:
            self._paused = True
            if not self._resting:
                self._transport.pause_reading()

    def _listen(self) -> None:
        """Read on, after what was read already."""
        if self._paused:
            self._paused = False
            self._loop.call_soon(self._resume)

    def _go_on(self) -> None:
        """Serve what came in behind requests that were answered at once."""
        if self._paused:
            self._paused = False
            self._resume()

    def _resume(self) -> None:
        if self._closing or self._paused:
            return
        if rest := self._rest:
            self._unread(b"")
            self._feed(rest)
        if not self._paused and not self._resting:
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
        self._in.begin(request)
        if self._current is not None or self._waiting or self._flooded():
            self._waiting.append(request)
            self._turn_soon()

    def _flooded(self) -> bool:
        """Whether too many answers wait for the client already."""
        if self._out.writable is not None:
            return True
        return self._served and self._transport.get_write_buffer_size() > _AHEAD

    def whole(self, request: Request) -> None:
        """A request whose body is there begins, or waits for its turn."""
        self.deadline = 0.0
        if request.body:
            request.length, request.source = len(request.body), self
        if self._current is not None or self._waiting or self._flooded():
            self._in.keep(request)
            self._waiting.append(request)
            self._turn_soon()
        else:
            self._begin(request)

    def piece(self, part: bytes) -> None:
        """A piece of a body."""
        request = self._in.request
        if self._answered or self._closing or request is None:
            return
        if not self._in.add(request, part):
            self.failed(429, _CROWDED)

    def ended(self) -> None:
        """A request is whole."""
        request, self._in.request = self._in.request, None
        if request is None:
            return
        if self._answered:
            self._answered = False
            self._finish(request)
            return
        body = self._in.end()
        if body is not None:
            request.body = body
            request.source = self
        if self._current is None and not self._waiting:
            self._begin(request)

    def failed(self, status: int, text: str) -> None:
        """What came in is no request: those before it are answered, then this is, and the connection ends."""
        self._parser.forget()
        request, self._in.request = self._in.request, None
        self._in.drop()
        if request is not None:
            self._in.release(request)
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
        if self._in.wanted is not None:
            self._in.fail(error)
        elif self._answered:
            self._finish(request)

    # bodies

    async def body(self, request: Request) -> bytes:
        """The whole body of a request, read now if it is not there. Raises TooLarge, TooManyRequests, BadRequest."""
        if request.fault is not None:
            raise request.fault
        self._in.take(request)
        if request is not self._in.request:
            return request.body
        if self._expects(request):
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self.deadline = self._loop.time() + self._limits.body_time
        self._listen()
        try:
            return await self._in.rest(request)
        finally:
            self.deadline = 0.0

    def _expects(self, request: Request) -> bool:
        """Whether the client waits for leave to send its body."""
        return not self._in.size and request.headers.get("expect", "").lower() == "100-continue"

    # one request after the other

    def _begin(self, request: Request) -> None:
        self._current = request
        self._served = True
        if request is self._in.request:
            request.source = self
        elif self._shared.gate is not None and self._shared.gate(request, self._work):
            return
        self._work(request)

    def _work(self, request: Request) -> None:
        """Have a request handled."""
        if self._closing:
            return
        watchdog = self._shared.watchdog
        began = time.perf_counter()
        try:
            answer = self._handler(request)
        except Exception as error:
            log.error("a request could not be handled: %s", trace(error))
            self.abort()
            return
        if isinstance(answer, (Response, Stream)):
            self._answer(request, answer)
        else:
            work = watchdog.steps(self._wait(request, answer), request.work)
            self._task = self._loop.create_task(work)
        seconds = time.perf_counter() - began
        if seconds > watchdog.long:
            watchdog.tell(seconds, request.work())

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
                self._in.release(request)

    def _answer(self, request: Request, answer: Answer) -> None:
        self._out.user = request.user.name
        if isinstance(answer, Stream):
            if isinstance(answer, Lost):
                self.abort()
            else:
                self._stream(request, answer)
        elif 0 <= answer.size <= _SLOW:
            self._write(answer, request)
            self._done(request)
        elif request.method == "HEAD":
            self._transport.write(self._out.head(answer, self._end(request)))
            self._done(request)
        else:
            chunked = answer.size < 0 and request.version != "1.0"
            request.keep_alive = request.keep_alive and (chunked or answer.size >= 0)
            head = self._out.head(answer, self._end(request), chunked)
            self._out.whole(head, answer, chunked, lambda: self._done(request))

    def _end(self, request: Request) -> bytes:
        """The lines of an answer's head that say that it is the last, where it is."""
        if request.keep_alive and request is self._in.request:
            left = request.length - self._in.size if 0 <= request.length <= self._limits.body else -1
            request.keep_alive = 0 <= left <= _DRAIN and not self._expects(request)
        return b"" if request.keep_alive else b"Connection: close\r\n"

    def _write(self, answer: Response, request: Request) -> None:
        clock = self._shared.clock
        end = b"Content-Length: %d\r\n" % answer.size + self._end(request)
        if answer.headers or request.method == "HEAD":
            head = clock.head(answer.status, answer.media, answer.headers, end)
            self._transport.write(head if request.method == "HEAD" else b"".join((head, *answer.chunks)))
        else:
            self._transport.write(b"".join((clock.lines(answer.status, answer.media), end, b"\r\n", *answer.chunks)))

    def _stream(self, request: Request, answer: Stream) -> None:
        if "upgrade" in request.headers and websocket.wanted(request.headers) and request is not self._in.request:
            self._upgrade(request, answer)
            return
        chunked = request.version != "1.0"
        request.keep_alive = request.keep_alive and chunked
        end = (b"Transfer-Encoding: chunked\r\n" if chunked else b"") + self._end(request)
        head = self._shared.clock.head(200, answer.media, answer.headers, end)
        if request.method == "HEAD":
            self._transport.write(head)
            answer.start(Nobody())()
            self._done(request)
        else:
            framing = CHUNKED if chunked else PLAIN
            self._stop_stream = self._out.stream(head, answer, framing, lambda: self._done(request))

    def _upgrade(self, request: Request, answer: Stream) -> None:
        """A stream for a client that goes on with WebSocket."""
        request.keep_alive = False
        refusal = websocket.refusal(request.headers)
        if refusal is not None:
            answer.start(Nobody())()
            self._write(refusal, request)
            self._done(request)
            return
        self._parser.forget()
        self._parser = websocket.Reader(self)
        framing = websocket.LINES if answer.media == JSON else websocket.COUNTED
        head = websocket.head(request.headers)
        self._stop_stream = self._out.stream(head, answer, framing, lambda: self._done(request))

    def pong(self, data: bytes) -> None:
        """A client on WebSocket asks for a sign of life; one that does not read gets none."""
        if self._out.writable is None:
            self._transport.write(data)

    def closed(self, data: bytes) -> None:
        """A client on WebSocket ends the connection."""
        self._hang_up(data)
        self._leave()

    def _hang_up(self, last: bytes) -> None:
        """End the stream at work from outside."""
        if self._stop_stream is not None:
            self._stop_stream()
            self._stop_stream = None
            self._transport.write(last)
            self._current = None

    def _done(self, request: Request) -> None:
        """The answer is out."""
        if request.loose or request.taken:
            self._in.release(request)
        self._stop_stream = None
        if request is not self._in.request or self._closing:
            self._finish(request)
            return
        self._answered = True  # the rest of its body is read, and forgotten
        self._in.drop()
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
        if self._closing or self._current is not None or not self._waiting or self._out.writable is not None:
            return
        following = self._waiting.popleft()
        if isinstance(following, Request):
            self._begin(following)
            if not self._waiting and self._in.request is None:
                self._listen()
        else:
            self._write(following, _LAST)
            self._leave()

    def _leave(self) -> None:
        self._closing = True
        self.deadline = self._loop.time() + self._limits.write_time  # for what is still to be sent
        self._transport.close()

    # what the server calls

    def expire(self, now: float) -> None:
        """Cut the connection if it has used up its time."""
        if (self.deadline and now > self.deadline) or (
            self._out.since and now - self._out.since > self._limits.write_time
        ):
            self.abort()

    def shut(self) -> asyncio.Task[Any] | None:
        """The server stops: streams end in order, idle connections close. Returns the request at work, if any."""
        self._hang_up(self._out.last)
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
