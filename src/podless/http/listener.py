"""The listening socket and all its connections, including those in their TLS handshake."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl

from podless.http.answering import ConnectionResponder, ListenerState
from podless.http.connection import Connection
from podless.http.message import Handler, HTTPRequest
from podless.http.secure import HandshakeQueue, TLSConnection
from podless.runtime.traces import trace_error

log = logging.getLogger("podless")

_SWEEP = 2.0  # seconds between two checks of the connections' deadlines
_BACKLOG = 1024
_WINDOW = 1 << 16  # bytes of the socket's receive buffer
_AT_ONCE = 16  # connections that one iteration of the loop accepts
_GRACE = 0.1  # seconds for requests in progress to end when the server stops
_RETRY_DELAY = 0.1  # seconds until the next attempt to accept if the system has no free file or memory


class Listener:
    """Serves a handler on one address. context: None for plain HTTP."""

    def __init__(self, shared: ListenerState, context: ssl.SSLContext | None) -> None:
        self._shared = shared
        self._limits = shared.limits
        self._context = context
        self._sockets: list[socket.socket] = []
        self._turns = HandshakeQueue()
        self._handshakes: dict[TLSConnection, None] = {}  # oldest first
        self._beginning: set[asyncio.Task[None]] = set()  # accepted connections whose transport is being created
        self._sweeper: asyncio.TimerHandle | None = None

    @property
    def handler(self) -> Handler:
        """The handler of requests."""
        return self._shared.handler

    @property
    def connections(self) -> set[ConnectionResponder]:
        """All open connections."""
        return self._shared.connections

    def list_unanswered(self) -> list[HTTPRequest]:
        """Return the requests whose handlers have not answered yet."""
        requests = (connection.unanswered for connection in self.connections)
        return [request for request in requests if request is not None]

    @property
    def is_connecting(self) -> bool:
        """Whether clients wait to be accepted, or for their TLS handshake."""
        return bool(self._beginning or self._handshakes)

    async def open(self, host: str, port: int) -> int:
        """Listen, and return the port. Raises OSError if the address is in use or does not exist."""
        loop = asyncio.get_running_loop()
        try:
            for family, _, _, _, address in await loop.getaddrinfo(
                host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            ):
                bound = _bind_socket(family, str(address[0]), port)
                self._sockets.append(bound)
                port = int(bound.getsockname()[1])
        except OSError:
            self._stop_accepting()
            raise
        for listening in self._sockets:
            loop.add_reader(listening, self._accept_connections, listening)
        self._close_overdue()
        return port

    def _accept_connections(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        for _ in range(_AT_ONCE):
            try:
                accepted, _ = listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError:  # e.g. no free file descriptor; clients stay in the backlog until then
                loop.remove_reader(listening)
                loop.call_later(_RETRY_DELAY, self._accept_again, listening)
                return
            self._accept_connection(accepted)

    def _accept_again(self, listening: socket.socket) -> None:
        if listening in self._sockets:
            asyncio.get_running_loop().add_reader(listening, self._accept_connections, listening)

    def _accept_connection(self, accepted: socket.socket) -> None:
        """Start a connection if there is room. At the limit, the oldest unfinished TLS handshake is closed."""
        if len(self.connections) + len(self._handshakes) >= self._limits.connections:
            if not self._handshakes:
                accepted.close()
                return
            self._end_oldest()
        elif len(self._handshakes) >= self._limits.handshakes:
            self._end_oldest()
        accepted.setblocking(False)
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = Connection(self._shared)
        protocol: Connection | TLSConnection = connection
        if self._context is not None:
            try:
                protocol = TLSConnection(
                    connection, self._context, self._turns, self._limits.handshake_time, self._handle_handshake
                )
                self._handshakes[protocol] = None
            except Exception as error:  # the context is made at the first connection
                log.error("tls: cannot accept a connection: %s", trace_error(error))
                accepted.close()
                return
        task = asyncio.get_running_loop().create_task(self._connect_client(accepted, protocol))
        self._beginning.add(task)
        task.add_done_callback(self._beginning.discard)

    def _handle_handshake(self, secure: TLSConnection) -> None:
        self._handshakes.pop(secure, None)

    def _end_oldest(self) -> None:
        oldest = next(iter(self._handshakes))
        self._handle_handshake(oldest)
        oldest.abort()

    async def _connect_client(self, accepted: socket.socket, protocol: Connection | TLSConnection) -> None:
        try:
            await asyncio.get_running_loop().connect_accepted_socket(lambda: protocol, accepted)
        except OSError:  # the client has disconnected already
            if isinstance(protocol, TLSConnection):
                protocol.connection_lost(None)

    def _close_overdue(self) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        for connection in list(self.connections):
            connection.cut_if_expired(now)
        self._shared.memory.cut_off_readers()
        self._sweeper = loop.call_later(_SWEEP, self._close_overdue)

    def _stop_accepting(self) -> None:
        loop = asyncio.get_running_loop()
        for listening in self._sockets:
            loop.remove_reader(listening)
            listening.close()
        self._sockets.clear()

    async def close(self) -> None:
        """Stop listening, end streams, wait for requests in progress for 0.1 s, then close all connections."""
        self._stop_accepting()
        if self._sweeper is not None:
            self._sweeper.cancel()
        if self._beginning:
            await asyncio.wait(self._beginning)
        for handshake in list(self._handshakes):
            handshake.abort()
        tasks = [task for connection in list(self.connections) if (task := connection.end_streams()) is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=_GRACE)
        for connection in list(self.connections):
            connection.end_streams()
        await asyncio.sleep(0)
        for connection in list(self.connections):
            connection.close_now()


def _bind_socket(family: int, host: str, port: int) -> socket.socket:
    """Return a listening socket. Raises OSError."""
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setblocking(False)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _WINDOW)  # accepted sockets inherit it
        listening.bind((host, port))
        listening.listen(_BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening
