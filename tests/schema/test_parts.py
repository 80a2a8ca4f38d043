"""The compiled functions that the parts of a schema become."""

from __future__ import annotations

import weakref
from contextvars import copy_context
from typing import Any

import pytest

from podless.meta.errors import Timeout
from podless.runtime.meter import METER, CPUMeter
from podless.schema import Schema
from podless.schema.compile import NodeFunction
from podless.schema.mode import CHECK, Leaves
from podless.schema.node import Node

KEPT = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def test_a_part_is_compiled_once_and_by_itself() -> None:
    part = NodeFunction(Node({"type": "string", "maxLength": 2}), CHECK, Leaves())
    assert not part.is_compiled
    assert part("ab")
    run = part.run
    assert part.is_compiled
    assert not part("abc")
    assert part.run is run


def test_parts_that_check_the_same_share_a_function() -> None:
    leaves = Leaves()
    node = Node({"type": "object", "properties": {f"f{i}": {"type": "string", "maxLength": 3} for i in range(20)}})
    assert NodeFunction(node, CHECK, leaves)({"f0": "abc", "f19": "abc"})
    assert len(leaves) == 1


def test_a_compiled_part_needs_no_collector_to_go() -> None:
    part = NodeFunction(Node({"type": "object", "properties": {"a": {"type": "string"}}}), CHECK, Leaves())
    assert part({"a": "b"})
    run = weakref.ref(part.run)
    del part
    assert run() is None


@pytest.mark.parametrize("kept", [{}, {"x-kubernetes-preserve-unknown-fields": True}])
def test_a_complete_schema_has_nothing_left_to_compile(kept: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    wide = {f"f{i}": {"type": "string", "maxLength": i} for i in range(20)} | {"any": {**KEPT}}
    inner = {"type": "object", **kept, "properties": wide}
    spec = {"type": "object", "properties": {"one": inner, "many": {"type": "array", "items": inner}}}
    schema = Schema({"type": "object", "properties": {"spec": spec}})
    schema.complete()

    def compiled(part: NodeFunction) -> Any:
        raise AssertionError

    monkeypatch.setattr(NodeFunction, "_compile", compiled)
    fields = {f"f{i}": "" for i in range(20)} | {"any": {"a": 1}, "more": "x"}
    obj = {"apiVersion": "a/v1", "kind": "A", "spec": {"one": dict(fields), "many": [dict(fields)]}}
    schema.normalize(obj, drop=False)
    schema.prune(obj)
    schema.default(obj)
    assert schema.validate(obj) == []
    assert schema.validate({"spec": {"one": {"f1": "xx"}}})


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
    part = NodeFunction(Node(schema), CHECK, Leaves())
    assert part(value)

    def work() -> None:
        METER.set(CPUMeter(-1.0))
        part(value)

    with pytest.raises(Timeout):
        copy_context().run(work)
