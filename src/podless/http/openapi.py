"""OpenAPI documents over HTTP."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from podless.http.message import Request, Response
from podless.kinds.registry import Registry
from podless.meta.errors import PageNotFound

if TYPE_CHECKING:
    from podless.publish.openapi.serve import Library


class OpenAPI:
    """/openapi/v2, /openapi/v3 and the documents below it. release: what the server calls itself."""

    def __init__(self, registry: Registry, release: str) -> None:
        self._registry = registry
        self._release = release

    @cached_property
    def _library(self) -> Library:
        from podless.publish.openapi.serve import Library  # many servers are never asked

        registry = self._registry
        return Library(lambda: registry, release=self._release, generation=lambda: registry.generation)

    def answer(self, request: Request, parts: list[str]) -> Response:
        """The document at /openapi/... Raises PageNotFound."""
        from podless.publish.openapi import serve

        if request.path.endswith("/"):
            if parts[1:2] == ["v3"]:
                return Response(404, (), b"")
            raise PageNotFound
        ask = serve.Request(
            "/".join(parts[2:]),
            request.query.get("hash", [""])[0],
            request.headers.get("accept", ""),
            request.headers.get("if-none-match", ""),
            request.method,
        )
        if parts[1:] == ["v2"]:
            reply = self._library.swagger(ask)
        elif parts[1:] == ["v3"]:
            reply = self._library.index()
        elif len(parts) > 2 and parts[1] == "v3":
            reply = self._library.document(ask)
        else:
            raise PageNotFound
        headers = dict(reply.headers)
        media = headers.pop("Content-Type", "").encode()
        return Response(reply.status, [reply.body] if reply.body else (), media, list(headers.items()))
