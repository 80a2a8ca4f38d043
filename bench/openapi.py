"""What the OpenAPI documents cost: time and memory of building them. python -m bench openapi"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from hashlib import sha512
from typing import Any

import orjson

from bench.record.figure import Figure
from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import Strategy
from podless.publish.openapi import gnostic, v2, v3
from podless.publish.openapi.serve import DocumentLibrary, DocumentReply, DocumentRequest, complete_answer

NO_RULES: Strategy[Kind] = Strategy()
FIELDS = 72


def schema() -> dict[str, Any]:
    """A schema of 72 properties, in a spec of six parts with eleven fields each."""
    leaf = {"type": "string", "description": "What this field is for, in one plain sentence.", "maxLength": 63}
    part = {"type": "object", "properties": {f"field{n}": dict(leaf) for n in range(11)}}
    spec = {"type": "object", "properties": {f"part{n}": orjson.loads(orjson.dumps(part)) for n in range(6)}}
    return {"type": "object", "properties": {"spec": spec}}


def kinds(count: int) -> list[Kind]:
    return [
        Kind(
            group=f"g{n}.example.com",
            plural="things",
            kind="Thing",
            singular="thing",
            list_kind="ThingList",
            namespaced=True,
            versions=(Version("v1", schema(), status=True),),
            storage_version="v1",
            strategy=NO_RULES,
        )
        for n in range(count)
    ]


class Timing:
    """Runs things, and keeps what they took."""

    def __init__(self) -> None:
        self.figures: list[Figure] = []

    def __call__(self, name: str, run: Callable[[], Any], repeat: int = 1) -> Any:
        result = run()
        start = time.perf_counter()
        for _ in range(repeat):
            result = run()
        spent = (time.perf_counter() - start) / repeat
        tracemalloc.start()
        kept = run()
        now, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        del kept
        print(f"{name:48} {spent * 1000:9.3f} ms   kept {now / 1024:9.0f} KiB   peak {peak / 1024:9.0f} KiB")
        self.figures += [Figure(name, spent * 1000, "ms"), Figure(f"{name}, kept", now / 1024, "KiB")]
        return result


def _swagger(found: list[Kind], request: DocumentRequest) -> DocumentReply:
    library = DocumentLibrary(lambda: found)
    return complete_answer(library.answer_swagger(request))


def main(smoke: bool = False) -> list[Figure]:
    timed, repeat = Timing(), 2 if smoke else 100
    one, some, many = kinds(1), kinds(10 if smoke else 200), kinds(20 if smoke else 1000)
    few, all_ = f"{len(some)} CRDs", f"{len(many)} CRDs"
    document = timed("v3 document, 1 CRD", lambda: v3.make_group_version_document("g0.example.com", "v1", one), repeat)
    body = timed("v3 document as JSON", lambda: orjson.dumps(document), repeat)
    print(f"{'':48} {len(body) / 1024:9.0f} KiB")
    timed("v3 document as protobuf", lambda: gnostic.V3.encode("Document", document), repeat)
    timed("v3 digest, 1 CRD", lambda: sha512(v3.encode_kind(one[0], one[0].versions[0])).digest(), repeat)
    timed(f"v3 index, {all_}, nothing kept", lambda: complete_answer(DocumentLibrary(lambda: many).answer_index()))
    library = DocumentLibrary(lambda: many)
    timed(f"v3 index, {all_}, digests kept", lambda: complete_answer(library.answer_index()))
    timed("v2 parts, 1 CRD", lambda: v2.make_swagger_parts(one[0]), repeat)
    timed(f"v2 parts, {few}", lambda: v2.make_swagger_parts(*some))
    binary = DocumentRequest(accept="application/com.github.proto-openapi.spec.v2@v1.0+protobuf")
    timed(f"v2 in protobuf, {few}, nothing kept", lambda: _swagger(some, binary))
    reply = timed(f"v2 of a library, {few}, nothing kept", lambda: _swagger(some, DocumentRequest()))
    print(f"{'':48} {len(bytes(reply.body)) / 1024:9.0f} KiB")
    live = list(some)
    shared = DocumentLibrary(lambda: live)
    complete_answer(shared.answer_swagger(DocumentRequest()))

    def change() -> Any:
        live[0] = kinds(1)[0]
        return complete_answer(shared.answer_swagger(DocumentRequest()))

    timed(f"v2 of a library, {few}, as before", change)
    return timed.figures
