"""Reads the requests of one client connection, within limits; answering.py answers them.

A request is passed on when its head is complete and the bytes that arrived with it are parsed. Its body is read when
the handler asks for it: a rejected client need not send it, and nothing large is held for unauthenticated clients.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

from podless.auth.certificates import Certificate
from podless.http.answering import ConnectionResponder, ListenerState
from podless.http.info import RequestLine
from podless.http.message import HTTPRequest
from podless.http.parsing import RequestParser
from podless.http.sending import DiscardingTransport
from podless.meta.errors import BadRequest

_PIECE = 1 << 13  # bytes of a body that are parsed at a time
# bytes of pipelined requests that are parsed at a time, and then one step for each iteration of the loop
_PIPELINE_STEP = 1 << 11
_AHEAD = 1 << 18  # bytes of unread answers; with more, the client's next request waits
_LONG_READ = 1 << 14  # bytes of one read; after as many, the connection is read again at its user's next turn
_READING = 0.0003  # seconds charged for this read
_NOWHERE = DiscardingTransport()
_LOST = "unexpected EOF"
_CROWDED = "the server holds too many request bodies, please try again later"


class Connection(ConnectionResponder, asyncio.BufferedProtocol):
    """The protocol of one connection."""

    def __init__(self, shared: ListenerState) -> None:
        super().__init__(shared)
        self._buffer = shared.buffer
        self._parser = RequestParser(self, shared.limits.head, self._make_request, shared.heads)
        self._peer = ""
        self._certificate: Certificate | None = None
        self._resting = False  # reading is paused until the user's next turn
        self._unparsed = b""  # received bytes that are not parsed yet

    # called by asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports do not inherit from asyncio.Transport
        self._transport = cast(asyncio.Transport, transport)
        self._out.open(self._transport)
        self._shared.connections.add(self)
        peer = transport.get_extra_info("peername")
        self._peer = str(peer[0]) if peer else ""
        tls = transport.get_extra_info("ssl_object")
        if tls is None:
            return
        if der := tls.getpeercert(True):
            trusted = tls.is_trusted(der)
            # getpeercert() can fail on unusual certificates, so it is called for trusted ones only
            self._certificate = Certificate(der, tls.getpeercert() if trusted else {}, trusted=trusted)
        tls.end_handshake()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop sending. The rest waits for the user's turn: thousands of clients can disconnect at once."""
        self._closing = True
        self._transport = self._out.transport = _NOWHERE
        self._shared.pace.run_soon(self._out.user, self._end_connection, first=True)

    def _end_connection(self) -> None:
        """Unregister the connection, and cancel work for its client."""
        self._shared.connections.discard(self)
        working = self._task is not None and not self._task.done()
        for request in (*self._waiting, self._in.request, None if working else self._current):
            if isinstance(request, HTTPRequest):
                self._in.release_body(request)
                request.source = None
        self._waiting.clear()
        self._in.fail_reader(BadRequest(_LOST))
        if self._stop_stream is not None:
            self._stop_stream()
            self._stop_stream = None
        self._out.close()
        self._keep_unparsed(b"")
        if self._task is not None and self._current is None:
            self._task.cancel()
        # breaks reference cycles, so that the memory of connection and TLS is freed now
        self._parser.drop_receiver()
        self._parser = _CLOSED_PARSER
        self._task = self._in.request = None

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        if self._unparsed:
            self._keep_unparsed(self._unparsed + self._buffer[:nbytes])
        else:
            self._parse_bytes(self._buffer[:nbytes])
        if nbytes >= _LONG_READ and not self._closing:
            self._take_turns()

    def _take_turns(self) -> None:
        """Pause reading after many bytes, until other users have had their turn."""
        if not self._resting:
            self._resting = True
            if not self._paused:
                self._transport.pause_reading()
            user = self._current.user.name if self._current is not None else self._out.user
            self._shared.pace.run_soon(user, self._end_rest)

    def _end_rest(self) -> float:
        self._resting = False
        if self._paused or self._closing:
            return 0.0
        self._transport.resume_reading()
        return _READING

    def _parse_bytes(self, data: bytes | memoryview) -> None:
        self._served = False
        if len(data) > _PIPELINE_STEP or self._waiting:
            self._feed_pieces(data)
        elif self._parser.feed(data):
            return
        request = self._in.request
        if request is not None:
            if self._current is None and not self._waiting:
                self._begin_answer(request)
            if self._in.request is not None and self._in.waiter is None and not self._answered:
                self._pause_reading()
        if self._waiting or self._unparsed:
            self._pause_reading()
            if not self._waiting and self._current is None:
                self._shared.pace.run_soon(self._out.user, self._continue_queued)

    def _feed_pieces(self, data: bytes | memoryview) -> None:
        start = 0
        while start < len(data) and not self._closing:
            if len(self._waiting) >= self._limits.pipeline or (start and self._served):  # other users first
                self._keep_unparsed(bytes(data[start:]))
                return
            step = _PIPELINE_STEP if self._in.request is None else _PIECE
            self._parser.feed(data[start : start + step])
            start += step

    def _keep_unparsed(self, data: bytes) -> None:
        """Keep bytes to parse them later. If too many are kept, the connection is closed."""
        self._shared.memory.unrequested += len(data) - len(self._unparsed)
        self._unparsed = data
        if data and self._shared.memory.is_crowded:
            self.close_now()

    def eof_received(self) -> bool:
        """Close at the user's turn: the client has sent everything. Pending data is still sent."""
        self._shared.pace.run_soon(self._out.user, lambda: self._transport.close(), first=True)
        return True

    def _pause_reading(self) -> None:
        if not self._paused and not self._closing:
            self._paused = True
            if not self._resting:
                self._transport.pause_reading()

    def _continue_reading(self) -> None:
        if self._paused:
            self._paused = False
            self._loop.call_soon(self._resume_reading)

    def _continue_queued(self) -> None:
        """Continue with requests that arrived behind others."""
        if self._paused:
            self._paused = False
            self._resume_reading()

    def _resume_reading(self) -> None:
        if self._closing or self._paused:
            return
        if unparsed := self._unparsed:
            self._keep_unparsed(b"")
            self._parse_bytes(unparsed)
        if not self._paused and not self._resting:
            self._transport.resume_reading()

    # called by the parser

    def _make_request(self, method: str, target: str, headers: dict[str, str]) -> HTTPRequest:
        return HTTPRequest.of(method, target, headers, self._peer, self._certificate)

    def begin_head(self) -> None:
        """Start the timeout of a request's head."""
        self.deadline = self._loop.time() + self._limits.head_time

    def take_head(self, request: HTTPRequest, length: int) -> None:
        """Start a request whose head is complete, or queue it."""
        self.deadline = 0.0
        request.length = length
        self._in.begin_request(request)
        if self._current is not None or self._waiting or self._is_flooded():
            self._waiting.append(request)
            self._schedule_next()

    def _is_flooded(self) -> bool:
        """Return whether too many bytes of answers wait for the client."""
        return self._out.writable is not None or (self._served and self._transport.get_write_buffer_size() > _AHEAD)

    def take_request(self, line: RequestLine, headers: dict[str, str], body: bytes) -> None:
        """Start a request whose body is complete, or queue it."""
        self.deadline = 0.0
        request = HTTPRequest(line, headers, self._peer, self._certificate)
        if body:
            request.body, request.length, request.source = body, len(body), self
        if self._current is not None or self._waiting or self._is_flooded():
            self._in.charge_queued(request)
            self._waiting.append(request)
            self._schedule_next()
            self._pause_reading()
        else:
            self._begin_answer(request)

    def take_piece(self, piece: bytes) -> None:
        """Add a piece of a body."""
        request = self._in.request
        if self._answered or self._closing or request is None:
            return
        if not self._in.add_piece(request, piece):
            self.fail_request(429, _CROWDED)

    def end_request(self) -> None:
        """Complete a request."""
        request, self._in.request = self._in.request, None
        if request is None:
            return
        if self._answered:
            self._answered = False
            self._finish_request(request)
            return
        body = self._in.complete_body()
        if body is not None:
            request.body = body
            request.source = self
        if self._current is None and not self._waiting:
            self._begin_answer(request)

    def fail_request(self, status: int, text: str) -> None:
        """Answer an invalid request after those before it, then end the connection."""
        self._parser.drop_receiver()
        request, self._in.request = self._in.request, None
        self._in.drop_pieces()
        if request is not None:
            self._in.release_body(request)
            request.keep_alive = False
            if request is self._current:
                self._fail_body(request, BadRequest(text))
                return
            if self._waiting:
                self._waiting.pop()
        self._waiting.append(self._shared.refuse(status, text))
        if self._current is None and len(self._waiting) == 1:
            self._begin_next()
        else:
            self._schedule_next()

    def _fail_body(self, request: HTTPRequest, error: Exception) -> None:
        """Report that the body of the current request cannot be read."""
        request.body_error = error
        if self._in.waiter is not None:
            self._in.fail_reader(error)
        elif self._answered:
            self._finish_request(request)

    # bodies

    async def wait_body(self, request: HTTPRequest) -> bytes:
        if self._expects_continue(request):
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self.deadline = self._loop.time() + self._limits.body_time
        self._continue_reading()
        try:
            return await self._in.wait_body(request)
        finally:
            self.deadline = 0.0


_CLOSED_PARSER = RequestParser(cast(Any, None), 0, HTTPRequest.of)
_CLOSED_PARSER.drop_receiver()
