"""The errors of single keywords: types, reasons, fields and texts of a real server."""

from __future__ import annotations

from typing import Any

import pytest

from podless.schema import Schema


def errors(part: dict[str, Any], value: Any) -> list[str]:
    schema = Schema.compile({"type": "object", "properties": {"a": part}})
    return [str(error) for error in schema.validate({"a": value})]


CASES: list[tuple[dict[str, Any], Any, list[str]]] = [
    ({"type": "string"}, 1, ['a: Invalid value: "integer": a in body must be of type string: "integer"']),
    ({"type": "integer"}, True, ['a: Invalid value: "boolean": a in body must be of type integer: "boolean"']),
    ({"type": "string"}, None, ['a: Invalid value: "null": a in body must be of type string: "null"']),
    ({"type": "string", "nullable": True}, None, []),
    (
        {"type": "string", "nullable": True, "enum": ["x"]},
        None,
        ['a: Unsupported value: null: supported values: "x"'],
    ),
    (
        {"x-kubernetes-int-or-string": True},
        1.5,
        ['a: Invalid value: "number": a in body must be of type integer,string: "number"'],
    ),
    (
        {"type": "integer"},
        1.5,
        [
            'a: Invalid value: "number": a in body must be of type integer: "number"',
            '<nil>: Invalid value: "": Checked value must be of type integer (default format) in a',
        ],
    ),
    (
        {"type": "integer"},
        2**63,
        [
            'a: Invalid value: "number": a in body must be of type integer: "number"',
            '<nil>: Invalid value: "": Checked value must be of type integer (default format) in a',
        ],
    ),
    ({"type": "integer"}, -(2**63), []),
    ({"type": "number"}, 2**64 - 1, []),
    (
        {"type": "integer", "format": "int32"},
        2**31,
        ['<nil>: Invalid value: "": Checked value must be of type integer with format int32 in a'],
    ),
    (
        {"type": "integer", "format": "int32"},
        True,
        ['a: Invalid value: "": a in body must be of type int32: ""'],
    ),
    (
        {"type": "string", "format": "date"},
        5,
        ['a: Invalid value: "int64": a in body must be of type date: "int64"'],
    ),
    ({"type": "string", "format": "date"}, "x", ['a: Invalid value: "x": a in body must be of type date: "x"']),
    # a format stands for the type: a list passes where a date is asked for
    ({"type": "string", "format": "date"}, [], []),
    ({"type": "string", "maxLength": 2}, "😀😀😀", ["a: Too long: may not be more than 2 bytes"]),
    ({"type": "string", "maxLength": 1}, "ab", ["a: Too long: may not be more than 1 byte"]),
    ({"type": "string", "maxLength": 2}, "😀é", []),
    (
        {"type": "string", "minLength": 3, "pattern": "^x"},
        "é",
        ['a: Invalid value: "é": a in body should be at least 3 chars long'],
    ),
    ({"type": "string", "pattern": "^x$"}, "y", ["a: Invalid value: \"y\": a in body should match '^x$'"]),
    ({"type": "string", "pattern": "b"}, "abc", []),
    ({"type": "integer", "minimum": 2}, 1, ["a: Invalid value: 1: a in body should be greater than or equal to 2"]),
    (
        {"type": "integer", "maximum": 2, "exclusiveMaximum": True},
        2,
        ["a: Invalid value: 2: a in body should be less than 2"],
    ),
    # the bound loses its fraction where the value is an integer
    ({"type": "number", "maximum": 0.5}, 1, ["a: Invalid value: 1: a in body should be less than or equal to 0"]),
    ({"type": "number", "minimum": 1.5}, 1, []),
    ({"type": "number", "multipleOf": 0.1}, 0.3, []),
    (
        {"type": "number", "multipleOf": 0.5},
        1,
        ["a: Invalid value: 0: factor MultipleOf declared for a must be positive: 0"],
    ),
    ({"type": "integer", "multipleOf": 5}, 7, ["a: Invalid value: 7: a in body should be a multiple of 5"]),
    (
        {"type": "array", "items": {"type": "string"}, "maxItems": 1},
        ["a", "b"],
        ["a: Too many: 2: must have at most 1 item"],
    ),
    (
        {"type": "array", "items": {"type": "string"}, "minItems": 1},
        [],
        ["a: Invalid value: 0: a in body should have at least 1 items"],
    ),
    (
        {"type": "object", "minProperties": 1},
        {},
        ["a: Invalid value: 0: a in body should have at least 1 properties"],
    ),
    (
        {"type": "object", "additionalProperties": False},
        {"b": 1},
        ['a: Invalid value: "b": a.b in body is a forbidden property'],
    ),
    ({"type": "object", "required": ["b"]}, {}, ["a.b: Required value"]),
    ({"type": "string", "enum": ["x", "y"]}, "z", ['a: Unsupported value: "z": supported values: "x", "y"']),
    ({"type": "integer", "enum": [1, 2]}, 3, ['a: Unsupported value: 3: supported values: "1", "2"']),
    (
        {"type": "integer", "not": {"enum": [1]}},
        1,
        ['<nil>: Invalid value: "": "a" must not validate the schema (not)'],
    ),
    (
        {"type": "string", "allOf": [{"minLength": 2}, {"pattern": "^x"}]},
        "y",
        [
            'a: Invalid value: "y": a in body should be at least 2 chars long',
            "a: Invalid value: \"y\": a in body should match '^x'",
            '<nil>: Invalid value: "": "a" must validate all the schemas (allOf). None validated',
        ],
    ),
    (
        {"type": "string", "anyOf": [{"minLength": 2}, {"pattern": "^x"}]},
        "y",
        [
            '<nil>: Invalid value: "": "a" must validate at least one schema (anyOf)',
            'a: Invalid value: "y": a in body should be at least 2 chars long',
        ],
    ),
    (
        {"type": "string", "oneOf": [{"minLength": 1}, {"pattern": "^y"}]},
        "y",
        ['<nil>: Invalid value: "": "a" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
    ),
    (
        {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "number"}},
        [1, 1.5, 1, 1, 1.5],
        ["a[2]: Duplicate value: 1", "a[4]: Duplicate value: 1.5"],
    ),
    (
        {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"],
            "items": {"type": "object", "properties": {"k": {"type": "string"}}},
        },
        [{}, {"k": "x"}, {"k": "x"}, {}],
        ['a[2]: Duplicate value: {"k":"x"}', "a[3]: Duplicate value: {}"],
    ),
]


