"""OpenAPI documents over HTTP. Missing parts are made in slices, or off the event loop."""

from __future__ import annotations

import asyncio
import time
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

from podless.http.message import Answer, HTTPRequest, LazyBody, Pending, Response, settle_answer
from podless.kinds.kind import Kind
from podless.meta.errors import PageNotFound
from podless.offload.offloop import LONG_BYTES
from podless.runtime.collector import pause_gc
from podless.verbs.call import API

if TYPE_CHECKING:
    from podless.publish.openapi import serve
    from podless.publish.openapi.serve import DocumentLibrary

_WHILE = 0.001  # seconds after which other requests run before more parts are made


class OpenAPIPaths:
    """/openapi/v2, /openapi/v3 and the documents below it."""

    def __init__(self, api: API) -> None:
        self._registry = api.registry
        self._release = api.facts.name
        self._off_loop = api.off_loop
        self._pace = api.pace
        self._making = asyncio.Lock()
        self._imported = False
        # the kinds of this registry generation, so that one answer is consistent
        self._generation = -1
        self._kinds: list[Kind] = []

    @cached_property
    def _library(self) -> DocumentLibrary:
        from podless.publish.openapi.serve import DocumentLibrary  # imported late: many servers never answer this

        return DocumentLibrary(lambda: self._kinds, release=self._release, generation=lambda: self._generation)

    def answer(self, request: HTTPRequest, segments: list[str]) -> Response | Pending:
        """Return the document at /openapi/... Raises PageNotFound."""
        if request.path.endswith("/"):
            if segments[1:2] == ["v3"]:
                return Response(404, (), b"")
            raise PageNotFound
        if segments[1:] != ["v2"] and segments[1:2] != ["v3"]:
            raise PageNotFound
        return self._find_document(request, segments) if self._imported else self._import_and_find(request, segments)

    async def _import_and_find(self, request: HTTPRequest, segments: list[str]) -> Answer:
        await self._off_loop.run_on_thread(import_module, "podless.publish.openapi.serve")
        self._imported = True
        return await settle_answer(self._find_document(request, segments))

    def _find_document(self, request: HTTPRequest, segments: list[str]) -> Response | Pending:
        from podless.publish.openapi import serve

        ask = serve.DocumentRequest(
            "/".join(segments[2:]),
            request.query.get("hash", [""])[0],
            request.headers.get("accept", ""),
            request.headers.get("if-match", ""),
            request.headers.get("if-none-match", ""),
            request.method,
        )
        if not self._making.locked():
            self._read_kinds()
        if self._generation == self._registry.generation:
            try:
                next(self._library.answer_request(segments[1], ask))  # a part is missing: begin again in turn
            except StopIteration as done:
                return _make_response(done.value)
        return self._await_answer(segments[1], ask, request.user.name)

    def _read_kinds(self) -> None:
        if self._generation != self._registry.generation:
            self._generation, self._kinds = self._registry.generation, list(self._registry)

    async def _await_answer(self, document: str, ask: serve.DocumentRequest, user: str) -> Answer:
        """Return the answer when its parts are made: long ones off the loop, others in turn with other requests.

        Concurrent requests share the work.
        """
        async with self._making:
            self._read_kinds()
            answer, made = self._library.answer_request(document, ask), None
            until = time.perf_counter() + _WHILE
            with pause_gc():
                while True:
                    try:
                        make, is_long = answer.send(made)
                    except StopIteration as done:
                        return _make_response(done.value)
                    made = await self._off_loop.make_value(LONG_BYTES, make) if is_long else make()
                    if time.perf_counter() > until:
                        await self._pace.wait_turn(user)
                        until = time.perf_counter() + _WHILE


def _make_response(reply: serve.DocumentReply) -> Response:
    headers = dict(reply.headers)
    media = headers.pop("Content-Type", "").encode()
    body = reply.body
    if isinstance(body, bytes):
        return Response(reply.status, [body] if body else (), media, list(headers.items()))
    return Response(reply.status, LazyBody(body.__iter__, body.size), media, list(headers.items()))
