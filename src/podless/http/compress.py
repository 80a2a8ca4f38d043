"""gzip for big answers, for those who take it; the work is done off the event loop."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Sequence

from podless.http.message import Request, Response

_THRESHOLD = 128 * 1024  # bytes; a real server's
_LEVEL = 1
_GZIP = 16 + zlib.MAX_WBITS


def accepts(request: Request) -> bool:
    """Whether the client takes gzip."""
    given = request.headers.get("accept-encoding", "")
    return "gzip" in given and any(part.split(";")[0].strip() == "gzip" for part in given.split(","))


async def compress(request: Request, answer: Response) -> Response:
    """The answer, compressed where it is big and the client takes that."""
    if not accepts(request) or sum(map(len, answer.chunks)) <= _THRESHOLD:
        return answer
    body = await asyncio.get_running_loop().run_in_executor(None, _deflate, answer.chunks)
    headers = [*answer.headers, ("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding")]
    return Response(answer.status, [body], answer.media, headers)


def _deflate(chunks: Sequence[bytes]) -> bytes:
    engine = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
    return b"".join([*(engine.compress(chunk) for chunk in chunks), engine.flush()])
