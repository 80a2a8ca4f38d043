"""OpenAPI documents over HTTP: hashes in their addresses, ETags, and bodies built when someone asks."""

from __future__ import annotations

import time
from collections import OrderedDict
from email.utils import formatdate
from typing import Any
from urllib.parse import parse_qs
from weakref import WeakKeyDictionary

from podless.http import negotiate
from podless.http.message import JSON, Request, Response
from podless.kinds.kind import Kind
from podless.kinds.registry import Registry
from podless.meta import codec
from podless.meta.errors import NotAcceptable, PageNotFound
from podless.meta.gvk import GroupVersion
from podless.publish.openapi import v2, v3

_KEEP = 16  # documents that are kept encoded
_YEAR = 365 * 24 * 3600


class OpenAPI:
    """/openapi/v2, /openapi/v3 and the documents below it."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._generation = -1
        self._hashes: dict[GroupVersion, str] = {}
        self._documents: OrderedDict[tuple[GroupVersion, str], bytes] = OrderedDict()
        self._parts: WeakKeyDictionary[Kind, Any] = WeakKeyDictionary()
        self._v2 = b""

    def answer(self, request: Request, parts: list[str]) -> Response:
        """The document at /openapi/... Raises PageNotFound or NotAcceptable."""
        self._refresh()
        if parts[1:] == ["v2"]:
            return self._swagger(request)
        if len(parts) < 2 or parts[1] != "v3":
            raise PageNotFound
        if len(parts) == 2:
            return _tagged(request, codec.encode(v3.index(self._hashes)), v3.etag(self._digests()))
        version = _group_version(parts[2:])
        if version is None or version not in self._hashes:
            return Response(404, (), b"")
        return self._document(request, version)

    def _refresh(self) -> None:
        if self._generation != self._registry.generation:
            self._generation = self._registry.generation
            self._hashes = v3.hashes(self._registry)
            self._v2 = b""

    def _digests(self) -> list[bytes]:
        return [text.encode() for text in self._hashes.values()]

    def _document(self, request: Request, version: GroupVersion) -> Response:
        tag = self._hashes[version]
        wanted = parse_qs(request.query_text).get("hash", [""])[0]
        if wanted and wanted != tag:
            path = v3.index({version: tag})["paths"]
            address = next(iter(path.values()))["serverRelativeURL"]
            return Response(301, (), b"", [("Location", address)])
        key = version, tag
        body = self._documents.get(key)
        if body is None:
            kinds = [kind for kind in self._registry if kind.group == version.group]
            body = codec.encode(v3.document(version.group, version.version, kinds))
            self._documents[key] = body
            if len(self._documents) > _KEEP:
                self._documents.popitem(last=False)
        else:
            self._documents.move_to_end(key)
        return _tagged(request, body, tag, lasting=bool(wanted))

    def _swagger(self, request: Request) -> Response:
        form = negotiate.choose(request.headers.get("accept", ""), frozenset(), (negotiate.JSON,))
        if form is None:
            raise NotAcceptable("only the following media types are accepted: application/json")
        if not self._v2:
            self._v2 = codec.encode(v2.join(self._part(kind) for kind in self._registry))
        return _tagged(request, self._v2, v3.etag(self._digests()))

    def _part(self, kind: Kind) -> Any:
        part = self._parts.get(kind)
        if part is None:
            part = self._parts[kind] = v2.parts(kind)
        return part


def _group_version(parts: list[str]) -> GroupVersion | None:
    if parts[0] == "api" and len(parts) == 2:
        return GroupVersion("", parts[1])
    return GroupVersion(parts[1], parts[2]) if parts[0] == "apis" and len(parts) == 3 else None


def _tagged(request: Request, body: bytes, tag: str, *, lasting: bool = False) -> Response:
    headers = [("ETag", f'"{tag}"'), ("Vary", "Accept")]
    if lasting:
        headers += [("Cache-Control", "public, immutable"), ("Expires", formatdate(time.time() + _YEAR, usegmt=True))]
    if request.headers.get("if-none-match", "").strip('"') == tag:
        return Response(304, (), b"", headers)
    return Response(200, [body], JSON, headers)
