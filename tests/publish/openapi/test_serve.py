"""The documents over HTTP: hashes, forms, conditions."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from podless.codec import serializer
from podless.kinds.kind import Kind, Scale, Version
from podless.kinds.strategy import Strategy
from podless.publish.openapi import gnostic, serve, v3
from podless.publish.openapi.documents import DocumentBody
from podless.publish.openapi.serve import (
    JSON,
    V2_PROTOBUF,
    V3_FORMS,
    V3_PROTOBUF,
    DocumentReply,
    DocumentRequest,
    choose_media,
    complete_answer,
)
from tests.publish.openapi.whole import encode_swagger, swagger

NO_RULES: Strategy[Kind] = Strategy()
SCHEMA = {"type": "object", "properties": {"spec": {"type": "object"}}}
PATH = "apis/g.example.com/v1"


def kind(plural: str = "things", **more: Any) -> Kind:
    versions = more.pop("versions", (Version("v1", SCHEMA),))
    noun = plural[:-1].title()
    return Kind("g.example.com", plural, noun, noun.lower(), f"{noun}List", True, versions, "v1", NO_RULES, **more)


class Library:
    """A library that makes what is missing at once, and answers whole bodies."""

    def __init__(self, kinds: Callable[[], list[Kind]], **more: Any) -> None:
        self.library = serve.DocumentLibrary(kinds, **more)

    def answer_index(self, request: DocumentRequest = serve.UNCONDITIONAL) -> DocumentReply:
        return self.full(self.library.answer_index(request))

    def answer_document(self, request: DocumentRequest) -> DocumentReply:
        return self.full(self.library.answer_document(request))

    def answer_swagger(self, request: DocumentRequest) -> DocumentReply:
        return self.full(self.library.answer_swagger(request))

    def full(self, work: serve.Preparation[DocumentReply]) -> DocumentReply:
        reply = complete_answer(work)
        assert len(bytes(reply.body)) == (reply.body.size if isinstance(reply.body, DocumentBody) else len(reply.body))
        return replace(reply, body=bytes(reply.body))


@pytest.fixture
def kinds() -> list[Kind]:
    return [kind()]


@pytest.fixture
def library(kinds: list[Kind]) -> Library:
    return Library(lambda: kinds, now=lambda: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))


def etag(library: Library) -> str:
    return library.answer_document(DocumentRequest(PATH)).headers["Etag"].strip('"')


def test_index(library: Library) -> None:
    reply = library.answer_index()
    assert reply.headers["Content-Type"].startswith("text/plain")
    url = f"/openapi/v3/{PATH}?hash={etag(library)}"
    assert json.loads(bytes(reply.body))["paths"][PATH] == {"serverRelativeURL": url}


def test_plain(library: Library) -> None:
    reply = library.answer_document(DocumentRequest(PATH))
    assert (reply.status, reply.headers["Content-Type"], reply.headers["Vary"]) == (200, JSON, "Accept")
    assert "Cache-Control" not in reply.headers
    assert json.loads(bytes(reply.body))["info"]["title"] == "Kubernetes CRD Swagger"


def test_with_its_hash(library: Library) -> None:
    reply = library.answer_document(DocumentRequest(PATH, hash=etag(library)))
    assert reply.status == 200
    assert reply.headers["Cache-Control"] == "public, immutable"
    assert reply.headers["Expires"] == "Sat, 02 Jan 2027 03:04:05 UTC"


def test_with_an_old_hash(library: Library) -> None:
    reply = library.answer_document(DocumentRequest(PATH, hash="0000"))
    assert (reply.status, reply.headers["Content-Type"], reply.body) == (301, JSON, b"")
    assert reply.headers["Location"] == f"/openapi/v3/{PATH}?hash={etag(library)}"


@pytest.mark.parametrize(("given", "status"), [("*", 304), ('W/"{}"', 304), ('"x", "{}"', 304), ('"x"', 200)])
def test_conditions(library: Library, given: str, status: int) -> None:
    reply = library.answer_document(DocumentRequest(PATH, if_none_match=given.replace("{}", etag(library))))
    assert reply.status == status
    assert ("Content-Type" in reply.headers) == bool(reply.body) == (status == 200)
    assert reply.headers["Etag"] == f'"{etag(library)}"'


@pytest.mark.parametrize(("given", "status"), [("*", 200), ('W/"{}"', 412), ('"x", "{}"', 200), ('"x"', 412)])
def test_a_condition_for_the_document_itself_matches_strongly(library: Library, given: str, status: int) -> None:
    reply = library.answer_document(DocumentRequest(PATH, if_match=given.replace("{}", etag(library))))
    assert (reply.status, bool(reply.body)) == (status, status == 200)


def test_the_index_has_no_etag_but_exists(library: Library) -> None:
    assert library.answer_index(DocumentRequest(if_none_match="*")).status == 304
    assert library.answer_index(DocumentRequest(if_match='"x"')).status == 412
    assert library.answer_index(DocumentRequest(if_match="*", if_none_match='"x"')).status == 200


@pytest.mark.parametrize("path", ["apis/g.example.com/v9", "apis/g.example.com", "apis/other/v1", "api/v1", "x", ""])
def test_not_found(library: Library, path: str) -> None:
    reply = library.answer_document(DocumentRequest(path, accept="application/yaml"))
    assert (reply.status, reply.headers, reply.body) == (404, {}, b"")


def test_a_header_without_a_valid_clause_gets_nothing(library: Library) -> None:
    reply = library.answer_document(DocumentRequest(PATH, accept="application/, x;q"))
    assert (reply.status, reply.headers, reply.body) == (200, {}, b"")


def test_not_acceptable(library: Library) -> None:
    reply = library.answer_document(DocumentRequest(PATH, accept="application/yaml"))
    assert (reply.status, "Content-Type" in reply.headers, reply.body) == (406, False, b"")
    assert library.answer_swagger(DocumentRequest(accept="text/html")).status == 406


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("", JSON),
        ("*/*", JSON),
        ("application/*", JSON),
        ("application/yaml;q=0.9, application/json;q=0.1", JSON),
        ("application/unknown+protobuf,application/json", JSON),
        ("text/*", None),
        (V3_PROTOBUF, V3_PROTOBUF),
        ("application/com.github.proto-openapi.spec.v3@v1.0+protobuf", V3_PROTOBUF),
    ],
)
def test_accepted(accept: str, form: str | None) -> None:
    assert choose_media(accept, V3_FORMS) == form


def test_protobuf(library: Library) -> None:
    reply = library.answer_document(DocumentRequest(PATH, accept=V3_PROTOBUF))
    assert reply.headers["Content-Type"] == V3_PROTOBUF
    assert reply.headers["Etag"].strip('"') == etag(library)
    assert bytes(reply.body).startswith(b"\x0a\x053.0.0\x12\x20\x0a\x16Kubernetes CRD Swagger2\x06v0.1.0")


@pytest.mark.parametrize(
    ("given", "want"),
    [
        ({"type": "string", "maxLength": 300}, b"\xca\x01\x06string\x78\xac\x02"),
        ({"minimum": 0, "maximum": 1}, b"\x59\0\0\0\0\0\0\xf0\x3f"),
        ({"default": False}, b"\x8a\x02\x02\x10\0"),
        ({"default": {}}, b"\x8a\x02\x00"),
        ({"additionalProperties": True}, b"\x82\x02\x02\x10\x01"),
        ({"items": {"$ref": "#/a"}}, b"\xf2\x01\x09\x0a\x07\x12\x05\x0a\x03#/a"),
        ({"properties": {"a": {}}}, b"\xfa\x01\x09\x0a\x07\x0a\x01a\x12\x02\x0a\x00"),
        ({"x-k": True}, b"\xa2\x02\x0e\x0a\x03x-k\x12\x07\x12\x05true\n"),
    ],
)
def test_protobuf_schema(given: dict[str, Any], want: bytes) -> None:
    assert gnostic.V3.encode("Schema", given) == want


@pytest.mark.parametrize(
    ("message", "given", "want"),
    [
        ("Schema", {"type": "string"}, b"\xb2\x01\x08\x0a\x06string"),
        ("Schema", {"$ref": "#/a", "description": "b"}, b"\x0a\x03#/a\x22\x01b"),
        ("Schema", {"x-k": 1}, b"\xfa\x01\x0b\x0a\x03x-k\x12\x04\x12\x021\n"),
        ("PathItem", {"parameters": [{"$ref": "#/a"}]}, b"\x4a\x07\x12\x05\x0a\x03#/a"),
        (
            "PathItem",
            {"parameters": [{"in": "path", "name": "n"}]},
            b"\x4a\x0f\x0a\x0d\x12\x0b\x22\x09\x12\x04path\x22\x01n",
        ),
        ("Responses", {"401": {"description": "x"}}, b"\x0a\x0c\x0a\x03401\x12\x05\x0a\x03\x0a\x01x"),
    ],
)
def test_protobuf_of_version_2(message: str, given: dict[str, Any], want: bytes) -> None:
    assert gnostic.V2.encode(message, given) == want


def test_the_index_is_made_once_a_generation(kinds: list[Kind]) -> None:
    generation = [1]
    library = Library(lambda: kinds, generation=lambda: generation[0])
    first = library.answer_index().body
    kinds.append(kind("others", versions=(Version("v2"),)))
    assert library.answer_index().body == first
    generation[0] = 2
    assert b"v2" in library.answer_index().body


def test_swagger_in_protobuf(kinds: list[Kind], library: Library) -> None:
    reply = library.answer_swagger(DocumentRequest(accept="application/com.github.proto-openapi.spec.v2@v1.0+protobuf"))
    assert reply.headers["Content-Type"] == V2_PROTOBUF
    assert bytes(reply.body).startswith(b"\x0a\x032.0\x12")
    assert b"com.example.g.v1.Thing" in reply.body


def test_a_change_changes_the_hash(kinds: list[Kind], library: Library) -> None:
    seen = {etag(library)}
    kinds[0] = kind(versions=(Version("v1", SCHEMA | {"description": "new"}),))
    seen.add(etag(library))
    kinds[0] = kind(versions=(Version("v1", SCHEMA, status=True),))
    seen.add(etag(library))
    kinds.append(kind("others"))
    seen.add(etag(library))
    assert len(seen) == 4


def test_the_same_definition_has_the_same_hash() -> None:
    other = json.loads(json.dumps(SCHEMA))
    one, two = kind(uid="1"), kind(uid="2", versions=(Version("v1", other),), terminating=True, verbs=("get",))
    assert v3.encode_kind(one, one.versions[0]) == v3.encode_kind(two, two.versions[0])


def test_versions_that_are_not_served_are_not_shown() -> None:
    one = kind()
    one = replace(one, unserved=(replace(one.versions[0], name="v2"),))
    assert v3.make_group_version_document("g.example.com", "v2", [one])["paths"] == {}
    assert Library(lambda: [one]).answer_document(DocumentRequest("apis/g.example.com/v2")).status == 404


def test_numbers_past_64_bits(kinds: list[Kind], library: Library) -> None:
    wide = {"type": "number", "maximum": 1e20, "default": 1e20, "minimum": 9223372036854775807}
    kinds[0] = kind(versions=(Version("v1", {"type": "object", "properties": {"spec": wide}}),))
    text = library.answer_document(DocumentRequest(PATH)).body
    assert b'"default":100000000000000000000,"maximum":100000000000000000000,"minimum":9223372036854776000' in text
    assert library.answer_swagger(DocumentRequest()).status == 200
    assert library.answer_document(DocumentRequest(PATH, accept=V3_PROTOBUF)).status == 200


def test_swagger_is_put_together_once(kinds: list[Kind]) -> None:
    library = serve.DocumentLibrary(lambda: kinds)
    first = complete_answer(library.answer_swagger(DocumentRequest()))
    assert first.status == 200
    assert complete_answer(library.answer_swagger(DocumentRequest())).body is first.body
    unchanged = DocumentRequest(if_none_match=first.headers["Etag"])
    assert complete_answer(library.answer_swagger(unchanged)).status == 304
    kinds.append(kind("others"))
    assert b"/others" in bytes(complete_answer(library.answer_swagger(DocumentRequest())).body)


def test_only_what_has_changed_is_made_again(kinds: list[Kind]) -> None:
    kinds += [kind("others"), kind("more")]
    library = serve.DocumentLibrary(lambda: kinds)

    def make(answer: serve.Preparation[DocumentReply]) -> list[str]:
        seen: list[str] = []
        made = None
        while True:
            try:
                step = answer.send(made)
            except StopIteration:
                return seen
            seen.append(str(step.make))
            made = step.make()

    asks = library.answer_swagger, library.answer_document
    for ask in asks:
        make(ask(DocumentRequest(PATH)))
        assert not make(ask(DocumentRequest(PATH)))
    kinds[1] = kind("others", generation=2)
    for ask in asks:
        made = make(ask(DocumentRequest(PATH)))
        assert all("'others'" in step or "hash_document" in step for step in made), made


KINDS = [
    kind(),
    replace(kind("names"), namespaced=False),
    kind("zebras", versions=(Version("v1", SCHEMA, status=True), Version("v1beta1", status=True))),
    kind("apples", versions=(Version("v1", SCHEMA, scale=Scale(".a", ".b")),)),
    kind("selects", versions=(Version("v1", SCHEMA, selectable=(".spec.a",)),)),
    kind("odds", versions=(Version("v1", SCHEMA, status=True, scale=Scale(".a", ".b")),)),
    replace(kind("dashes"), kind="lower-case", list_kind="lower-caseList", namespaced=False),
    replace(kind("digits"), kind="Zzkind", list_kind="ZzkindZzmany", group="0g.k8s.io"),
]


@pytest.mark.parametrize("group", ["g.example.com", "0g.k8s.io"])
def test_documents_are_what_they_are_as_a_whole(group: str) -> None:
    library = Library(lambda: KINDS)
    for version in ("v1", "v1beta1") if group == "g.example.com" else ("v1",):
        chosen = [kind for kind in KINDS if any(entry.name == version for entry in kind.versions)]
        whole = v3.make_group_version_document(group, version, chosen)
        path = f"apis/{group}/{version}"
        assert library.answer_document(DocumentRequest(path)).body == serializer.encode_json(whole)
        assert library.answer_document(DocumentRequest(path, accept=V3_PROTOBUF)).body == gnostic.V3.encode(
            "Document", whole
        )


def test_version_2_is_what_it_is_as_a_whole() -> None:
    library = Library(lambda: KINDS)
    whole = swagger(KINDS)
    assert library.answer_swagger(DocumentRequest()).body == serializer.encode_json(whole)
    assert library.answer_swagger(DocumentRequest(accept=V2_PROTOBUF)).body == encode_swagger(whole)
