"""JSON schemas say of objects what the definitions say, as far as JSON schemas can."""

from __future__ import annotations

from typing import Any

from podless.check.editors import convert_node, make_editor_schemas
from tests.apis.test_offline import definition


def test_a_kind_and_its_version() -> None:
    [made] = make_editor_schemas(definition())
    assert made.file == "example.com/gadget_v1.json"
    assert made.schema["properties"]["kind"] == {"type": "string", "enum": ["Gadget"]}
    assert made.schema["required"] == ["apiVersion", "kind"]
    assert made.schema["properties"]["spec"]["additionalProperties"] is False


def test_what_openapi_says_otherwise() -> None:
    cases: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"type": "string", "nullable": True, "enum": ["a"]}, {"type": ["string", "null"], "enum": ["a", None]}),
        ({"x-kubernetes-int-or-string": True}, {"type": ["integer", "string"]}),
        ({"type": "integer", "minimum": 1, "exclusiveMinimum": True}, {"type": "integer", "exclusiveMinimum": 1}),
        ({"type": "object", "x-kubernetes-preserve-unknown-fields": True}, {"type": "object"}),
        ({"type": "object", "additionalProperties": True}, {"type": "object"}),
        ({"type": "object"}, {"type": "object", "additionalProperties": False}),
        ({"not": {"required": ["a"]}}, {"not": {"required": ["a"]}}),
    ]
    for given, wanted in cases:
        assert convert_node(given) == wanted
