"""What breaks is said, and what is not said does not break."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from podless.check import SourceFile
from podless.check.compare import compare_definitions
from podless.check.findings import Severity
from podless.check.upgrade import try_objects
from podless.runtime.jsonobject import Object
from podless.schema import Schema, structural
from tests.apis.test_offline import definition
from tests.conftest import tries
from tests.schema import strategies

FIELDS: Object = {
    "size": {"type": "integer", "minimum": 1, "maximum": 9},
    "color": {"type": "string", "enum": ["red", "blue"], "default": "red", "maxLength": 9},
    "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}, "maxItems": 5},
    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    "map": {"type": "object", "additionalProperties": {"type": "string", "nullable": True}},
}


def crd(fields: Object, **more: Any) -> Object:
    schema = {"type": "object", "properties": {"spec": {"type": "object", "required": ["size"], "properties": fields}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return definition(**{"versions": [version], **more})


def field(name: str, **changes: Any) -> Callable[[Object], None]:
    def change(whole: Object) -> None:
        fields = whole["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
        fields[name] = {key: value for key, value in {**fields.get(name, {}), **changes}.items() if value is not None}

    return change


def spec(path: str, value: Any) -> Callable[[Object], None]:
    def change(whole: Object) -> None:
        *steps, last = path.split(".")
        part: Any = whole["spec"]
        for step in steps:
            part = part[int(step)] if step.isdigit() else part.setdefault(step, {})
        if value is None:
            part.pop(last, None)
        else:
            part[last] = value

    return change


SCHEMA = "versions.0.schema.openAPIV3Schema.properties.spec"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (field("size", maximum=8), "error: maximum 9 became 8"),
        (field("size", minimum=2), "error: minimum 1 became 2"),
        (field("size", multipleOf=2), "error: multipleOf 2 is required"),
        (field("size", type="number"), "warning: integer became number"),
        (field("size", type="string"), "error: the type integer became string"),
        (field("color", enum=["red"]), "error: blue is no longer allowed"),
        (field("color", enum=["red", "blue", "green"]), "warning: green is new"),
        (field("color", default="blue"), 'warning: the default "red" became "blue"'),
        (field("color", default=None), 'warning: the default "red" is gone'),
        (field("color", pattern="^r"), "error: the pattern is '^r'"),
        (field("color", enum=None), "warning: any value is allowed"),
        (field("color", nullable=True), "spec.color: warning: null is allowed"),
        (field("tags", **{"x-kubernetes-list-type": "atomic"}), "error: list-type set became atomic"),
        (field("tags", items={"type": "string", "maxLength": 3}), "spec.tags[]: error: maxLength is new: 3"),
        (
            field("free", **{"x-kubernetes-preserve-unknown-fields": None}),
            "error: unknown fields are dropped",
        ),
        (field("map", additionalProperties={"type": "string"}), "spec.map[*]: error: null is no longer allowed"),
        (spec(f"{SCHEMA}.properties.color", None), "error: the field is gone"),
        (spec(f"{SCHEMA}.required", ["size", "tags"]), "spec.tags: error: the field is required"),
        (
            spec(f"{SCHEMA}.required", ["size", "color"]),
            "spec.color: warning: the field is required, and has a default",
        ),
        (spec(f"{SCHEMA}.x-kubernetes-validations", [{"rule": "true"}]), "error: the rule 'true' is new"),
        (spec("scope", "Cluster"), "error: Namespaced became Cluster"),
        (spec("names.plural", "things"), "error: gadgets became things"),
        (spec("versions.0.served", False), "error: no longer served"),
        (spec("versions.0.name", "v2"), "the version that objects are stored in is gone"),
        (spec("versions.0.subresources", {"status": {}}), "warning: the status can be written at /status only"),
    ],
)
def test_a_change_is_told(change: Callable[[Object], None], said: str) -> None:
    new = crd(copy.deepcopy(FIELDS))
    change(new)
    assert any(said in str(one) for one in compare_definitions([crd(FIELDS)], [new]))


def test_fields_that_are_lost_between_versions_are_told_once() -> None:
    first = crd(FIELDS)["spec"]["versions"][0]
    second = copy.deepcopy(first) | {"name": "v2", "storage": False}
    third = copy.deepcopy(second)
    fields = third["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    fields["extra"] = {"type": "object", "properties": {"inner": {"type": "string"}}}
    same, apart = crd(FIELDS, versions=[first, second]), crd(FIELDS, versions=[first, third])
    told = [str(one) for one in compare_definitions([same], [apart]) if "drops it" in one.what]
    assert told == [
        "gadgets.example.com spec.extra: warning: the field is in v2 and not in v1: a write in v1 drops it "
        "(add it to v1 too, or convert with a webhook)",
    ]
    assert compare_definitions([apart], [apart]) == []
    hook = {
        "strategy": "Webhook",
        "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://x"}},
    }
    converted = copy.deepcopy(apart)
    converted["spec"]["conversion"] = hook
    assert not [one for one in compare_definitions([same], [converted]) if "drops it" in one.what]


def test_what_only_opens_is_not_told() -> None:
    new = crd({**FIELDS, "size": {"type": "integer"}, "more": {"type": "string"}})
    assert compare_definitions([crd(FIELDS)], [new]) == []
    assert compare_definitions([], [crd(FIELDS)]) == []
    assert compare_definitions([crd(FIELDS)], [])[0].severity is Severity.ERROR


def test_objects_are_tried() -> None:
    head: Object = {"apiVersion": "example.com/v1", "kind": "Gadget"}
    objects = [
        {**head, "metadata": {"name": f"a{size}"}, "spec": {"size": size, "color": "red"}} for size in (1, 5, 9, 12)
    ]
    old, new = crd(FIELDS), crd({"size": {"type": "integer", "maximum": 5}})
    source = SourceFile.of("a.json", "\n".join(map(json.dumps, objects)).encode())
    [trial] = try_objects([old], [new], [source])
    assert (trial.objects, trial.refused, trial.pruned) == (4, 2, 4)
    assert str(trial).startswith(
        "Gadget.example.com: of 4 objects 2 would be rejected, 4 would lose fields\n  Gadget a1: "
    )


@st.composite
def pairs(draw: Any) -> tuple[Object, Object, Object]:
    """A schema, the same with one node changed, and an object of the first."""
    old, value = draw(strategies.cases())
    new = copy.deepcopy(old)
    node = draw(st.sampled_from([*_nodes(new)]))
    if draw(st.integers(0, 5)) and len(node) > 1:
        node.pop(draw(st.sampled_from(sorted(node))))
    else:
        node.update(draw(strategies.nodes(1)))
    return old, new, value


def _nodes(schema: Object) -> Iterator[Object]:
    inner = [*(schema.get("properties") or {}).values(), schema.get("items"), schema.get("additionalProperties")]
    for part in inner:
        if isinstance(part, dict):
            yield part
            yield from _nodes(part)


@settings(
    max_examples=tries(70),  # most of what is drawn is told
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
@given(pairs())
def test_objects_live_on_where_nothing_is_told(drawn: tuple[Object, Object, Object]) -> None:
    """Whatever the old schema takes the new one takes too, and keeps, unless the comparison says otherwise."""
    one, other, obj = drawn
    assume(not structural({"type": "object", **other}, "x"))
    version = {"name": "v1", "served": True, "storage": True}
    old, new = (definition(versions=[{**version, "schema": {"openAPIV3Schema": schema}}]) for schema in (one, other))
    assume(not compare_definitions([old], [new]))
    before, after = Schema.compile(one), Schema.compile(other)
    before.normalize(obj)
    assume(not before.validate(obj))
    kept = copy.deepcopy(obj)
    after.normalize(kept)
    assert not after.validate(kept)
    assert _within(obj, kept)


def _within(small: Any, large: Any) -> bool:
    """Whether nothing of a value is lost in another."""
    if isinstance(small, dict) and isinstance(large, dict):
        return all(key in large and _within(value, large[key]) for key, value in small.items())
    if isinstance(small, list) and isinstance(large, list):
        return len(small) == len(large) and all(map(_within, small, large))
    return bool(small == large)
