"""OpenAPI over HTTP: choice of document and form, and conditional requests.

`DocumentLibrary` keeps digests and parts by kind, from which documents of custom kinds are assembled as they are sent,
and the last documents of built-in kinds. It does no I/O; each server has one. An answer is a generator: it yields each
missing part as a step, and its caller decides when and where to make it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import field
from datetime import datetime, timedelta
from functools import partial
from hashlib import sha256
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary, WeakSet

from podless.apis.release import RECORDED_FACTS
from podless.codec import serializer
from podless.codec.accept import parse_accept
from podless.kinds.kind import Kind, Version
from podless.kinds.version import read_schemas
from podless.publish.openapi import documents, gnostic, pages, v3
from podless.publish.openapi.documents import AreaEntries, DocumentBody, DocumentForm
from podless.publish.openapi.routes import PathOperation
from podless.runtime import clock
from podless.runtime.dataclass import dataclass

JSON = "application/json"
V2_PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
V3_PROTOBUF = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
# requested media type -> type of the answer; the first one is for */*
V3_FORMS = {
    JSON: JSON,
    V3_PROTOBUF: V3_PROTOBUF,
    "application/com.github.proto-openapi.spec.v3@v1.0+protobuf": V3_PROTOBUF,
}
V2_FORMS = {
    JSON: JSON,
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf": V2_PROTOBUF,
    V2_PROTOBUF: V2_PROTOBUF,
}
_YEAR = timedelta(days=365)
_CACHED = 32
_MANY_KINDS = 500  # kinds; merging the parts of more takes long
_FEW = 4  # versions; a definition with more takes long to read
_LONG_SCHEMA = 1 << 15  # bytes of a schema; a longer one takes long to convert


@dataclass(frozen=True, slots=True)
class DocumentReply:
    """An answer: status, headers in their order, body."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | DocumentBody = b""


@dataclass(frozen=True, slots=True)
class DocumentRequest:
    """The relevant parts of a request. Any method is answered like GET (the HTTP layer drops the body for HEAD).

    group_version: the path after /openapi/v3/, also of a page. hash: the query parameter, "" without it.
    """

    group_version: str = ""
    hash: str = ""
    accept: str = ""
    if_match: str = ""
    if_none_match: str = ""
    method: str = "GET"


UNCONDITIONAL = DocumentRequest()


def choose_media(accept: str, forms: dict[str, str]) -> str | None:
    """Return the first form that an Accept header accepts, by its public name; None if it accepts none."""
    for _, main, sub, _ in parse_accept(accept or "*/*"):
        for name, form in forms.items():
            offered = name.split("/")
            if main in (offered[0], "*") and sub in (offered[1], "*"):
                return form
    return None


def matches_etag(tags: str, etag: str, *, weakly: bool = True) -> bool:
    """Return whether If-Match or If-None-Match names the quoted ETag or is *. weakly: W/ETag names it, too."""
    named = [tag.strip() for tag in tags.split(",")]
    return "*" in named or etag in named or (weakly and f"W/{etag}" in named)


class MissingPart(NamedTuple):
    """A part that an answer still lacks. make: returns it, as a pure function.

    is_long: it may take longer than some milliseconds.
    """

    make: Callable[[], Any]
    is_long: bool = False


T = TypeVar("T")
Preparation = Generator[MissingPart, Any, T]
"""Yields the parts that a result still lacks, gets what their `make` returns, and returns the result."""


def complete_answer(answer: Preparation[T]) -> T:
    """Return an answer after making all missing parts."""
    made = None
    while True:
        try:
            made = answer.send(made).make()
        except StopIteration as done:
            result: T = done.value
            return result


def _find_refusal(request: DocumentRequest, headers: dict[str, str]) -> DocumentReply | None:
    """Return the answer to a conditional request that gets no document, None for others."""
    etag = headers.get("Etag", "")
    if request.if_match and not matches_etag(request.if_match, etag, weakly=False):
        return DocumentReply(412, headers)
    if request.if_none_match and matches_etag(request.if_none_match, etag):
        if request.method not in ("GET", "HEAD"):
            return DocumentReply(412, headers)
        return DocumentReply(304, {name: value for name, value in headers.items() if name != "Content-Type"})
    return None


class PublishedDocument:
    """A version 3 document. versions: those of a group-version's kinds. page: the operation of a page.

    custom: all kinds are custom. etag: the hash, "" until it is computed. entry: of the index, with the hash.
    """

    __slots__ = ("custom", "entry", "etag", "name", "page", "versions")

    def __init__(
        self, name: str, versions: list[tuple[Kind, Version]], page: PathOperation | None = None, etag: str = ""
    ) -> None:
        self.name = name
        self.versions = versions
        self.page = page
        self.custom = page is None and all(kind.custom for kind, _ in versions)
        self.etag = etag
        self.entry = v3.encode_index_entry(name, etag) if etag else b""

    def set_etag(self, etag: str) -> None:
        """Set the hash."""
        self.etag, self.entry = etag, v3.encode_index_entry(self.name, etag)


