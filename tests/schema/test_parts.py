"""The compiled functions that the parts of a schema become."""

from __future__ import annotations

import json
import weakref
from contextvars import copy_context
from typing import Any

import pytest

from podless.meta.errors import Timeout
from podless.runtime.memo import begin_work
from podless.runtime.meter import METER, CPUMeter
from podless.schema import Schema
from podless.schema.compile import NodeFunction, has_dropped_nulls
from podless.schema.mode import CHECK, SharedParts
from podless.schema.node import Node, find_key, note_keys
from tests.cost import lines

KEPT = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def nested_objects(levels: int, default: int = 0) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "integer", "default": default}
    for _ in range(levels + 1):
        schema = {"type": "object", "properties": {f"f{number}": schema for number in range(6)}}
    return schema


def test_a_part_is_compiled_once_and_by_itself() -> None:
    part = NodeFunction(Node({"type": "string", "maxLength": 2}), CHECK, SharedParts())
    assert not part.is_compiled
    assert part.run("ab")
    run = part.run
    assert part.is_compiled
    assert not part.run("abc")
    assert part.run is run


def test_parts_that_check_the_same_share_a_function() -> None:
    parts = SharedParts()
    node = Node({"type": "object", "properties": {f"f{i}": {"type": "string", "maxLength": 3} for i in range(20)}})
    assert NodeFunction(node, CHECK, parts).run({"f0": "abc", "f19": "abc"})
    assert len(parts) == 1


def test_a_compiled_part_needs_no_collector_to_go() -> None:
    part = NodeFunction(Node({"type": "object", "properties": {"a": {"type": "string"}}}), CHECK, SharedParts())
    assert part.run({"a": "b"})
    run = weakref.ref(part.run)
    del part
    assert run() is None


def given_objects(levels: int) -> dict[str, Any]:
    """Objects in objects that are there by default, six in each."""
    schema: dict[str, Any] = {"type": "integer", "default": 1}
    for _ in range(levels):
        schema = {"type": "object", "default": {}, "properties": {f"f{number}": schema for number in range(6)}}
    return {"type": "object", "properties": {"spec": schema}}


def test_equal_objects_that_are_there_by_default_are_compiled_once() -> None:
    parts = SharedParts()
    schema, obj = Schema(given_objects(5), parts=parts), {"kind": "K"}
    assert schema.accepts(obj)
    assert schema.accepts(obj)
    assert len(json.dumps(obj["spec"])) > 50_000
    assert schema.validate(obj) == []
    assert 0 < len(parts) < 20


def test_a_large_default_is_checked_and_filled_in_once_and_copied_then() -> None:
    counted: list[int] = []
    schema = Schema(given_objects(4), parts=SharedParts(counted.append))
    found: list[Any] = [{"kind": "K"} for _ in range(3)]
    costs = [lines(schema.accepts, obj) for obj in found]
    assert costs[2] < 200 < 20_000 < costs[0]
    assert max(counted) > 10_000  # the bytes that are kept
    found[0]["spec"]["f0"]["f1"].clear()
    wanted: dict[str, Any] = {"kind": "K"}
    Schema(given_objects(4)).fill(wanted)
    assert found[1] == found[2] == wanted != found[0]
    assert found[1]["spec"]["f1"] is not found[1]["spec"]["f2"]


def test_defaults_without_a_null_are_not_walked_for_nulls() -> None:
    assert lines(has_dropped_nulls, Node(given_objects(3))) < 20
    dropped = {"type": "object", "default": {"a": None}, "properties": {"a": {"type": "string"}}}
    assert has_dropped_nulls(Node({"type": "object", "properties": {"spec": dropped}}))


