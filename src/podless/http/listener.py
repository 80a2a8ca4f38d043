"""The listening socket and all its connections."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable

from podless.http.connection import Clock, Connection
from podless.http.limits import Limits
from podless.http.message import Handler, Response

_SWEEP = 2.0  # seconds between two looks at the connections' deadlines
_BUFFER = 1 << 18  # bytes that are read at once
_GRACE = 0.1  # seconds that requests at work may take to end when the server stops


class Listener:
    """Serves `handler` on one address."""

    def __init__(
        self, handler: Handler, refuse: Callable[[int, str], Response], limits: Limits, context: ssl.SSLContext | None
    ) -> None:
        self._handler = handler
        self._refuse = refuse
        self._limits = limits
        self._context = context
        self._connections: set[Connection] = set()
        self._server: asyncio.Server | None = None
        self._sweeper: asyncio.TimerHandle | None = None

    async def open(self, host: str, port: int) -> int:
        """Listen, and return the port. Raises OSError where the address cannot be had."""
        loop = asyncio.get_running_loop()
        clock, buffer = Clock(), memoryview(bytearray(_BUFFER))

        def connect() -> Connection:
            return Connection(self._handler, self._refuse, self._limits, self._connections, clock, buffer)

        self._server = await loop.create_server(connect, host, port, ssl=self._context, backlog=1024)
        self._sweep()
        bound: int = self._server.sockets[0].getsockname()[1]
        return bound

    def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        for connection in list(self._connections):
            connection.expire(now)
        self._sweeper = loop.call_later(_SWEEP, self._sweep)

    async def close(self) -> None:
        """Stop listening, end streams, let requests at work end for a moment, then cut what is left."""
        if self._server is not None:
            self._server.close()
        if self._sweeper is not None:
            self._sweeper.cancel()
        tasks = [task for connection in list(self._connections) if (task := connection.shut()) is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=_GRACE)
        for connection in list(self._connections):
            connection.shut()
        await asyncio.sleep(0)
        for connection in list(self._connections):
            connection.abort()