class DocumentLibrary:
    """Answers requests for documents of the kinds that are served now."""

    def __init__(
        self,
        kinds: Callable[[], Iterable[Kind]],
        release: str = RECORDED_FACTS.name,
        now: Callable[[], datetime] = clock.utc_now,
        generation: Callable[[], object] = object,
    ) -> None:
        """Make a library for some kinds. kinds: returns the served ones; a changed definition must give another Kind.

        release: in documents. generation: returns an equal value while the kinds are the same, so that the index is
        cached.
        """
        self._kinds = kinds
        self._release = release
        self._now = now
        self._generation = generation
        self._seen: object = None  # the generation of the next four values
        self._published: dict[str, PublishedDocument] = {}  # by name, sorted
        self._groups: list[PublishedDocument] = []  # those with kinds
        self._index = b""
        self._swagger_etag = ""
        self._digests: WeakKeyDictionary[Kind, Mapping[str, bytes]] = WeakKeyDictionary()
        self._long_kinds: WeakSet[Kind] = WeakSet()  # kinds with long schemas
        self._kind_parts: dict[DocumentForm, WeakKeyDictionary[Kind, dict[str, AreaEntries]]]
        self._kind_parts = {form: WeakKeyDictionary() for form in documents.FORMS}
        # version 2, by form: the part of all built-in kinds, which share most components
        self._builtin: dict[DocumentForm, tuple[list[Kind], AreaEntries]] = {}
        # the last bodies with their hashes, by name and form
        self._documents: OrderedDict[tuple[str, str], tuple[str, bytes | DocumentBody]] = OrderedDict()
        self._swagger: dict[str, tuple[str, DocumentBody]] = {}

    def answer_request(self, document: str, request: DocumentRequest) -> Preparation[DocumentReply]:
        """Return the answer of a document: v2 or v3."""
        if document == "v2":
            return self.answer_swagger(request)
        return self.answer_document(request) if request.group_version else self.answer_index(request)

    def _list_published(self) -> dict[str, PublishedDocument]:
        """Return all version 3 documents by name. Unchanged ones keep their hashes."""
        generation = self._generation()
        if generation == self._seen:
            return self._published
        versions: dict[str, list[tuple[Kind, Version]]] = {}
        for kind in self._kinds():
            prefix = f"apis/{kind.group}" if kind.group else "api"
            for version in kind.versions:
                versions.setdefault(f"{prefix}/{version.name}", []).append((kind, version))
        former = self._published
        groups = [
            former[name] if name in former and former[name].versions == served else PublishedDocument(name, served)
            for name, served in versions.items()
        ]
        builtin = dict.fromkeys(group.versions[0][0].group for group in groups if not group.custom)
        listed = {group.name: group for group in groups}
        for name, page in pages.list_pages(builtin).items():
            listed[name] = former.get(name) or PublishedDocument(name, [], page, v3.make_page_etag(name))
        self._published, self._groups = dict(sorted(listed.items())), groups
        self._seen, self._index, self._swagger_etag = generation, b"", ""
        return self._published

    def answer_index(self, request: DocumentRequest = UNCONDITIONAL) -> Preparation[DocumentReply]:
        """Return /openapi/v3. A real server sends it as text, because it sets no type."""
        headers = {"Content-Type": "text/plain; charset=utf-8"}
        if (refusal := _find_refusal(request, headers)) is not None:
            return refusal
        published = self._list_published().values()
        if not self._index:
            yield from self._compute_etags(self._groups)
            self._index = v3.join_index(document.entry for document in published)
        return DocumentReply(200, headers, self._index)

    def answer_document(self, request: DocumentRequest) -> Preparation[DocumentReply]:
        """Return /openapi/v3/…: a group-version or page; 404 if it is not served, 301 for an old hash."""
        document = self._list_published().get(request.group_version)
        if document is None:
            return DocumentReply(404)
        form = choose_media(request.accept, V3_FORMS)
        if form is None and not parse_accept(request.accept):
            return DocumentReply(200)  # as kube-openapi (handler3) does if no clause is valid
        if form is None:
            return DocumentReply(406, {"Vary": "Accept"})
        yield from self._compute_etags([document])
        etag = document.etag
        headers = {"Vary": "Accept", "Content-Type": form, "Etag": f'"{etag}"'}
        if request.hash and request.hash != etag:
            return DocumentReply(301, headers | {"Location": v3.format_document_url(request.group_version, etag)})
        if request.hash:
            expires = (self._now() + _YEAR).strftime("%a, %d %b %Y %H:%M:%S UTC")
            headers |= {"Cache-Control": "public, immutable", "Expires": expires}
        if (refusal := _find_refusal(request, headers)) is not None:
            return refusal
        return DocumentReply(200, headers, (yield from self._find_v3(form, document)))

    def answer_swagger(self, request: DocumentRequest) -> Preparation[DocumentReply]:
        """Return /openapi/v2: all kinds in one document."""
        form = choose_media(request.accept, V2_FORMS)
        if form is None:
            return DocumentReply(406, {"Vary": "Accept"})
        self._list_published()
        if not self._swagger_etag:
            groups = self._groups
            yield from self._compute_etags(groups, with_parts=form == JSON)
            self._swagger_etag = v3.hash_document(group.etag.encode() for group in groups)
        headers = {"Vary": "Accept", "Content-Type": form, "Etag": f'"{self._swagger_etag}"'}
        if (refusal := _find_refusal(request, headers)) is not None:
            return refusal
        return DocumentReply(200, headers, (yield from self._join_v2(form, self._swagger_etag)))

    # values by kind

    def _compute_etags(self, published: Iterable[PublishedDocument], *, with_parts: bool = False) -> Preparation[None]:
        """Compute unknown hashes of documents. with_parts: their kinds will be shown as JSON."""
        for document in published:
            if document.etag:
                continue
            for kind, _ in document.versions:
                if kind not in self._digests:
                    digest = yield MissingPart(partial(_digest_kind, kind, with_parts), len(kind.versions) > _FEW)
                    self._store_digest(kind, digest)
            digests = [self._digests[kind][version.name] for kind, version in document.versions]
            document.set_etag((yield MissingPart(partial(v3.hash_document, digests))))

    def _store_digest(self, kind: Kind, digest: _KindDigest) -> None:
        self._digests[kind] = digest.digests
        if digest.length > _LONG_SCHEMA:
            self._long_kinds.add(kind)
        for form, entries in digest.parts.items():
            self._kind_parts[form][kind] = entries

    def _list_entries(
        self, form: DocumentForm, served: Iterable[tuple[Kind, Version]]
    ) -> Preparation[list[AreaEntries]]:
        """Return the document parts of versions of custom kinds."""
        entries: list[AreaEntries] = []
        for kind, version in served:
            by_version = self._kind_parts[form].setdefault(kind, {})
            if version.name not in by_version:
                make = partial(documents.make_part, form, kind, version)
                by_version[version.name] = yield MissingPart(make, kind in self._long_kinds)
            entries.append(by_version[version.name])
        return entries

    # documents

    def _find_v3(self, form: str, document: PublishedDocument) -> Preparation[bytes | DocumentBody]:
        etag, body = self._documents.pop((document.name, form), ("", b""))
        if etag != document.etag and document.custom:
            of = documents.V3_PROTOBUF if form == V3_PROTOBUF else documents.V3_JSON
            body = documents.join_document(of, (yield from self._list_entries(of, document.versions)))
        elif etag != document.etag:
            body = yield MissingPart(partial(_encode_builtin, form, self._release, document), is_long=True)
        self._documents[document.name, form] = document.etag, body
        if len(self._documents) > _CACHED:
            self._documents.popitem(last=False)
        return body

    def _join_v2(self, form: str, etag: str) -> Preparation[DocumentBody]:
        cached = self._swagger.get(form)
        if cached is not None and cached[0] == etag:
            return cached[1]
        of = documents.V2_PROTOBUF if form == V2_PROTOBUF else documents.V2_JSON
        kinds = list(self._kinds())
        builtin, custom = ([kind for kind in kinds if kind.custom is which] for which in (False, True))
        if of not in self._builtin or self._builtin[of][0] != builtin:
            part = yield MissingPart(partial(documents.make_builtin_part, of, builtin), is_long=True)
            self._builtin[of] = builtin, part
        entries = yield from self._list_entries(of, [(kind, version) for kind in custom for version in kind.versions])
        make = partial(documents.join_swagger, of, self._release, self._builtin[of][1], entries)
        body: DocumentBody = (yield MissingPart(make, is_long=True)) if len(custom) > _MANY_KINDS else make()
        self._swagger[form] = etag, body
        return body


