"""What is wrong with declared conversions, and what they lose."""

from __future__ import annotations

from typing import Any

import pytest

from podless.apis import offline
from podless.kinds.declared import CONVERSION
from podless.kinds.declared.paths import BadPath, parse_path
from tests.kinds.declared import define

PATH = f"metadata.annotations[{CONVERSION}]"


def faults(rules: str, **more: Any) -> list[str]:
    return [str(error).removeprefix(PATH) for error in offline.define_kind(define(rules, **more)).errors]


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("{", ': Invalid value: "{": must be YAML'),
        ("a: b", "must be a list of conversions"),
        ("[1]", "[0]: Invalid value: 1: must be an object with between and move, or with from and to"),
        ("[{between: [v1, v2], set: {}}]", "[0].set: Forbidden: unknown; with between there can be move"),
        ("[{between: [v1]}]", '[0].between: Invalid value: ["v1"]: must be a list of two versions'),
        ("[{between: [v1, v9]}]", '[0].between[1]: Invalid value: "v9": must be a version of this definition: v1, v2'),
        ("[{from: v1}]", "[0].to: Invalid value: null: must be a version of this definition: v1, v2"),
        ("[{from: v1, to: v1}]", '[0].to: Invalid value: "v1": must be another version'),
        ("[{from: v1, to: v2}]", ": Required value: no conversion from v2 to v1 is declared"),
        ("[{between: [v1, v2], move: {spec.nothing: spec.replicas}}]", "the schema of v1 has no such field"),
        ("[{between: [v1, v2], move: {spec.size: spec.nothing}}]", "the schema of v2 has no such field"),
        (
            "[{between: [v1, v2], move: {spec.size: spec.color}}]",
            "spec.size of v1 does not fit: it is of type integer, and the field of type string",
        ),
        (
            "[{between: [v1, v2], move: [spec.size]}]",
            "[0].move: Invalid value: null: must be an object whose keys are paths",
        ),
        (
            "[{between: [v1, v2], move: {spec.size: metadata.name}}]",
            "only single labels and annotations can be converted",
        ),
        ("[{between: [v1, v2], move: {spec.size: metadata}}]", "only single labels and annotations can be converted"),
        ("[{between: [v1, v2], move: {kind: spec.color}}]", "only single labels and annotations can be converted"),
        ("[{between: [v1, v2], move: {spec.size: 7}}]", "must be the path of a field"),
        (
            "[{between: [v1, v2], move: {spec.size: 'spec.ports[*].number'}}]",
            "must have the same path up to the last [*]",
        ),
        (
            "[{between: [v1, v2], move: {spec.size: 'metadata.labels[\"x\"]'}}]",
            "it is of type integer, and the field of type string",
        ),
        (
            "[{from: v1, to: v2, move: {spec.size: spec.replicas, spec.any.x: spec.replicas}}]",
            'Duplicate value: "v1 to v2: spec.replicas"',
        ),
        ("[{from: v1, to: v2, move: {spec.any.x: spec.any}, set: {spec.any.y: '1'}}]", "Duplicate value"),
        ("[{from: v1, to: v2, set: {spec.hours: self.spec.nothing}}]", "undefined field 'nothing'"),
        (
            "[{from: v1, to: v2, set: {spec.hours: self.spec.time}}]",
            "the expression is of type string, and the field of type integer",
        ),
        (
            "[{from: v1, to: v2, set: {spec.hours: 'type(1)'}}]",
            "the expression must have a value with a form in JSON, and not type(int)",
        ),
        ("[{from: v1, to: v2, set: {spec.any: 'quantity(\"1\")'}}]", "a form in JSON"),
        ("[{from: v1, to: v2, set: {spec.hours: 'null'}}]", "the field is not nullable"),
        ("[{from: v1, to: v2, set: {spec.hours: '1 +'}}]", "compilation failed: ERROR"),
        ("[{from: v1, to: v2, set: {spec.hours: 7}}]", "must be an expression in CEL"),
        ("[{from: v1, to: v2, set: {'spec.ports[*].number': '1'}}]", "use map() in the expression"),
        (
            "[{from: v1, to: v2, set: {spec.any: 'self.spec.ports.map(a, self.spec.ports.map(b, "
            "self.spec.ports.map(c, 1)))'}}]",
            "estimated cost is",
        ),
        ("[{from: v1, to: v2, default: {spec.hours: seven}}]", 'spec.hours]: Invalid value: "seven": Invalid value'),
        ("[{from: v1, to: v2, remove: spec.size}]", "must be a list of paths"),
        (
            "[{from: v1, to: v2, set: {" + ", ".join(f"spec.any.f{n}: '\"{'x' * 4000}\"'" for n in range(9)) + "}}]",
            "set[spec.any.f8]: Forbidden: all expressions have more than 32768 characters",
        ),
        (f"[{', '.join(['{from: v1, to: v2}'] * 501)}]", "Too many: 501: must have at most 500 items"),
    ],
)
def test_a_fault_is_told_with_its_place(rules: str, said: str) -> None:
    assert any(said in fault for fault in faults(rules)), faults(rules)


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("spec.size", ("spec", "size")),
        ("spec.a[*].b", ("spec", "a", None, "b")),
        ('metadata.labels["a.b/c"]', ("metadata", "labels", "a.b/c")),
        ('spec["a\\"b"].c', ("spec", 'a"b', "c")),
    ],
)
def test_paths(text: str, steps: tuple[str | None, ...]) -> None:
    assert parse_path(text).steps == steps


