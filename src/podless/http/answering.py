"""Handles and answers the requests of one client connection in order, one at a time.

connection.py reads them; outgoing.py sends long answers and streams.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import field
from time import perf_counter as _clock
from typing import TYPE_CHECKING, Any

from podless.codec import gotext
from podless.http.clientmemory import ClientMemory
from podless.http.incoming import IncomingBody
from podless.http.limits import Limits
from podless.http.message import (
    ANSWER,
    JSON,
    SLOW,
    Answer,
    Gate,
    Handler,
    HTTPRequest,
    NoAnswer,
    Observer,
    Pending,
    Response,
    Stream,
)
from podless.http.outgoing import OutgoingAnswers
from podless.http.parsing import Heads, RequestParser
from podless.http.sending import CHUNKED, PLAIN, DatedHeads
from podless.meta.errors import BadRequest, TooManyRequests
from podless.runtime import lazy
from podless.runtime.dataclass import dataclass
from podless.runtime.pace import Pace
from podless.runtime.traces import trace_error
from podless.runtime.watchdog import MeasuredCoroutine, Watchdog

if TYPE_CHECKING:
    from podless.http import websocket
else:
    websocket = lazy.LateModule("podless.http.websocket")

log = logging.getLogger("podless")

_DRAIN = 1 << 18  # bytes of a body without reader that are still received, so that the connection can be reused
_LINGER = 0.5  # seconds in which a client that still sends can read the answer before the connection is closed
_NO_ROOM = "the server holds too many answers, please try again later"
_LAST = HTTPRequest.of("GET", "/", {})
_LAST.keep_alive = False


@dataclass(slots=True, eq=False)
class ListenerState:
    """State that the connections of a listener share."""

    handler: Handler
    refuse: Callable[[int, str], Response]  # returns the answer to bytes that are not a request
    limits: Limits
    memory: ClientMemory
    pace: Pace = field(default_factory=Pace)
    watchdog: Watchdog = field(default_factory=Watchdog)
    gate: Gate | None = None  # delays complete requests before they are handled
    observe: Observer = lambda request, answer, seconds: answer  # sees all answers to requests
    connections: set[ConnectionResponder] = field(default_factory=set)
    clock: DatedHeads = field(default_factory=DatedHeads)
    heads: Heads = field(default_factory=Heads)
    # receives bytes, which are parsed in the same call. (Without it, each read over TLS allocates 256 KiB, which the
    # system must map and unmap.)
    buffer: memoryview = field(default_factory=lambda: memoryview(bytearray(1 << 18)))


class ConnectionResponder:
    """The half of a connection that answers. deadline: loop time at which the connection is cut off, 0 for never."""

    _transport: asyncio.Transport
    _parser: RequestParser | websocket.WebSocketReader

    def __init__(self, shared: ListenerState) -> None:
        self._shared = shared
        self._handler = shared.handler
        self._limits = shared.limits
        self._loop = asyncio.get_running_loop()
        # queued requests, and the error answer that ends them; only the last request may lack its body
        self._waiting: deque[HTTPRequest | Response] = deque()
        self._turning = False
        self._current: HTTPRequest | None = None  # the request in progress
        self._task: asyncio.Task[Any] | None = None
        self._stop_stream: Callable[[], None] | None = None
        self._in = IncomingBody(shared.memory, shared.limits)
        self.claim_body = self._in.charge_body
        self._out = OutgoingAnswers(shared.memory, shared.limits, shared.clock, shared.pace)
        self._answered = False  # the current request is answered, but its body still arrives
        self._served = False  # a request was answered since the last read from the socket
        self._paused = False  # reading from the socket is paused
        self._closing = False
        self.deadline = self._loop.time() + shared.limits.head_time

    # implemented by Connection

    async def wait_body(self, request: HTTPRequest) -> bytes:
        """Return the whole body of a request when it has arrived. Raises as `claim_body` does."""
        raise NotImplementedError

    def _continue_reading(self) -> None:
        """Continue reading requests, first the bytes that were read already."""
        raise NotImplementedError

    # called by asyncio

    def pause_writing(self) -> None:
        """Note that the client reads more slowly than the server sends."""
        self._out.pause_sending()

    def resume_writing(self) -> None:
        """Note that the client reads again."""
        self._out.resume_sending()
        self._schedule_next()

    # one request after the other

    def _begin_answer(self, request: HTTPRequest) -> None:
        self._current = request
        self._served = True
        if request is self._in.request:
            request.source = self
        elif self._shared.gate is not None and self._shared.gate(request, self._handle_request):
            return
        self._handle_request(request)

    def _handle_request(self, request: HTTPRequest) -> None:
        if self._closing:
            return
        watchdog = self._shared.watchdog
        watchdog.latest = began = _clock()
        try:
            answer = self._handler(request)
        except Exception as error:
            log.error("http: a request failed: %s", trace_error(error))
            self.close_now()
            return
        if isinstance(answer, ANSWER):
            self._send_answer(request, self._shared.observe(request, answer, _clock() - began))
        else:
            work = MeasuredCoroutine(self._await_answer(request, answer, began), watchdog, request.describe_work)
            # with a name, because to number a task takes 0.3 us
            self._task = asyncio.Task(work, loop=self._loop, name="request")
        seconds = _clock() - began
        if seconds > watchdog.limit:
            watchdog.report_block(seconds, request.describe_work())

    async def _await_answer(self, request: HTTPRequest, pending: Pending, began: float) -> None:
        try:
            answer = self._shared.observe(request, await pending, _clock() - began)
            if not self._closing:
                self._send_answer(request, answer)
            elif isinstance(answer, Stream):
                answer.abandon()
            else:
                _report_answer(request, answer)
        except Exception as error:
            log.error("http: an answer could not be sent: %s", trace_error(error))
            self.close_now()
        finally:
            if self._closing:
                self._in.release_body(request)
                request.source = None

    # answers

    def _send_answer(self, request: HTTPRequest, answer: Answer) -> None:
        self._out.user = request.user.name
        if isinstance(answer, Stream):
            if isinstance(answer, NoAnswer):
                self.close_now()
            else:
                self._start_stream(request, answer)
        elif 0 <= answer.size <= SLOW:
            self._write_answer(answer, request)
            self._finish_answer(request)
        elif request.method == "HEAD":
            _report_answer(request, answer)
            self._transport.write(self._out.make_head(answer, self._make_close_line(request), request.flow))
            self._finish_answer(request)
        else:
            if request is not self._in.request:
                self._in.release_body(request)  # it has been read: the answer alone must always have room
            if not self._out.charge_answer(answer):
                self._reject_answer(request, answer)
                return
            _report_answer(request, answer)
            request.body = b""
            chunked = answer.size < 0 and request.version != "1.0"
            request.keep_alive = request.keep_alive and (chunked or answer.size >= 0)
            head = self._out.make_head(answer, self._make_close_line(request), request.flow, chunked)
            self._out.send_body(head, answer, chunked, lambda: self._finish_answer(request))

    def _reject_answer(self, request: HTTPRequest, answer: Response) -> None:
        """Answer with 429 if an answer exceeds the memory limit; after a write that was carried out, disconnect."""
        work = request.describe_work()
        text = "http: no memory for an answer of %d bytes to %s of %s: --max-held-megabytes is used up"
        log.warning(text, answer.own_size, work.target, gotext.quote(work.user))
        if request.method != "GET" and answer.status < BadRequest.code:
            _report_answer(request, answer)
            self.close_now()
            return
        refusal = self._shared.refuse(TooManyRequests.code, _NO_ROOM)
        _report_answer(request, refusal)
        self._write_answer(refusal, request)
        self._finish_answer(request)

    def _make_close_line(self, request: HTTPRequest) -> bytes:
        """Return the head line that announces the end of the connection, or b"" if it stays open."""
        if request.keep_alive and request is self._in.request:
            remaining = request.length - self._in.size if 0 <= request.length <= self._limits.body else -1
            request.keep_alive = 0 <= remaining <= _DRAIN and not self._expects_continue(request)
        return b"" if request.keep_alive else b"Connection: close\r\n"

    def _expects_continue(self, request: HTTPRequest) -> bool:
        """Return whether the client waits for 100 Continue before it sends the body."""
        return not self._in.size and request.headers.get("expect", "").lower() == "100-continue"

    def _write_answer(self, answer: Response, request: HTTPRequest) -> None:
        if answer.headers or not request.keep_alive or request is self._in.request or request.method == "HEAD":
            head = self._out.make_head(answer, self._make_close_line(request), request.flow)
            self._transport.write(head if request.method == "HEAD" else b"".join((head, *answer.chunks)))
        else:  # nearly all answers
            lines = self._shared.clock.make_lines(answer.status, answer.media, request.flow)
            self._transport.write(b"".join((lines, b"Content-Length: %d\r\n\r\n" % answer.size, *answer.chunks)))

    def _start_stream(self, request: HTTPRequest, answer: Stream) -> None:
        if (
            "upgrade" in request.headers
            and websocket.wants_websocket(request.headers)
            and request is not self._in.request
        ):
            self._start_websocket(request, answer)
            return
        chunked = request.version != "1.0"
        request.keep_alive = request.keep_alive and chunked
        end = (b"Transfer-Encoding: chunked\r\n" if chunked else b"") + self._make_close_line(request)
        head = self._shared.clock.make_head(200, answer.media, answer.headers, end, request.flow)
        if request.method == "HEAD":
            self._transport.write(head)
            answer.abandon()
            self._finish_answer(request)
        else:
            framing = CHUNKED if chunked else PLAIN
            self._stop_stream = self._out.start_stream(head, answer, framing, lambda: self._finish_answer(request))

    def _start_websocket(self, request: HTTPRequest, answer: Stream) -> None:
        request.keep_alive = False
        refusal = websocket.find_refusal(request.headers)
        if refusal is not None:
            answer.abandon()
            self._write_answer(refusal, request)
            self._finish_answer(request)
            return
        self._parser.drop_receiver()
        self._parser = websocket.WebSocketReader(self)
        framing = websocket.LINES if answer.media == JSON else websocket.COUNTED
        head = websocket.accept_head(request.headers)
        self._stop_stream = self._out.start_stream(head, answer, framing, lambda: self._finish_answer(request))

    def send_pong(self, data: bytes) -> None:
        """Answer a ping of a WebSocket client, unless the client does not read."""
        if self._out.writable is None:
            self._transport.write(data)

    def send_close(self, data: bytes) -> None:
        """Send a last frame and end the connection, because the WebSocket client closes it."""
        self._drop_stream(data)
        self._close_soon()

    def _drop_stream(self, last: bytes) -> None:
        """Stop the current stream, send its last bytes, and forget its request."""
        if self._stop_stream is not None:
            self._stop_stream()
            self._stop_stream = None
            self._transport.write(last)
            self._current = None

    # the next one

    def _finish_answer(self, request: HTTPRequest) -> None:
        """Note that the answer has been sent."""
        if request.unrequested or request.charged:
            self._in.release_body(request)
        self._stop_stream = None
        if request is not self._in.request or self._closing:
            self._finish_request(request)
            return
        self._answered = True  # read the rest of the body, and discard it
        self._in.drop_pieces()
        if request.keep_alive:
            self.deadline = self._loop.time() + self._limits.body_time
        else:  # closing now would reset the connection, and the client might lose the answer
            self.deadline = self._loop.time() + _LINGER
            self._loop.call_later(_LINGER, self._close_soon)
        self._continue_reading()

    def _finish_request(self, request: HTTPRequest) -> None:
        """End the request, and start the next one."""
        self._current = None
        if not request.keep_alive or self._closing:
            self._close_soon()
        elif self._waiting:
            self._schedule_next()
        else:
            self.deadline = self._loop.time() + self._limits.idle_time
            if self._paused:
                self._continue_reading()

    def _schedule_next(self) -> None:
        if self._waiting and self._current is None and not self._turning:
            self._turning = True
            self._loop.call_soon(self._begin_next)

    def _begin_next(self) -> None:
        self._turning = False
        if self._closing or self._current is not None or not self._waiting or self._out.writable is not None:
            return
        following = self._waiting.popleft()
        if isinstance(following, HTTPRequest):
            self._begin_answer(following)
            if not self._waiting and self._in.request is None:
                self._continue_reading()
        else:
            self._write_answer(following, _LAST)
            self._close_soon()

    def _close_soon(self) -> None:
        self._closing = True
        self.deadline = self._loop.time() + self._limits.write_time  # time to send pending bytes
        self._transport.close()

    # called by the listener

    @property
    def unanswered(self) -> HTTPRequest | None:
        """The request whose handler has not answered yet."""
        return self._current if self._task is not None and not self._task.done() else None

    def cut_if_expired(self, now: float) -> None:
        """Cut off the connection if its deadline has passed."""
        if (self.deadline and now > self.deadline) or (
            self._out.since and now - self._out.since > self._limits.write_time
        ):
            self.close_now()

    def end_streams(self) -> asyncio.Task[Any] | None:
        """Stop: end streams in order and close idle connections. Returns the task of a request in progress, if any."""
        self._drop_stream(self._out.closing_bytes)
        if self._current is None:
            self._close_soon()
            return None
        return self._task

    def close_now(self) -> None:
        """Close the connection at once."""
        self._closing = True
        self._transport.abort()


def _report_answer(request: HTTPRequest, answer: Response) -> None:
    """Call `request.settle` with the answer that is sent."""
    if request.settle is not None:
        settle, request.settle = request.settle, None
        settle(answer)
