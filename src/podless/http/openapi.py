"""OpenAPI documents over HTTP. What has to be made first is made beside the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from podless.http.message import Answer, Pending, Request, Response
from podless.kinds.kind import Kind
from podless.kinds.registry import Registry
from podless.meta.aside import Aside
from podless.meta.errors import PageNotFound
from podless.meta.offloop import drafting

if TYPE_CHECKING:
    from podless.publish.openapi import serve
    from podless.publish.openapi.serve import Library


class OpenAPI:
    """/openapi/v2, /openapi/v3 and the documents below it. release: what the server calls itself."""

    def __init__(self, registry: Registry, release: str, aside: Aside) -> None:
        self._registry = registry
        self._release = release
        self._aside = aside
        self._making = asyncio.Lock()
        # the thread sees the kinds as they were when a request came in
        self._generation = -1
        self._kinds: list[Kind] = []

    @cached_property
    def _library(self) -> Library:
        from podless.publish.openapi.serve import Library  # many servers are never asked

        return Library(lambda: self._kinds, release=self._release, generation=lambda: self._generation)

    def answer(self, request: Request, parts: list[str]) -> Response | Pending:
        """The document at /openapi/... Raises PageNotFound."""
        from podless.publish.openapi import serve

        if request.path.endswith("/"):
            if parts[1:2] == ["v3"]:
                return Response(404, (), b"")
            raise PageNotFound
        if parts[1:] != ["v2"] and parts[1:2] != ["v3"]:
            raise PageNotFound
        ask = serve.Request(
            "/".join(parts[2:]),
            request.query.get("hash", [""])[0],
            request.headers.get("accept", ""),
            request.headers.get("if-none-match", ""),
            request.method,
        )
        self._look()
        if self._library.ready(parts[1], ask):
            return _response(self._library.answer(parts[1], ask))
        return self._made(parts[1], ask)

    def _look(self) -> None:
        if self._generation != self._registry.generation:
            self._generation, self._kinds = self._registry.generation, list(self._registry)

    async def _made(self, document: str, ask: serve.Request) -> Answer:
        """The answer once it is made; all who ask meanwhile wait for the same."""
        async with self._making:
            self._look()
            if self._library.ready(document, ask):
                return _response(self._library.answer(document, ask))
            library = self._library.copy()
            reply, publish = await self._aside.run_off_loop(_answer, library, document, ask)
            publish()
            self._library = library
            return _response(reply)


def _answer(library: Library, document: str, ask: serve.Request) -> tuple[serve.Reply, Callable[[], None]]:
    """What a library answers that nobody else knows yet, and what publishes that which was made of kinds for it."""
    with drafting() as draft:
        return library.answer(document, ask), draft.publish


def _response(reply: serve.Reply) -> Response:
    headers = dict(reply.headers)
    media = headers.pop("Content-Type", "").encode()
    return Response(reply.status, [reply.body] if reply.body else (), media, list(headers.items()))