@pytest.mark.parametrize(
    "text", ["", ".spec", "spec.", "spec..a", "spec[0]", "[*].a", "spec[*]", "a b", "a" + ".a" * 99]
)
def test_texts_that_are_no_path(text: str) -> None:
    with pytest.raises(BadPath):
        parse_path(text)


def warnings(rules: str, **more: Any) -> list[str]:
    made = offline.define_kind(define(rules, **more))
    assert not made.errors
    return [text for text in made.warnings if "conversion" in text]


NUMBER = {"type": "integer"}


def test_a_conversion_that_loses_nothing_has_no_warning() -> None:
    rules = "[{between: [v1, v2], move: {spec.size: spec.replicas}}]"
    assert warnings(rules, v1={"size": NUMBER}, v2={"replicas": NUMBER}) == []


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("[{between: [v1, v2]}]", "conversion from v1 to v2 and back loses spec.size, such as"),
        ("[{between: [v1, v2]}]", "conversion from v2 to v1 and back loses spec.replicas, such as"),
        (
            "[{from: v1, to: v2, set: {spec.replicas: self.spec.size * 2}},"
            " {from: v2, to: v1, move: {spec.replicas: spec.size}}]",
            "conversion from v1 to v2 and back changes spec.size: ",
        ),
        (
            "[{from: v1, to: v2, set: {spec.replicas: 10 / (self.spec.size - self.spec.size)}}, {from: v2, to: v1}]",
            "conversion from v1 to v2 fails: v1 to v2: spec.replicas: division by zero: from",
        ),
        (
            "[{from: v1, to: v2, set: {spec.replicas: 'self.spec.size - 1000'}}, {from: v2, to: v1}]",
            "conversion from v1 to v2 makes an object that v2 rejects: spec.replicas: Invalid value: ",
        ),
    ],
)
def test_generated_objects_show_what_a_conversion_loses(rules: str, said: str) -> None:
    found = warnings(rules, v1={"size": NUMBER}, v2={"replicas": {**NUMBER, "minimum": -100}})
    assert any(text.startswith(said) for text in found), found


def test_a_webhook_has_precedence() -> None:
    definition = define("[{between: [v1, v2]}]")
    webhook = {"clientConfig": {"url": "https://example.com"}, "conversionReviewVersions": ["v1"]}
    definition["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
    made = offline.define_kind(definition)
    assert made.warnings == [f"{PATH} is not used: spec.conversion names a webhook"]
    assert made.kind is not None
    assert made.kind.webhook == webhook
