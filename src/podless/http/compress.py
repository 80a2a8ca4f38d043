"""gzip for large answers: off the event loop, or piece by piece while they are sent."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Coroutine, Iterable, Iterator
from typing import Any

from podless.http import sending
from podless.http.message import Answer, HTTPRequest, LazyBody, Response

THRESHOLD = 128 * 1024  # bytes; as on a real server, like the next one
SWAGGER_THRESHOLD = 1400  # bytes of /openapi/v2
_MAX_IN_ONE_GO = 1 << 24  # bytes; longer answers are compressed while they are sent
_LEVEL = 1
_GZIP = 16 + zlib.MAX_WBITS


def accepts_gzip(request: HTTPRequest) -> bool:
    """Return whether the client accepts gzip. As in a real server, quality values are ignored."""
    accepted = request.headers.get("accept-encoding", "")
    return "gzip" in accepted and any(segment.strip() == "gzip" for segment in accepted.split(","))


def shrink_answer(
    request: HTTPRequest, answer: Response, threshold: int = THRESHOLD
) -> Answer | Coroutine[Any, Any, Answer]:
    """Return the answer, or a coroutine that compresses it if it is large and the client accepts gzip."""
    if 0 <= answer.size <= threshold or not accepts_gzip(request):
        return answer
    return compress_answer(request, answer, threshold)


async def compress_answer(request: HTTPRequest, answer: Response, threshold: int = THRESHOLD) -> Response:
    """Return the answer, compressed if it is large and the client accepts gzip."""
    if 0 <= answer.size <= threshold or not accepts_gzip(request):
        return answer
    headers = [*answer.headers, ("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding")]
    chunks = answer.chunks
    if not 0 <= answer.size <= _MAX_IN_ONE_GO:
        own_size = answer.own_size
        return Response(
            answer.status,
            LazyBody(lambda: _compress_in_pieces(sending.slice_chunks(chunks)), own_size=own_size),
            answer.media,
            headers,
        )
    body = await asyncio.get_running_loop().run_in_executor(None, _compress_chunks, chunks)
    return Response(answer.status, [body], answer.media, headers)


def _compress_chunks(chunks: Iterable[bytes | memoryview]) -> bytes:
    engine = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
    return b"".join([*(engine.compress(chunk) for chunk in chunks), engine.flush()])


def _compress_in_pieces(chunks: Iterable[bytes | memoryview]) -> Iterator[bytes]:
    """Yield compressed pieces, for answers that are compressed while they are sent."""
    engine = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
    for chunk in chunks:
        yield engine.compress(chunk)
    yield engine.flush()
