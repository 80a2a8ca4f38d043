"""A TCP proxy that can cut off what is behind it, as a network does: nothing is refused, and nothing arrives."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress


class Proxies:
    """Proxies on free ports, all on one thread of their own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxies", daemon=True)
        self._thread.start()
        self._made: list[Proxy] = []

    def add(self, port: int) -> Proxy:
        """A proxy before a port of this machine."""
        proxy = Proxy(port)
        asyncio.run_coroutine_threadsafe(proxy.open(), self._loop).result(10)
        self._made.append(proxy)
        return proxy

    def close(self) -> None:
        """End all."""
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _close(self) -> None:
        for each in self._made:
            await each.close()


class Proxy:
    """One proxy. port: where it listens, once it is open."""

    def __init__(self, behind: int) -> None:
        self.port = 0
        self._behind = behind
        self._loop: asyncio.AbstractEventLoop
        self._passing = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Listen."""
        self._loop = asyncio.get_running_loop()
        self._passing.set()
        self._server = await asyncio.start_server(self._meet, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """End all connections."""
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> None:
        """Let nothing pass any more."""
        self._loop.call_soon_threadsafe(self._passing.clear)

    def drop(self) -> None:
        """Break off all connections, and let nothing pass any more."""
        self.cut()
        self._loop.call_soon_threadsafe(lambda: [task.cancel() for task in self._tasks])

    def mend(self) -> None:
        """Let all pass again, also what has come in meanwhile."""
        self._loop.call_soon_threadsafe(self._passing.set)

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        writers = [writer]
        with suppress(OSError, asyncio.CancelledError):
            await self._passing.wait()
            there, back = await asyncio.open_connection("127.0.0.1", self._behind)
            writers.append(back)
            ways = [asyncio.ensure_future(self._pass(*way)) for way in ((reader, back), (there, writer))]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for each in ways:
                    each.cancel()
                await asyncio.gather(*ways, return_exceptions=True)
        for end in writers:
            end.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            await self._passing.wait()
            writer.write(data)
            await writer.drain()