@pytest.mark.parametrize(("part", "value", "wanted"), CASES)
def test_keywords_are_checked_with_the_words_of_a_real_server(
    part: dict[str, Any], value: Any, wanted: list[str]
) -> None:
    assert errors(part, value) == wanted


def test_of_failing_alternatives_the_one_that_matched_most_is_told() -> None:
    part = {
        "type": "object",
        "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}},
        "anyOf": [{"required": ["z"]}, {"properties": {"x": {"minimum": 1}, "y": {"minimum": 5}}}],
    }
    assert errors(part, {"x": 2, "y": 2})[1:] == [
        "a.y: Invalid value: 2: a.y in body should be greater than or equal to 5"
    ]


def test_rules_are_not_looked_at_when_the_form_is_wrong_and_an_error_says_so() -> None:
    rule = {"rule": "true"}
    schema = Schema.compile({"type": "object", "required": ["b"], "x-kubernetes-validations": [rule]})
    told = [str(error) for error in schema.validate({})]
    assert told[0] == "b: Required value"
    assert told[1].startswith("<nil>: Invalid value: null: some validation rules were not checked")


def test_an_error_of_the_status_endpoint_stands_below_status() -> None:
    status = {"type": "object", "properties": {"n": {"type": "integer"}}}
    schema = Schema.compile({"type": "object", "properties": {"status": status}})
    assert [str(error) for error in schema.status({"status": {"n": "x"}})] == [
        'status.n: Invalid value: "string": n in body must be of type integer: "string"'
    ]