class _KindDigest(NamedTuple):
    """The result of reading a kind's definition once. length: in bytes. parts: by form and version."""

    digests: Mapping[str, bytes]
    length: int
    parts: Mapping[DocumentForm, dict[str, AreaEntries]]


def _digest_kind(kind: Kind, with_parts: bool) -> _KindDigest:
    """Digest the versions of a kind. with_parts: also make the parts of a short definition for both documents.

    Reading a definition costs as much as converting it, and clients of version 2 also request version 3.
    """
    versions = read_schemas(kind.versions)
    encoded = {version.name: v3.encode_kind(kind, version) for version in versions}
    length = sum(map(len, encoded.values()))
    digests = {name: sha256(text).digest() for name, text in encoded.items()}
    if not with_parts or not kind.custom or length > _LONG_SCHEMA:
        return _KindDigest(digests, length, {})
    entries = {
        form: {version.name: documents.make_part(form, kind, version) for version in versions}
        for form in (documents.V2_JSON, documents.V3_JSON)
    }
    return _KindDigest(digests, length, entries)


def _encode_builtin(form: str, release: str, document: PublishedDocument) -> bytes:
    """Return the document of a page, or of a group-version with built-in kinds."""
    if document.page is not None:
        value = v3.make_page_document(document.page, release)
    else:
        kinds = [kind for kind, _ in document.versions]
        value = v3.make_group_version_document(kinds[0].group, document.versions[0][1].name, kinds, release)
    binary = form == V3_PROTOBUF
    return serializer.fit_bytes(gnostic.V3.encode("Document", value) if binary else serializer.encode_json(value))
