"""Shapes and the walks over them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.fields import sets, typed
from podless.fields.check import check_value
from podless.fields.collect import collect_leaves, collect_whole
from podless.fields.combine import merge_values, remove_fields
from podless.fields.compare import compare_values
from podless.fields.merge import name_members, reconcile_set
from podless.fields.overlay import Overlay, lay_over
from podless.fields.typed import SchemaMisfit, schema_shape, struct_shape
from podless.structs.structfiles import load_struct

CONFIG_MAP = load_struct("core/v1", "ConfigMap")
CUSTOM_RESOURCE_DEFINITION = load_struct("apiextensions/v1", "CustomResourceDefinition")
SERVICE = load_struct("core/v1", "Service")

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
SPEC: dict[str, Any] = {
    "type": "object",
    "properties": {
        "n": NUMBER,
        "s": TEXT,
        "flag": {"type": "boolean"},
        "when": {"type": "string", "format": "date-time"},
        "any": {"x-kubernetes-int-or-string": True},
        "map": {"type": "object", "additionalProperties": TEXT},
        "leaf": {"type": "object", "additionalProperties": TEXT, "x-kubernetes-map-type": "atomic"},
        "deep": {"type": "object", "properties": {"a": NUMBER, "b": {"type": "object", "properties": {"c": NUMBER}}}},
        "list": {"type": "array", "items": TEXT},
        "set": {"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"},
        "ports": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": TEXT, "proto": {"type": "string", "default": "TCP"}, "port": NUMBER},
            },
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name", "proto"],
        },
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "pod": {"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"spec": {"type": "object"}}},
    },
}
SHAPE = schema_shape({"type": "object", "properties": {"spec": SPEC, "status": {"type": "object"}}})
SPEC_SHAPE = schema_shape(SPEC)
HTTP = 'k:{"name":"http","proto":"TCP"}'


def spec(**fields: Any) -> dict[str, Any]:
    return {"spec": fields}


def refused(value: Any, **how: Any) -> str:
    with pytest.raises(SchemaMisfit) as caught:
        check_value(value, SHAPE, **how)
    return str(caught.value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (spec(n="x"), ".spec.n: expected numeric (int or float), got string"),
        (spec(n=True), ".spec.n: expected numeric (int or float), got bool"),
        (spec(n=[]), ".spec.n: expected numeric (int or float), got []interface {}"),
        (spec(s=1), ".spec.s: expected string, got &value.valueUnstructured{Value:1}"),
        (
            spec(s={"a": "b"}),
            '.spec.s: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":"b"}}',
        ),
        (spec(flag="x"), ".spec.flag: expected boolean, got &{x}"),
        (spec(when={}), ".spec.when: expected any scalar, got &{map[]}"),
        (spec(deep=[]), ".spec.deep: expected map, got &{[]}"),
        (spec(list={"x": 1}), ".spec.list: expected list, got &{map[x:1]}"),
        (spec(list=["a", 1]), ".spec.list[1]: expected string, got &value.valueUnstructured{Value:1}"),
        (spec(other=1), ".spec.other: field not declared in schema"),
        (spec(deep={"b": {"z": 1}}), ".spec.deep.b.z: field not declared in schema"),
        (
            {"metadata": {"labels": {"a": 1}}},
            ".metadata.labels.a: expected string, got &value.valueUnstructured{Value:1}",
        ),
        ({"metadata": {"unknown": 1}}, ".metadata.unknown: field not declared in schema"),
        (spec(set=["a", "a"]), '.spec.set: duplicate entries for key [="a"]'),
        (spec(set=[{}]), ".spec.set: element 0: associative list without keys has an element that's a map type"),
        (spec(set=[[]]), ".spec.set: element 0: not supported: associative list with lists as elements"),
        (
            spec(set=[None]),
            ".spec.set: element 0: associative list without keys has an element that's an explicit null",
        ),
        (spec(ports=["x"]), ".spec.ports: element 0: associative list with keys may not have non-map elements"),
        (spec(ports=[None]), ".spec.ports: element 0: associative list with keys may not have a null element"),
        (
            spec(ports=[{"name": "x"}, {"name": "x", "proto": "TCP"}]),
            '.spec.ports: duplicate entries for key [name="x",proto="TCP"]',
        ),
        (
            spec(ports=[{"name": "x", "port": "y"}]),
            '.spec.ports[name="x",proto="TCP"].port: expected numeric (int or float), got string',
        ),
        (
            spec(n="x", s=1),
            "errors:\n  .spec.n: expected numeric (int or float), got string\n"
            "  .spec.s: expected string, got &value.valueUnstructured{Value:1}",
        ),
    ],
)
def test_what_does_not_fit_is_refused_in_a_real_servers_words(value: Any, text: str) -> None:
    assert refused(value) == text


def test_an_item_needs_a_key() -> None:
    shape = schema_shape(
        {
            "type": "object",
            "properties": {
                "l": {
                    "type": "array",
                    "items": {"type": "object", "properties": {"k": TEXT, "v": TEXT}},
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["k", "v"],
                }
            },
        }
    )
    with pytest.raises(
        SchemaMisfit, match=r"element 0: .* omits all key fields \[\"k\" \"v\"\] \(and doesn't have default"
    ):
        check_value({"l": [{}]}, shape)


def test_what_fits() -> None:
    check_value(spec(n=1.5, s=None, any={"x": [1]}, free={"a": [{}], "b": {"c": None}}, map=None, list=None), SHAPE)
    check_value(spec(set=["a", "a"], ports=[{"name": "x"}, {"name": "x"}]), SHAPE, repeats=True)
    check_value(spec(pod={"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {"any": 1}}), SHAPE)
    check_value({"status": {"anything": 1}}, SHAPE)
    assert refused(spec(pod={"metadata": {"labels": []}})) == ".spec.pod.metadata.labels: expected map, got &{[]}"


def test_leaves_are_what_an_applier_owns() -> None:
    value = spec(
        n=1,
        map={"x": "1"},
        leaf={"x": "1"},
        deep={"b": {"c": 1}},
        list=["a"],
        set=["b", "a"],
        ports=[{"name": "http", "port": 80}],
        free={"m": {"x": 1, "y": {}}, "l": [{"z": 1}]},
    )
    assert collect_leaves(value, SHAPE) == {
        "f:spec": {
            "f:n": {},
            "f:map": {"f:x": {}},
            "f:leaf": {},
            "f:deep": {"f:b": {"f:c": {}}},
            "f:list": {},
            "f:set": {'v:"a"': {}, 'v:"b"': {}},
            "f:ports": {HTTP: {".": {}, "f:name": {}, "f:port": {}}},
            "f:free": {"f:m": {".": {}, "f:x": {}, "f:y": {}}, "f:l": {}},
        }
    }
    assert collect_leaves(spec(map={}, set=[], ports=[], list=[], s=None, deep=None, any=None), SHAPE) == {
        "f:spec": {"f:map": {}, "f:list": {}, "f:s": {}, "f:deep": {}, "f:any": {}}
    }
    assert collect_leaves({"spec": {}}, SHAPE) == {"f:spec": {}}
    assert collect_leaves({}, SHAPE) == {}


def test_whole_names_every_field() -> None:
    value = spec(n=1, map={"x": "1"}, set=["a", "b", "b"], ports=[{"name": "http"}], list=["a"], deep={})
    assert collect_whole(value, SHAPE) == {
        ".": {},
        "f:spec": {
            ".": {},
            "f:n": {},
            "f:map": {".": {}, "f:x": {}},
            "f:set": {".": {}, 'v:"a"': {}, 'v:"b"': {}},
            "f:ports": {".": {}, HTTP: {".": {}, "f:name": {}}},
            "f:list": {},
            "f:deep": {},
        },
    }
    with pytest.raises(SchemaMisfit):
        collect_whole(spec(n="x"), SHAPE)


@pytest.mark.parametrize(
    ("old", "new", "removed", "modified", "added"),
    [
        ({"n": 1}, {"n": 2}, None, {"f:n": {}}, None),
        ({"n": 1}, {"n": 1.0}, None, None, None),
        ({"any": 1}, {"any": True}, None, {"f:any": {}}, None),
        ({"any": 1}, {"any": {"x": 1}}, None, {"f:any": {}}, {"f:any": {"f:x": {}}}),
        ({"any": ["a"]}, {"any": None}, None, {"f:any": {}}, None),
        ({"map": {"a": "1"}}, {"map": {"b": "1"}}, {"f:map": {"f:a": {}}}, None, {"f:map": {"f:b": {}}}),
        ({"map": {"a": "1"}}, {"map": None}, {"f:map": {"f:a": {}}}, None, None),
        ({"map": {"a": "1"}}, {"map": {}}, {"f:map": {"f:a": {}}}, None, None),
        ({"map": {}}, {"map": None}, None, {"f:map": {}}, None),
        ({"map": {}}, {}, {"f:map": {}}, None, None),
        ({}, {"deep": {"b": {"c": 1}}}, None, None, {"f:deep": {".": {}, "f:b": {".": {}, "f:c": {}}}}),
        ({"list": ["a", "b"]}, {"list": ["b", "a"]}, None, {"f:list": {}}, None),
        ({"set": ["a", "b"]}, {"set": ["b", "a"]}, None, None, None),
        ({"set": ["a"]}, {"set": ["b"]}, {"f:set": {'v:"a"': {}}}, None, {"f:set": {'v:"b"': {}}}),
        ({"set": ["a", "a"]}, {"set": ["a"]}, {"f:set": {'v:"a"': {}}}, None, {"f:set": {'v:"a"': {}}}),
        ({"leaf": {"a": "1"}}, {"leaf": {"b": "1"}}, None, {"f:leaf": {}}, None),
        (
            {"ports": [{"name": "http", "port": 1}]},
            {"ports": [{"name": "http", "proto": "TCP", "port": 2}]},
            None,
            {"f:ports": {HTTP: {"f:port": {}}}},
            {"f:ports": {HTTP: {"f:proto": {}}}},
        ),
    ],
)
def test_compare(old: Any, new: Any, removed: Any, modified: Any, added: Any) -> None:
    found = compare_values({"spec": old}, {"spec": new}, SHAPE)
    assert found == tuple({"f:spec": nodes} if nodes else {} for nodes in (removed, modified, added))


@pytest.mark.parametrize(
    ("ours", "theirs", "merged"),
    [
        ({"n": 1, "s": "a"}, {"n": 2}, {"n": 2, "s": "a"}),
        ({"map": {"a": "1"}}, {"map": {"b": "2"}}, {"map": {"a": "1", "b": "2"}}),
        ({"map": {"a": "1"}}, {"map": {}}, {"map": {"a": "1"}}),
        ({"map": {"a": "1"}}, {"map": None}, {"map": {"a": "1"}}),
        ({"map": {}}, {"map": None}, {"map": None}),
        ({"leaf": {"a": "1"}}, {"leaf": {"b": "2"}}, {"leaf": {"b": "2"}}),
        ({"list": ["a"]}, {"list": []}, {"list": []}),
        ({"any": {"x": 1}}, {"any": "s"}, {"any": "s"}),
        ({"any": [1]}, {"any": None}, {"any": None}),
        ({"set": ["a", "b"]}, {"set": ["c", "a"]}, {"set": ["c", "a", "b"]}),
        ({"set": ["a", "b", "c", "d"]}, {"set": ["d", "x", "b"]}, {"set": ["a", "c", "d", "x", "b"]}),
        ({"set": ["a", "a"]}, {"set": ["a", "b"]}, {"set": ["a", "b"]}),
        ({"set": ["a"]}, {"set": []}, {"set": ["a"]}),
        (
            {"ports": [{"name": "http", "port": 80}, {"name": "https"}, {"name": "admin"}]},
            {"ports": [{"name": "admin"}, {"name": "http", "proto": "TCP"}]},
            {"ports": [{"name": "https"}, {"name": "admin"}, {"name": "http", "port": 80, "proto": "TCP"}]},
        ),
    ],
)
def test_merge(ours: Any, theirs: Any, merged: Any) -> None:
    assert merge_values({"spec": ours}, {"spec": theirs}, SHAPE) == {"spec": merged}


def test_removing_empties_but_keeps_what_is_not_named() -> None:
    value = spec(map={"a": "1"}, set=["a", "b"], list=["x"], n=1, ports=[{"name": "http", "port": 1}])
    gone = sets.make_set(
        ("f:spec", "f:map", "f:a"),
        ("f:spec", "f:set", 'v:"a"'),
        ("f:spec", "f:n"),
        ("f:spec", "f:list", "i:0"),
        ("f:spec", "f:ports", HTTP, "f:port"),
    )
    assert remove_fields(value, gone, SHAPE) == spec(map={}, set=["b"], list=[], ports=[{"name": "http"}])


def test_declared_fields_on_the_way_become_members() -> None:
    fields = sets.make_set(("f:spec", "f:map", "f:a"), ("f:spec", "f:ports", HTTP, "f:port"))
    assert name_members(fields, SHAPE) == {
        "f:spec": {".": {}, "f:map": {".": {}, "f:a": {}}, "f:ports": {".": {}, HTTP: {"f:port": {}}}}
    }


def test_sets_follow_a_schema_that_made_leaves_of_maps_and_lists() -> None:
    fields = sets.make_set(
        ("f:spec", "f:leaf", "f:x"), ("f:spec", "f:list", 'v:"a"'), ("f:spec", "f:free", "f:x", "f:y")
    )
    wanted = sets.make_set(("f:spec", "f:leaf"), ("f:spec", "f:list"), ("f:spec", "f:free", "f:x", "f:y"))
    assert reconcile_set(fields, SHAPE) == wanted
    assert reconcile_set(wanted, SHAPE) is wanted


def test_built_in_kinds_have_shapes_of_their_structs() -> None:
    shape = struct_shape(CONFIG_MAP)
    obj = {"metadata": {"finalizers": ["a"], "ownerReferences": [{"uid": "u", "kind": "K"}]}, "data": {"a": "1"}}
    assert collect_leaves(obj, shape) == {
        "f:metadata": {"f:finalizers": {'v:"a"': {}}, "f:ownerReferences": {'k:{"uid":"u"}': {}}},
        "f:data": {"f:a": {}},
    }
    versions = {"spec": {"versions": [{"name": "v1", "schema": {}}]}}
    assert collect_leaves(versions, struct_shape(CUSTOM_RESOURCE_DEFINITION)) == {"f:spec": {"f:versions": {}}}


NAMES = st.sampled_from(["http", "https", "admin"])
PORT = st.fixed_dictionaries({"name": NAMES}, optional={"port": st.integers(0, 2), "proto": st.just("UDP")})
FREE = st.recursive(
    st.none() | st.booleans() | st.integers(0, 1) | st.sampled_from(["a", ""]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
)
OBJECTS = st.fixed_dictionaries(
    {},
    optional={
        "spec": st.fixed_dictionaries(
            {},
            optional={
                "n": st.integers(0, 2),
                "any": FREE,
                "map": st.dictionaries(st.sampled_from("ab"), st.sampled_from("xy"), max_size=2) | st.none(),
                "leaf": st.dictionaries(st.sampled_from("ab"), st.sampled_from("xy"), max_size=2),
                "list": st.lists(st.sampled_from("ab"), max_size=2),
                "set": st.lists(st.sampled_from("abcd"), max_size=4, unique=True),
                "ports": st.lists(PORT, max_size=3, unique_by=lambda port: (port["name"], port.get("proto"))),
                "free": st.dictionaries(st.sampled_from("ab"), FREE, max_size=2),
            },
        )
    },
)


@given(OBJECTS)
def test_nothing_differs_from_itself(value: Any) -> None:
    check_value(value, SHAPE)
    assert compare_values(value, value, SHAPE) == ({}, {}, {})
    assert merge_values(value, value, SHAPE) == value
    assert not sets.subtract_set(
        collect_leaves(value, SHAPE), {k: v for k, v in collect_whole(value, SHAPE).items() if k != "."}
    )


@given(OBJECTS, OBJECTS)
def test_merging_loses_nothing_and_takes_what_is_applied(ours: Any, theirs: Any) -> None:
    merged = merge_values(ours, theirs, SHAPE)
    check_value(merged, SHAPE)
    assert not sets.subtract_set(
        collect_leaves(theirs, SHAPE), {"f:spec": collect_whole(merged.get("spec", {}), SPEC_SHAPE)}
    )
    assert compare_values(merged, merge_values(merged, theirs, SHAPE), SHAPE) == ({}, {}, {})


@given(OBJECTS, OBJECTS)
def test_a_comparison_turned_round(old: Any, new: Any) -> None:
    removed, modified, added = compare_values(old, new, SHAPE)
    assert compare_values(new, old, SHAPE) == (added, modified, removed)


def test_the_selector_of_a_service_is_one_leaf() -> None:
    fields = collect_leaves({"spec": {"selector": {"a": "b"}, "type": "ClusterIP"}}, struct_shape(SERVICE))
    assert fields == {"f:spec": {"f:selector": {}, "f:type": {}}}


def test_of_very_many_faults_the_first_are_told() -> None:
    items = {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}
    shape = schema_shape({"type": "object", "properties": {"set": items}})
    with pytest.raises(SchemaMisfit) as told:
        check_value({"set": ["a"] * 20_000}, shape)
    assert str(told.value).count("duplicate entries") == 5000


SCALARS = st.sampled_from([1, 2, "x", "y", True, False, None])
VALUES = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("n", "s", "flag", "when", "any", "other"), SCALARS),
        **{name: st.dictionaries(st.sampled_from("ab"), SCALARS) for name in ("map", "leaf", "free", "pod", "deep")},
        "list": st.lists(SCALARS, max_size=2),
        "set": st.lists(SCALARS, max_size=2),
        "ports": st.lists(
            st.fixed_dictionaries({}, optional={"name": SCALARS, "proto": SCALARS, "port": SCALARS}), max_size=2
        ),
    },
)


def walked(shape: typed.Shape, value: dict[str, Any], other: dict[str, Any]) -> list[object]:
    """What the walks make of values, or say of them."""
    found: list[object] = []
    for walk in (collect_whole, lambda *given: compare_values(given[0], other, given[1]), check_value, collect_leaves):
        try:
            found.append(walk(value, shape))
        except SchemaMisfit as error:
            found.append(str(error))
            if walk is check_value:  # the last one is for what is of the shape
                return found
    return found


@given(st.lists(st.tuples(VALUES, VALUES), max_size=12))
def test_what_is_remembered_of_sorts_of_values_makes_no_difference(pairs: list[tuple[Any, Any]]) -> None:
    remembering = schema_shape(SPEC)
    for value, other in pairs:
        forgetful = schema_shape(SPEC)
        assert walked(remembering, value, other) == walked(forgetful, value, other)


def lay_apart(live: Any, applied: Any, shape: typed.Shape) -> Overlay:
    """What `lay_over` gives, from one walk after the other."""
    check_value(applied, shape)
    merged = merge_values(live, applied, shape)
    return Overlay(merged, collect_leaves(applied, shape), compare_values(live, merged, shape))


def told(walk: Callable[..., object], *given: Any) -> str:
    """What a walk gives, with types: 1 is not True; "" for a misfit."""
    try:
        return json.dumps(walk(*given), sort_keys=True)
    except SchemaMisfit:
        return ""


@given(st.lists(st.tuples(OBJECTS, OBJECTS, VALUES), max_size=6))
def test_one_walk_merges_and_compares(triples: list[tuple[Any, Any, Any]]) -> None:
    shape = schema_shape({"type": "object", "properties": {"spec": SPEC, "status": {"type": "object"}}})
    for one, other, free in triples:
        for live, applied in ((one, other), (one, one), (one, spec(**free)), (spec(**free), one)):
            if told(check_value, live, shape):
                before = json.dumps((live, applied))
                assert told(lay_over, live, applied, shape) == told(lay_apart, live, applied, shape)
                assert json.dumps((live, applied)) == before


def test_few_sorts_of_values_are_remembered() -> None:
    form = schema_shape({"type": "object", "properties": {f"f{number}": NUMBER for number in range(12)}}).map
    assert form is not None
    plans = [form.plans[tuple(f"f{place}" for place in range(number)), (int,) * number] for number in range(12)]
    assert [plan is not None for plan in plans] == [True] * 8 + [False] * 4
    assert plans[3] is not None
    assert plans[3].leaves == {"f:f0": {}, "f:f1": {}, "f:f2": {}}
    assert form.plans[("f0", "g"), (int, int)] is None