def test_work_off_the_loop_keeps_no_large_default() -> None:
    schema, objects = Schema(given_objects(4)), [{"kind": "K"} for _ in range(3)]

    schema.complete()

    def work(obj: Any) -> tuple[bool, Any]:
        begin_work()
        accepted = schema.accepts(obj)
        schema.normalize(obj)
        return accepted, obj

    done = [copy_context().run(work, obj) for obj in objects[:2]]
    assert schema.accepts(objects[2])
    assert done == [(False, objects[2])] * 2
    assert copy_context().run(work, {"kind": "K"}) == (True, objects[2])


@pytest.mark.parametrize("kept", [{}, {"x-kubernetes-preserve-unknown-fields": True}])
def test_a_complete_schema_has_nothing_left_to_compile(kept: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    wide = {f"f{i}": {"type": "string", "maxLength": i} for i in range(20)} | {"any": {**KEPT}}
    inner = {"type": "object", **kept, "properties": wide}
    spec = {"type": "object", "properties": {"one": inner, "many": {"type": "array", "items": inner}}}
    schema = Schema({"type": "object", "properties": {"spec": spec}})
    schema.complete()

    def compiled(part: NodeFunction) -> Any:
        raise AssertionError

    monkeypatch.setattr(NodeFunction, "_compile_function", compiled)
    fields = {f"f{i}": "" for i in range(20)} | {"any": {"a": 1}, "more": "x"}
    obj = {"apiVersion": "a/v1", "kind": "A", "spec": {"one": dict(fields), "many": [dict(fields)]}}
    schema.accepts(obj)
    schema.normalize(obj, drop=False)
    schema.prune(obj)
    schema.default(obj)
    assert schema.validate(obj) == []
    assert schema.validate({"spec": {"one": {"f1": "xx"}}})


@pytest.mark.parametrize("versions", [1, 3])
def test_equal_parts_of_a_complete_schema_are_compiled_once(versions: int, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []
    compile_part = NodeFunction._compile_function

    def note_and_compile(part: NodeFunction) -> Any:
        compiled.append(part)
        return compile_part(part)

    monkeypatch.setattr(NodeFunction, "_compile_function", note_and_compile)
    shared = SharedParts()
    for _ in range(versions):
        schema = Schema(nested_objects(levels=4, default=1), parts=shared)
        schema.complete()
    assert len(compiled) <= 5 * (5 + versions)  # for each mode: one for each level, and the roots
    obj: dict[str, Any] = {"f0": {"f2": {"f1": {"f1": {}}}}}
    schema.normalize(obj)
    assert obj["f0"]["f2"]["f1"]["f1"] == {f"f{number}": 1 for number in range(6)}


@pytest.mark.parametrize(
    ("change", "shared"),
    [
        ({}, True),
        ({"default": {"f1": {}}}, True),
        ({"description": "d"}, True),
        ({"minProperties": 1}, False),
        ({"additionalProperties": True}, False),
        ({"properties": nested_objects(levels=2, default=1)["properties"]}, False),
        ({"not": {"required": ["f1"]}}, False),
    ],
)
def test_nodes_have_one_key_if_all_below_them_is_equal(change: dict[str, Any], shared: bool) -> None:
    one, other = Node(nested_objects(levels=2)), Node(nested_objects(levels=2) | change)
    note_keys(one)
    note_keys(other)
    assert (find_key(one) == find_key(other)) is shared


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "array", "items": {"type": "string", "maxLength": 3}}, ["a"] * 5000),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, {f"k{i}": 1 for i in range(5000)}),
        ({"type": "object", "properties": {f"k{i}": {"type": "string"} for i in range(20)}, **KEPT}, {}),
    ],
    ids=["list", "map", "wide"],
)
def test_long_loops_end_where_their_time_is_over(schema: dict[str, Any], value: Any) -> None:
    value = value or {f"k{i}": "a" for i in range(5000)}
    part = NodeFunction(Node(schema), CHECK, SharedParts())
    assert part.run(value)

    def work() -> None:
        METER.set(CPUMeter(-1.0))
        part.run(value)

    with pytest.raises(Timeout):
        copy_context().run(work)
