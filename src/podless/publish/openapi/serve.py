"""The documents over HTTP: which document, which form, whether the client has it already.

`Library` keeps what was built for as long as the kinds live: digests and the parts of the version 2 document by kind,
and the bytes of the version 3 documents that were asked for last. It does no I/O; one server has one of it.
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

import orjson

from podless.kinds.kind import Kind, Version
from podless.meta import clock, codec
from podless.meta.accept import clauses
from podless.meta.gvk import GroupVersion
from podless.publish.openapi import pages, v2, v2pb, v3, v3pb
from podless.publish.openapi.routes import Operation

JSON = "application/json"
V2_PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
V3_PROTOBUF = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
# what a client may ask for -> the type of the answer; the first one is for clients that take anything
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
_KEPT = 32
Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: status, headers in their order, body."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Request:
    """What counts of a request; any method is answered like GET (the HTTP layer leaves out the body for HEAD).

    group_version: what stands after /openapi/v3/, of a page too. hash: the query parameter, "" without it.
    """

    group_version: str = ""
    hash: str = ""
    accept: str = ""
    if_none_match: str = ""
    method: str = "GET"


def group_version(path: str) -> GroupVersion | None:
    """The group-version behind /openapi/v3/: of api/v1 and apis/group/version; None for all else."""
    match path.split("/"):
        case ["api", version] if version:
            return GroupVersion("", version)
        case ["apis", group, version] if group and version:
            return GroupVersion(group, version)
    return None


def accepted(accept: str, forms: dict[str, str]) -> str | None:
    """The first of the forms, as they are named to clients, that an Accept header takes; None where it takes none."""
    for _, main, sub, _ in clauses(accept or "*/*"):
        for name, form in forms.items():
            offered = name.split("/")
            if main in (offered[0], "*") and sub in (offered[1], "*"):
                return form
    return None


def unchanged(if_none_match: str, etag: str) -> bool:
    """Whether an If-None-Match header names the ETag (weakly) or is *."""
    tags = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return "*" in tags or f'"{etag}"' in tags


def _conditional(request: Request, headers: dict[str, str], etag: str, body: Callable[[], bytes]) -> Reply:
    if request.if_none_match and unchanged(request.if_none_match, etag):
        if request.method not in ("GET", "HEAD"):
            return Reply(412, headers)
        return Reply(304, {name: value for name, value in headers.items() if name != "Content-Type"})
    return Reply(200, headers, body())


class Library:
    """Answers requests for documents of the kinds that are served now."""

    def __init__(
        self,
        kinds: Callable[[], Iterable[Kind]],
        release: str = "v1.36",
        now: Callable[[], datetime] = clock.moment,
        generation: Callable[[], object] = object,
    ) -> None:
        """kinds: gives those served now; a definition that changes must give another Kind. release: our version.

        generation: gives the same as before where the kinds are the same, so that the index is made once.
        """
        self._kinds = kinds
        self._release = ".".join(release.removeprefix("v").split(".")[:2])  # documents name no patch
        self._now = now
        self._generation = generation
        self._index: tuple[object, bytes] = (None, b"")
        self._digests: WeakKeyDictionary[Kind, dict[str, bytes]] = WeakKeyDictionary()
        # parts of the version 2 document, encoded: a tenth of the memory of a tree, and a join is cheap
        self._json: _Parts[v2.Document] = _Parts(_frozen)
        self._protobuf: _Parts[v2pb.Part] = _Parts(lambda *kinds: v2pb.part(v2.parts(*kinds)))
        self._documents: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        self._whole: dict[str, tuple[str, bytes]] = {}
        # the kinds, and the ETag, that a document was last asked for with: by its path and form
        self._asked: OrderedDict[tuple[str, str], tuple[object, str]] = OrderedDict()

    def copy(self) -> Library:
        """Another library that knows the same: for a thread that adds to it, to be taken whole in place of this one."""
        made = copy.copy(self)
        made._digests = WeakKeyDictionary({kind: dict(digests) for kind, digests in self._digests.items()})
        made._json, made._protobuf = self._json.copy(), self._protobuf.copy()
        made._documents, made._whole, made._asked = self._documents.copy(), dict(self._whole), self._asked.copy()
        return made

    def answer(self, document: str, request: Request) -> Reply:
        """document: v2 or v3."""
        if document == "v2":
            return self.swagger(request)
        return self.document(request) if request.group_version else self.index()

    def ready(self, document: str, request: Request) -> bool:
        """Whether an answer is there, or soon made."""
        if document == "v3" and not request.group_version:
            return self._index[0] == self._generation()
        form = accepted(request.accept, V2_FORMS if document == "v2" else V3_FORMS)
        if form is None:
            return True
        generation, etag = self._asked.get((request.group_version, form), (None, ""))
        if generation is None or generation != self._generation():
            return False
        if request.if_none_match and unchanged(request.if_none_match, etag):
            return True
        return (form, etag) in self._documents if document == "v3" else self._whole[form][0] == etag

    def _note(self, where: str, form: str, generation: object, etag: str) -> None:
        self._asked.pop((where, form), None)
        self._asked[where, form] = generation, etag
        if len(self._asked) > _KEPT:
            self._asked.popitem(last=False)

    def index(self) -> Reply:
        """/openapi/v3. A real server sends it without a type, which makes it text."""
        generation = self._generation()
        if self._index[0] != generation:
            self._index = generation, self._indexed()
        return Reply(200, {"Content-Type": "text/plain; charset=utf-8"}, self._index[1])

    def _indexed(self) -> bytes:
        found: dict[str, list[bytes]] = {}
        for kind in self._kinds():
            for version in kind.versions:
                name = v3.path(GroupVersion(kind.group, version.name))
                found.setdefault(name, []).append(self._digest(kind, version))
        tags = {name: v3.page_etag(name) for name in self._pages()}
        return codec.encode(v3.index(tags | {name: v3.etag(digests) for name, digests in found.items()}))

    def _pages(self) -> dict[str, Operation]:
        return pages.pages({kind.group for kind in self._kinds() if not kind.custom})

    def document(self, request: Request) -> Reply:
        """/openapi/v3/…: one group-version or page; 404 where none is served, 301 where the hash is an old one."""
        generation = self._generation()
        found = self._found(request.group_version)
        if found is None:
            return Reply(404)
        etag, make = found
        form = accepted(request.accept, V3_FORMS)
        if form is None:
            return Reply(406, {"Vary": "Accept"})
        headers = {"Vary": "Accept", "Content-Type": form, "Etag": f'"{etag}"'}
        if request.hash and request.hash != etag:
            return Reply(301, headers | {"Location": v3.url(request.group_version, etag)})
        if request.hash:
            expires = (self._now() + _YEAR).strftime("%a, %d %b %Y %H:%M:%S UTC")
            headers |= {"Cache-Control": "public, immutable", "Expires": expires}
        self._note(request.group_version, form, generation, etag)
        return _conditional(request, headers, etag, lambda: self._document(form, etag, make))

    def _found(self, name: str) -> tuple[str, Callable[[], v3.Document]] | None:
        """The hash of a document, and what makes it; None where nothing is served under its name."""
        where = group_version(name)
        if where is None:
            page = self._pages().get(name)
            return (v3.page_etag(name), partial(v3.page, page, self._release)) if page is not None else None
        served = [
            (kind, version)
            for kind in self._kinds()
            if kind.group == where.group
            for version in kind.versions
            if version.name == where.version
        ]
        kinds = [kind for kind, _ in served]
        etag = v3.etag(self._digest(kind, version) for kind, version in served)
        return (etag, partial(v3.document, where.group, where.version, kinds, self._release)) if served else None

    def swagger(self, request: Request) -> Reply:
        """/openapi/v2: all kinds in one document."""
        form = accepted(request.accept, V2_FORMS)
        if form is None:
            return Reply(406, {"Vary": "Accept"})
        generation, kinds = self._generation(), list(self._kinds())
        etag = v3.etag(self._digest(kind, version) for kind in kinds for version in kind.versions)
        headers = {"Vary": "Accept", "Content-Type": form, "Etag": f'"{etag}"'}
        reply = _conditional(request, headers, etag, lambda: self._joined(kinds, form, etag))
        if self._whole.get(form, ("",))[0] == etag:
            self._note("", form, generation, etag)
        return reply

    def _digest(self, kind: Kind, version: Version) -> bytes:
        kept = self._digests.setdefault(kind, {})
        if version.name not in kept:
            kept[version.name] = v3.digest(kind, version)
        return kept[version.name]

    def _document(self, form: str, etag: str, make: Callable[[], v3.Document]) -> bytes:
        body = self._documents.pop((form, etag), b"")
        if not body:
            document = make()
            body = v3pb.document(document) if form == V3_PROTOBUF else codec.fitted(codec.encode(document))
        self._documents[form, etag] = body
        if len(self._documents) > _KEPT:
            self._documents.popitem(last=False)
        return body

    def _joined(self, kinds: list[Kind], form: str, etag: str) -> bytes:
        kept, body = self._whole.get(form, ("", b""))
        if kept == etag:
            return body
        if form == V2_PROTOBUF:
            body = v2pb.join(self._protobuf.of(kinds), self._release)
        else:
            # its numbers are in the parts, as Go has them
            body = orjson.dumps(v2.join(self._json.of(kinds), self._release))
        self._whole[form] = etag, body
        return body


class _Parts(Generic[Part]):
    """Parts of the version 2 document: one of all built-in kinds, which have much in common, and one a custom kind."""

    def __init__(self, make: Callable[..., Part]) -> None:
        self._make = make
        self._builtin: tuple[list[Kind], Part] | None = None
        self._custom: WeakKeyDictionary[Kind, Part] = WeakKeyDictionary()

    def copy(self) -> _Parts[Part]:
        """Another one that knows the same."""
        made = copy.copy(self)
        made._custom = self._custom.copy()
        return made

    def of(self, kinds: Iterable[Kind]) -> Iterator[Part]:
        """The parts of these kinds, each made once for as long as its kinds live."""
        builtin: list[Kind] = []
        custom: list[Kind] = []
        for kind in kinds:
            (custom if kind.custom else builtin).append(kind)
        if self._builtin is None or self._builtin[0] != builtin:
            self._builtin = builtin, self._make(*builtin)
        yield self._builtin[1]
        for kind in custom:
            found = self._custom.get(kind)
            if found is None:
                found = self._custom[kind] = self._make(kind)
            yield found


def _frozen(*kinds: Kind) -> v2.Document:
    return {
        area: {name: orjson.Fragment(codec.fitted(codec.encode(value))) for name, value in values.items()}
        for area, values in v2.parts(*kinds).items()
    }
