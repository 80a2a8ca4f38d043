"""Objects that are made of a schema."""

from __future__ import annotations

from typing import Any

import pytest

from podless.runtime.jsonobject import Object
from podless.schema import Schema
from podless.schema.examples import make_examples

HEAD: Object = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}}


def specs(spec: Object, count: int = 8) -> list[Any]:
    schema = Schema.compile({"type": "object", "properties": {"spec": spec}, "required": ["spec"]})
    found = list(make_examples(schema, HEAD, count))
    assert found == list(make_examples(schema, HEAD, count))
    for one in found:
        assert one.items() >= HEAD.items()
        assert schema.validate(one) == []
    return [one["spec"] for one in found]


def test_the_first_has_what_is_required_and_the_second_all() -> None:
    given = {"a": {"type": "integer"}, "b": {"type": "integer"}}
    first, second, *_ = specs({"type": "object", "required": ["a"], "properties": given})
    assert first.keys() == {"a"}
    assert second.keys() == {"a", "b"}


@pytest.mark.parametrize(
    "spec",
    [
        {"type": "integer", "minimum": 7, "maximum": 9},
        {"type": "number", "maximum": -3},
        {"type": "string", "minLength": 20, "maxLength": 21},
        {"type": "string", "pattern": "^[0-9]+$"},
        {"type": "string", "format": "date-time"},
        {"type": "array", "minItems": 2, "maxItems": 3, "items": {"type": "boolean"}},
        {"type": "object", "minProperties": 2, "additionalProperties": {"type": "string"}},
        {"type": "string", "enum": ["on", "off"]},
        {"x-kubernetes-int-or-string": True},
        {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    ],
)
def test_values_obey_their_schema(spec: Object) -> None:
    assert specs(spec)


def test_there_are_none_where_nothing_is_allowed() -> None:
    assert specs({"type": "integer", "enum": ["text"]}) == []


def test_an_object_of_a_large_schema_has_few_parts() -> None:
    node: Object = {"type": "string"}
    for _ in range(5):
        node = {"type": "object", "properties": dict.fromkeys("abcd", node)}
    assert [len(str(one)) < 20_000 for one in specs(node, 3)] == [True, True, True]
