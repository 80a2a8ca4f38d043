"""OpenAPI over HTTP: choice of document and form, and conditional requests.

`DocumentLibrary` keeps digests and parts by kind, from which documents of custom kinds are assembled as they are sent,
and the last documents of built-in kinds. It does no I/O; each server has one. It reports missing parts as steps
(`MissingParts`), and its caller decides when and where to make them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from hashlib import sha512
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakSet

from podless.apis.release import RELEASE
from podless.codec import serializer
from podless.codec.accept import parse_accept
from podless.kinds.kind import Kind, Version
from podless.kinds.version import read_schemas
from podless.meta.gvk import GroupVersion
from podless.publish.openapi import documents, pages, parts, v3, v3pb
from podless.publish.openapi.parts import AreaEntries, KindForm
from podless.publish.openapi.pieces import DocumentBody
from podless.publish.openapi.routes import PathOperation
from podless.runtime import clock

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
_Custom = list[tuple[Kind, Version]]  # the contents of a document of custom kinds
_YEAR = timedelta(days=365)
_KEPT = 32
_MANY = 500  # kinds; merging the parts of more takes long
_FEW = 4  # versions; a definition with more takes long to read
_LONG = 1 << 15  # bytes of a schema; a longer one takes long to convert


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
    if_none_match: str = ""
    method: str = "GET"


def group_version(path: str) -> GroupVersion | None:
    """Return the group-version in a path after /openapi/v3/: of api/v1 and apis/group/version; None for others."""
    match path.split("/"):
        case ["api", version] if version:
            return GroupVersion("", version)
        case ["apis", group, version] if group and version:
            return GroupVersion(group, version)
    return None


def accepted_form(accept: str, forms: dict[str, str]) -> str | None:
    """Return the first form that an Accept header accepts, by its public name; None if it accepts none."""
    for _, main, sub, _ in parse_accept(accept or "*/*"):
        for name, form in forms.items():
            offered = name.split("/")
            if main in (offered[0], "*") and sub in (offered[1], "*"):
                return form
    return None


def matches_etag(if_none_match: str, etag: str) -> bool:
    """Return whether an If-None-Match header names the ETag (weakly) or is *."""
    tags = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return "*" in tags or f'"{etag}"' in tags


class PreparationStep(NamedTuple):
    """A missing part of an answer. make: returns it, as a pure function; keep: stores it.

    is_long: it may take longer than some milliseconds.
    """

    make: Callable[[], Any]
    keep: Callable[[Any], object]
    is_long: bool = False


class MissingParts(Exception):
    """An answer needs missing parts. steps: make them, in any order; others may be missing after that."""

    def __init__(self, steps: list[PreparationStep]) -> None:
        super().__init__()
        self.steps = steps


def complete_answer(work: Callable[[], DocumentReply]) -> DocumentReply:
    """Return the answer of `work` after making all missing parts."""
    while True:
        try:
            return work()
        except MissingParts as missing:
            for step in missing.steps:
                step.keep(step.make())


def _answer_conditional(
    request: DocumentRequest, headers: dict[str, str], etag: str, body: Callable[[], bytes | DocumentBody]
) -> DocumentReply:
    if request.if_none_match and matches_etag(request.if_none_match, etag):
        if request.method not in ("GET", "HEAD"):
            return DocumentReply(412, headers)
        return DocumentReply(304, {name: value for name, value in headers.items() if name != "Content-Type"})
    return DocumentReply(200, headers, body())


class DocumentLibrary:
    """Answers requests for documents of the kinds that are served now."""

    def __init__(
        self,
        kinds: Callable[[], Iterable[Kind]],
        release: str = RELEASE.name,
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
        self._index: tuple[object, bytes] = (None, b"")
        self._digests: WeakKeyDictionary[Kind, Mapping[str, bytes]] = WeakKeyDictionary()
        self._long_kinds: WeakSet[Kind] = WeakSet()  # kinds with long schemas
        self._kind_parts: dict[str, WeakKeyDictionary[Kind, dict[str, AreaEntries]]]
        self._kind_parts = {name: WeakKeyDictionary() for name in parts.FORMS}
        # version 2, by form: the part of all built-in kinds, which share most components
        self._builtin: dict[str, tuple[list[Kind], AreaEntries]] = {}
        self._documents: OrderedDict[tuple[str, str], bytes | DocumentBody] = OrderedDict()
        self._swagger: dict[str, tuple[str, DocumentBody]] = {}
        # by path and form: kinds and ETag of the last request for a document
        self._etags: OrderedDict[tuple[str, str], tuple[object, str]] = OrderedDict()

    def answer_request(self, document: str, request: DocumentRequest) -> DocumentReply:
        """Return the answer of a document: v2 or v3. Raises MissingParts."""
        if document == "v2":
            return self.answer_swagger(request)
        return self.answer_document(request) if request.group_version else self.answer_index()

    def is_ready(self, document: str, request: DocumentRequest) -> bool:
        """Return whether an answer is complete, or quick to complete."""
        if document == "v3" and not request.group_version:
            return self._index[0] == self._generation()
        form = accepted_form(request.accept, V2_FORMS if document == "v2" else V3_FORMS)
        if form is None:
            return True
        generation, etag = self._etags.get((request.group_version, form), (None, ""))
        if generation is None or generation != self._generation():
            return False
        if request.if_none_match and matches_etag(request.if_none_match, etag):
            return True
        return (form, etag) in self._documents if document == "v3" else self._swagger[form][0] == etag

    def _note_etag(self, name: str, form: str, generation: object, etag: str) -> None:
        _, before = self._etags.pop((name, form), (None, etag))
        if before != etag:
            self._documents.pop((form, before), None)
        self._etags[name, form] = generation, etag
        if len(self._etags) > _KEPT:
            self._etags.popitem(last=False)

    def answer_index(self) -> DocumentReply:
        """Return /openapi/v3. A real server sends it as text, because it sets no type. Raises MissingParts."""
        generation = self._generation()
        if self._index[0] != generation:
            self._index = generation, self._encode_index()
        return DocumentReply(200, {"Content-Type": "text/plain; charset=utf-8"}, self._index[1])

    def _encode_index(self) -> bytes:
        groups: dict[tuple[str, str], list[bytes]] = {}
        kinds = list(self._kinds())
        for kind, digests in zip(kinds, self._find_digests(kinds), strict=True):
            for version in kind.versions:
                groups.setdefault((kind.group, version.name), []).append(digests[version.name])
        tags = {name: v3.page_etag(name) for name in self._list_pages()}
        tags |= {
            v3.group_version_path(GroupVersion(*key)): v3.document_hash(digests) for key, digests in groups.items()
        }
        return serializer.encode_json(v3.root_document(tags))

    def _list_pages(self) -> dict[str, PathOperation]:
        return pages.list_pages({kind.group for kind in self._kinds() if not kind.custom})

    def answer_document(self, request: DocumentRequest) -> DocumentReply:
        """Return /openapi/v3/…: a group-version or page; 404 if it is not served, 301 for an old hash.

        Raises MissingParts.
        """
        generation = self._generation()
        document = self._find_document(request.group_version)
        if document is None:
            return DocumentReply(404)
        etag, make = document
        form = accepted_form(request.accept, V3_FORMS)
        if form is None and not parse_accept(request.accept):
            return DocumentReply(200)  # as kube-openapi (handler3) does if no clause is valid
        if form is None:
            return DocumentReply(406, {"Vary": "Accept"})
        headers = {"Vary": "Accept", "Content-Type": form, "Etag": f'"{etag}"'}
        if request.hash and request.hash != etag:
            return DocumentReply(301, headers | {"Location": v3.document_url(request.group_version, etag)})
        if request.hash:
            expires = (self._now() + _YEAR).strftime("%a, %d %b %Y %H:%M:%S UTC")
            headers |= {"Cache-Control": "public, immutable", "Expires": expires}
        self._note_etag(request.group_version, form, generation, etag)
        return _answer_conditional(request, headers, etag, lambda: self._find_v3(form, etag, make))

    def _find_document(self, name: str) -> tuple[str, _Custom | Callable[[], v3.Document]] | None:
        """Return the hash of a document, and its custom kinds or a function that makes it; None for an unknown name."""
        key = group_version(name)
        if key is None:
            page = self._list_pages().get(name)
            return (v3.page_etag(name), partial(v3.page_document, page, self._release)) if page is not None else None
        group, served = key.group, key.version
        kinds = [
            kind
            for kind in self._kinds()
            if kind.group == group and any(version.name == served for version in kind.versions)
        ]
        if not kinds:
            return None
        etag = v3.document_hash(digests[served] for digests in self._find_digests(kinds))
        if all(kind.custom for kind in kinds):
            return etag, [(kind, kind.by_version[served]) for kind in kinds]
        return etag, partial(v3.group_version_document, group, served, kinds, self._release)

    def answer_swagger(self, request: DocumentRequest) -> DocumentReply:
        """Return /openapi/v2: all kinds in one document. Raises MissingParts."""
        form = accepted_form(request.accept, V2_FORMS)
        if form is None:
            return DocumentReply(406, {"Vary": "Accept"})
        generation, kinds = self._generation(), list(self._kinds())
        found = zip(kinds, self._find_digests(kinds, with_parts=form == JSON), strict=True)
        etag = v3.document_hash(digests[version.name] for kind, digests in found for version in kind.versions)
        headers = {"Vary": "Accept", "Content-Type": form, "Etag": f'"{etag}"'}
        reply = _answer_conditional(request, headers, etag, lambda: self._join_v2(kinds, form, etag))
        if self._swagger.get(form, ("",))[0] == etag:
            self._note_etag("", form, generation, etag)
        return reply

    # values by kind

    def _find_digests(self, kinds: list[Kind], *, with_parts: bool = False) -> list[Mapping[str, bytes]]:
        """Return the digests of kinds, by version. with_parts: they will be shown as JSON. Raises MissingParts."""
        digests = [self._digests.get(kind) for kind in kinds]
        if None not in digests:
            return [digest for digest in digests if digest is not None]
        raise MissingParts(
            [
                PreparationStep(
                    partial(_digest_kind, kind, with_parts),
                    partial(self._store_digest, kind),
                    len(kind.versions) > _FEW,
                )
                for kind, known in zip(kinds, digests, strict=True)
                if known is None
            ]
        )

    def _store_digest(self, kind: Kind, look: _KindDigest) -> None:
        self._digests[kind] = look.digests
        if look.length > _LONG:
            self._long_kinds.add(kind)
        for name, entries in look.parts.items():
            self._kind_parts[name][kind] = entries

    def _list_entries(self, form: KindForm, served: Iterable[tuple[Kind, Version]]) -> list[AreaEntries]:
        """Return the document parts of versions of custom kinds. Raises MissingParts."""
        cached = self._kind_parts[form.name]
        entries: list[AreaEntries] = []
        steps: list[PreparationStep] = []
        for kind, version in served:
            by_version = cached.get(kind)
            if by_version is None:
                by_version = cached[kind] = {}
            part = by_version.get(version.name)
            if part is not None:
                entries.append(part)
                continue
            make, keep = partial(parts.make_part, form, kind, version), partial(by_version.__setitem__, version.name)
            steps.append(PreparationStep(make, keep, kind in self._long_kinds))
        if steps:
            raise MissingParts(steps)
        return entries

    # documents

    def _find_v3(self, form: str, etag: str, make: _Custom | Callable[[], v3.Document]) -> bytes | DocumentBody:
        """Return a version 3 document. Raises MissingParts."""
        key = form, etag
        body = self._documents.pop(key, None)
        if body is None and callable(make):
            encode = v3pb.encode_document if form == V3_PROTOBUF else _encode_document
            raise MissingParts(
                [PreparationStep(lambda: encode(make()), partial(self._keep_document, key), is_long=True)]
            )
        if body is None:
            assert not callable(make)
            entries = self._list_entries(parts.V3_PROTOBUF if form == V3_PROTOBUF else parts.V3_JSON, make)
            body = documents.custom_document(form == V3_PROTOBUF, entries)
        self._keep_document(key, body)
        return body

    def _keep_document(self, key: tuple[str, str], body: bytes | DocumentBody) -> None:
        self._documents[key] = body
        if len(self._documents) > _KEPT:
            self._documents.popitem(last=False)

    def _join_v2(self, kinds: list[Kind], form: str, etag: str) -> DocumentBody:
        """Return the version 2 document. Raises MissingParts."""
        cached = self._swagger.get(form)
        if cached is not None and cached[0] == etag:
            return cached[1]
        of = parts.V2_PROTOBUF if form == V2_PROTOBUF else parts.V2_JSON
        builtin, custom = ([kind for kind in kinds if kind.custom is which] for which in (False, True))
        known = self._builtin.get(of.name)
        if known is None or known[0] != builtin:
            look, keep = partial(documents.add_builtin, of, builtin), partial(self._store_builtin, of.name, builtin)
            raise MissingParts([PreparationStep(look, keep, is_long=True)])
        served = ((kind, version) for kind in custom for version in kind.versions)
        make = partial(documents.swagger_document, of, self._release, known[1], self._list_entries(of, served))
        if len(custom) > _MANY:
            raise MissingParts([PreparationStep(make, partial(self._keep_whole, form, etag), is_long=True)])
        return self._keep_whole(form, etag, make())

    def _keep_whole(self, form: str, etag: str, body: DocumentBody) -> DocumentBody:
        self._swagger[form] = etag, body
        return body

    def _store_builtin(self, name: str, kinds: list[Kind], part: AreaEntries) -> None:
        self._builtin[name] = kinds, part


class _KindDigest(NamedTuple):
    """The result of reading a kind's definition once. length: in bytes. parts: by form and version."""

    digests: Mapping[str, bytes]
    length: int
    parts: Mapping[str, dict[str, AreaEntries]]


def _digest_kind(kind: Kind, with_parts: bool) -> _KindDigest:
    """Digest the versions of a kind. with_parts: also make the parts of a short definition for both documents.

    Reading a definition costs as much as converting it, and clients of version 2 also request version 3.
    """
    versions = read_schemas(kind.versions)
    encoded = {version.name: v3.encode_kind(kind, version) for version in versions}
    length = sum(map(len, encoded.values()))
    digests = {name: sha512(text).digest() for name, text in encoded.items()}
    if not with_parts or not kind.custom or length > _LONG:
        return _KindDigest(digests, length, {})
    entries = {
        form.name: {version.name: parts.make_part(form, kind, version) for version in versions}
        for form in (parts.V2_JSON, parts.V3_JSON)
    }
    return _KindDigest(digests, length, entries)


def _encode_document(document: v3.Document) -> bytes:
    return serializer.fit_bytes(serializer.encode_json(document))
