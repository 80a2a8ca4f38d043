"""What declared conversions make of objects."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.apis import offline
from podless.meta.errors import Internal
from podless.runtime.jsonobject import Object
from tests.kinds.declared import convert, define

MOVE = "[{between: [v1, v2], move: {spec.size: spec.replicas, 'spec.ports[*].port': 'spec.ports[*].number'}}]"


def both(rules: str) -> str:
    """Rules from v1 to v2, and none back."""
    return f"[{{from: v1, to: v2, {rules}}}, {{from: v2, to: v1}}]"


def test_moves_go_both_ways_and_into_lists() -> None:
    spec = {"size": 3, "color": "red", "ports": [{"port": 1}, {}]}
    there = convert(MOVE, spec)
    assert there["apiVersion"] == "example.com/v2"
    assert there["spec"] == {"replicas": 3, "color": "red", "ports": [{"number": 1}, {}]}
    assert convert(MOVE, there["spec"], source="v2", target="v1")["spec"] == spec


def test_two_fields_change_places() -> None:
    rules = both("move: {spec.any.a: spec.any.b, spec.any.b: spec.any.a}")
    assert convert(rules, {"any": {"a": 1, "b": 2}})["spec"] == {"any": {"a": 2, "b": 1}}
    assert convert(rules, {"any": {"a": 1}})["spec"] == {"any": {"b": 1}}


@pytest.mark.parametrize(
    ("rules", "spec", "made"),
    [
        ("set: {spec.hours: \"int(self.spec.time.split(':')[0])\"}", {"time": "7:30"}, {"hours": 7}),
        ("set: {spec.hours: \"int(self.spec.time.split(':')[0])\"}", {"size": 1}, {}),
        ("set: {spec.replicas: 'self.spec.size * 2'}", {"size": 3}, {"replicas": 6}),
        (
            "set: {spec.at: 'self.spec.at + duration(\"1h\")'}",
            {"at": "2024-01-01T00:00:00Z"},
            {"at": "2024-01-01T01:00:00Z"},
        ),
        ("set: {spec.color: '(self.?spec.?color).optMap(c, c + c)'}", {"color": "a"}, {"color": "aa"}),
        ("set: {spec.color: 'optional.none()'}", {"color": "a"}, {}),
        (
            "set: {spec.ports: 'self.spec.ports.map(p, {\"number\": p.port + 1})'}",
            {"ports": [{"port": 1}]},
            {"ports": [{"number": 2}]},
        ),
        ("set: {spec.labels: '{\"size\": string(self.spec.size)}'}", {"size": 3}, {"labels": {"size": "3"}}),
        ("set: {spec.any.ns: 'self.spec.__namespace__'}", {"namespace": "x"}, {"any": {"ns": "x"}}),
        (
            "set: {spec.any.all: 'self.spec'}",
            {"namespace": "x", "any": {"y": None}},
            {"any": {"y": None, "all": {"namespace": "x", "any": {"y": None}}}},
        ),
        ("default: {spec.color: grey}", {"size": 1}, {"color": "grey"}),
        ("default: {spec.color: grey}", {"color": "red"}, {"color": "red"}),
        ("remove: [spec.color, 'spec.ports[*].port']", {"color": "red", "ports": [{"port": 1}]}, {"ports": [{}]}),
    ],
)
def test_values_defaults_and_removals(rules: str, spec: Object, made: Object) -> None:
    assert convert(both(rules), spec)["spec"] == made


def test_an_annotation_keeps_what_a_version_cannot_say() -> None:
    rules = """
    - {from: v1, to: v2, set: {'metadata.annotations["example.com/at"]': self.spec.at}}
    - {from: v2, to: v1, move: {'metadata.annotations["example.com/at"]': spec.at}}
    """
    there = convert(rules, {"at": "2024-01-01T00:00:00Z"})
    kept = {"example.com/at": "2024-01-01T00:00:00Z"}
    assert there["metadata"] == {"name": "a", "annotations": kept}
    back = convert(rules, {}, source="v2", target="v1", metadata={"annotations": kept})
    assert back["spec"] == {"at": "2024-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("rules", "spec", "said"),
    [
        (
            "set: {spec.hours: \"int(self.spec.time.split(':')[0])\"}",
            {"time": "x"},
            "v1 to v2: spec.hours: type conversion",
        ),
        (
            "move: {spec.size: spec.any.a.b}",
            {"size": 1, "any": {"a": "text"}},
            "spec.any.a.b: something on the way to it is not an object",
        ),
        ("set: {'metadata.labels[\"x\"]': dyn(self.spec.size)}", {"size": 1}, "a label or annotation must be a string"),
        ("set: {spec.any.x: 'dyn(optional.of(1.0/0.0))'}", {}, "not a finite number"),
    ],
)
def test_a_conversion_that_fails_says_where(rules: str, spec: Object, said: str) -> None:
    with pytest.raises(Internal) as found:
        convert(both(rules), spec)
    assert found.value.message.startswith("declared conversion for example.com/v1, Kind=Widget failed: v1 to v2: ")
    assert said in found.value.message


def nested(count: int, inner: str, outer: str) -> str:
    """An expression that binds a name to twice the one before it, again and again."""
    text = f"v{count}"
    for place in range(count, 0, -1):
        before = f"v{place - 1}" if place > 1 else inner
        text = f"cel.bind(v{place}, {outer.format(before)}, {text})"
    return text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("expression", "said"),
    [
        (nested(30, "[1]", "[{0}, {0}]"), "the values have more than 4194304 bytes"),
        (nested(25, "'x'", "{0} + {0}"), "operation cancelled: actual cost limit exceeded"),
        (nested(30, "[1]", "{0} + {0}"), "operation cancelled: actual cost limit exceeded"),
    ],
)
def test_large_results_and_long_work_end(expression: str, said: str) -> None:
    began = time.thread_time()
    with pytest.raises(Internal) as found:
        convert(both(f'set: {{spec.any: "{expression}"}}'), {"ports": [{"port": 1}] * 500})
    assert said in found.value.message
    assert time.thread_time() - began < 30


def test_versions_without_a_rule_between_them_go_by_way_of_others() -> None:
    rules = """
    - {between: [v1, v2], move: {spec.a: spec.b}}
    - {between: [v2, v3], move: {spec.b: spec.a}}
    """
    text = {"type": "string"}
    definition = define(rules, v1={"a": text}, v2={"b": text})
    third = {**definition["spec"]["versions"][0], "name": "v3", "storage": False}
    definition["spec"]["versions"].append(third)
    made = offline.define_kind(definition)
    assert not made.errors
    assert not made.warnings
    assert made.kind is not None
    obj = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"a": "x"}}
    assert offline.convert_object(made.kind, obj, "v3")["spec"] == {"a": "x"}


SPECS = st.fixed_dictionaries(
    {},
    optional={
        "size": st.integers(-(2**53), 2**53),
        "color": st.text(max_size=5),
        "ports": st.lists(st.fixed_dictionaries({}, optional={"port": st.integers(0, 9)}), max_size=3),
    },
)


@given(SPECS)
def test_moves_there_and_back_are_no_change(spec: Object) -> None:
    there = offline.convert_object(MOVED, obj_of(spec), "v2")
    assert offline.convert_object(MOVED, there, "v1") == obj_of(spec)


def obj_of(spec: Object) -> Object:
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": spec}


_made = offline.define_kind(define(MOVE)).kind
assert _made is not None
MOVED = _made
