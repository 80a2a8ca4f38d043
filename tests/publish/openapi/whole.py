"""Whole documents of version 2, joined in one go: what a library assembles from parts has to equal them."""

from __future__ import annotations

from collections.abc import Iterable

from podless.apis.release import RECORDED_FACTS
from podless.kinds.kind import Kind
from podless.publish.openapi import gnostic, v2
from podless.publish.openapi.gnostic import write_block


def swagger(kinds: Iterable[Kind]) -> v2.Document:
    """The document of these kinds."""
    found = v2.make_standard_definitions(), v2.make_swagger_parts(*kinds)
    paths, definitions = (
        {name: value for one in found for name, value in one[area].items()} for area in ("paths", "definitions")
    )
    areas = {"paths": dict(sorted(paths.items())), "definitions": dict(sorted(definitions.items()))}
    return {**v2.make_swagger_head(RECORDED_FACTS.name), **areas, **v2.make_swagger_tail()}


def encode_swagger(document: v2.Document) -> bytes:
    """A document in protobuf."""
    paths = b"".join(gnostic.encode_v2_path(*item) for item in document["paths"].items())
    definitions = b"".join(gnostic.encode_definition(*item) for item in document["definitions"].items())
    rest = {**v2.make_swagger_head(document["info"]["version"]), **v2.make_swagger_tail()}
    return b"".join(
        [
            gnostic.V2.encode("Document", rest),
            write_block(gnostic.V2_PATHS, paths),
            write_block(gnostic.DEFINITIONS, definitions),
        ]
    )
