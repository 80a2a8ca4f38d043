"""Requests from inside the process. They pass all filters, but no network."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextvars import Context
from typing import Any, TypeVar
from urllib.parse import parse_qsl, quote, urlencode

from podless.app import App
from podless.codec import serializer
from podless.http.faults import EXEMPT
from podless.http.message import HTTPRequest, Response, Stream, settle_answer
from podless.remote.cluster import make_refusal
from podless.runtime.jsonobject import Object

T = TypeVar("T")

AGENT = "podless-test"


def path_of(api_version: str, plural: str, namespace: str = "", name: str = "", subresource: str = "") -> str:
    """Return the path of an object or a collection."""
    segments = ["apis" if "/" in api_version else "api", *api_version.split("/")]
    segments += ["namespaces", namespace] if namespace else []
    segments += [segment for segment in (plural, name, subresource) if segment]
    return "/" + "/".join(quote(segment) for segment in segments)


def make_request(app: App, method: str, path: str, body: Any, media: str, query: dict[str, str]) -> HTTPRequest:
    """Return a request of the administrator."""
    target = f"{path}?{urlencode(query)}" if query else path
    headers = {"authorization": f"Bearer {app.token}", "accept": "application/json", "user-agent": AGENT}
    request = HTTPRequest.of(method, target, headers, EXEMPT)
    if body is not None:
        request.body = serializer.encode_json(body)
        request.length = len(request.body)
        headers["content-type"] = media
    return request


async def ask_app(
    app: App, method: str, path: str, body: Any = None, *, media: str = "application/json", **query: str
) -> Object:
    """Send a request and return the document of the answer. Raises Refused."""
    return (await send_request(app, make_request(app, method, path, body, media, query)))[0]


async def send_request(app: App, request: HTTPRequest) -> tuple[Object, Response]:
    """Send a request and return the document, and the answer itself. Raises Refused."""
    assert app.handler is not None
    answer = await settle_answer(app.handler(request))
    assert isinstance(answer, Response)
    if request.settle is not None:
        request.settle(answer)
    raw = b"".join(answer.chunks)
    document = serializer.decode_json(raw) if raw[:1] == b"{" else {"message": raw.decode("utf-8", "replace")}
    if answer.status >= 300:
        raise make_refusal(answer.status, document)
    return dict(document), answer


class Lines:
    """A sink for the stream of a watch. It queues events, and None at the end."""

    def __init__(self) -> None:
        self._waiting: asyncio.Queue[Object | None] = asyncio.Queue()
        self._stop: Callable[[], None] = lambda: None

    @classmethod
    async def of(cls, app: App, path: str, **query: str) -> Lines:
        """Start a watch. Raises Refused."""
        assert app.handler is not None
        request = make_request(app, "GET", path, None, "", {"watch": "true", **query})
        answer = await settle_answer(app.handler(request))
        if not isinstance(answer, Stream):
            raise make_refusal(answer.status, serializer.decode_json(b"".join(answer.chunks)))
        result = cls()
        result._stop = answer.start(result)
        return result

    def send(self, data: bytes) -> bool:
        """Queue the events in whole lines."""
        for line in data.splitlines():
            self._waiting.put_nowait(serializer.decode_json(line))
        return True

    def send_initial(self, pieces: Iterator[bytes]) -> None:
        """Queue the events of all pieces."""
        for piece in pieces:
            self.send(piece)

    def end(self) -> None:
        """Queue the end."""
        self._waiting.put_nowait(None)

    async def next(self) -> Object | None:
        """Return the next event, None at the end."""
        return await self._waiting.get()

    def stop(self) -> None:
        """End the watch."""
        self._stop()


class ServerLoop:
    """Runs work on the event loop of a server, from any event loop. loop, context: those of the server."""

    def __init__(self, app: App, loop: asyncio.AbstractEventLoop, context: Context) -> None:
        self._app = app
        self._loop = loop
        self._context = context

    async def _run_there(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the server's loop, in its context."""

        async def run_in_context() -> T:
            return await self._loop.create_task(work, context=self._context.copy())

        if asyncio.get_running_loop() is self._loop:
            return await run_in_context()
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(run_in_context(), self._loop))


class Direct(ServerLoop):
    """The transport of podless.client to a server in this process, from any event loop."""

    async def send(self, method: str, path: str, body: Any = None, media: str = "application/json") -> Object:
        """Send a request and return the document of the answer. Raises Refused."""
        return await self._run_there(ask_app(self._app, method, path, body, media=media))

    async def watch(self, path: str) -> AsyncIterator[Object]:
        """Yield the events of a watch until it ends. Raises Refused."""
        plain, _, query = path.partition("?")
        lines = await self._run_there(Lines.of(self._app, plain, **dict(parse_qsl(query))))
        try:
            while (event := await self._run_there(lines.next())) is not None:
                yield event
        finally:
            self._loop.call_soon_threadsafe(lines.stop)
