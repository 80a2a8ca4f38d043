"""Every built-in kind can be published in every form, however new it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from podless.apis import catalog
from podless.kinds.kind import Kind
from podless.publish.openapi import gnostic, v2, v3

# what version 2 does not know, or kubectl before 1.13 does not take
_NEVER = {"oneOf", "anyOf", "allOf", "not", "nullable"}


def schemas(value: Any) -> Iterator[Any]:
    """A schema and all schemas in it."""
    yield value
    for child in (value.get("properties") or {}).values():
        yield from schemas(child)
    for keyword in ("items", "additionalProperties"):
        if isinstance(value.get(keyword), dict):
            yield from schemas(value[keyword])


@pytest.mark.parametrize("kind", catalog.ALL, ids=lambda kind: kind.resource)
def test_version_2(kind: Kind) -> None:
    parts = v2.make_swagger_parts(kind)
    for name, definition in parts["definitions"].items():
        for schema in schemas(definition):
            assert not _NEVER & schema.keys(), name
    for name, path in parts["paths"].items():
        assert gnostic.encode_v2_path(name, path)
    for name, definition in parts["definitions"].items():
        assert gnostic.encode_definition(name, definition)


@pytest.mark.parametrize("kind", catalog.ALL, ids=lambda kind: kind.resource)
def test_version_3(kind: Kind) -> None:
    for version in kind.versions:
        assert gnostic.V3.encode("Document", v3.make_group_version_document(kind.group, version.name, [kind]))
