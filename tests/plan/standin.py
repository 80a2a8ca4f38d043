"""A stand-in before a server that answers some requests in its own way: it closes connections, lies, or dies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

CLOSE = b""  # in place of an answer: the connection ends
PASS = None  # the server answers
Choose = Callable[[int, str], bytes | None]  # of the number of the request, from 1, and its first line


def make_answer(body: bytes, media: str = "application/json", status: int = 200, length: int | None = None) -> bytes:
    """An answer. length: that it claims, for one that is cut off."""
    size = len(body) if length is None else length
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {media}\r\nContent-Length: {size}\r\nConnection: close\r\n\r\n"
    return head.encode() + body


@asynccontextmanager
async def stand_in(url: str, choose: Choose, dies_after: int = 0) -> AsyncIterator[str]:
    """Run one before the server at a URL; yields its own. dies_after: requests, 0 for never."""
    seen = 0
    target = urlsplit(url)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal seen
        with suppress(OSError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            seen += 1
            if dies_after and seen > dies_after:
                server.close()
                writer.transport.abort()
                return
            answer = choose(seen, head.partition(b"\r\n")[0].decode())
            if answer is PASS:
                inner, outer = await asyncio.open_connection(target.hostname, target.port)
                outer.write(head.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
                answer = await inner.read()
                outer.close()
            writer.write(answer)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()[:2]
    try:
        yield f"http://{host}:{port}"
    finally:
        server.close()
