"""Threads that use one fresh shape at the same time."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from podless.fields.collect import collect_leaves
from podless.fields.combine import merge_values
from podless.fields.compare import compare_values
from podless.fields.typed import Shape, schema_shape
from tests.races import interleaved, together

KEYED = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "parts": {
                    "type": "array",
                    **KEYED,
                    "items": {
                        "type": "object",
                        "properties": {"name": {"type": "string"}, "inner": {"type": "array", "items": {}}},
                    },
                },
                **{f"l{i}": {"type": "array", "x-kubernetes-list-type": "set", "items": {}} for i in range(8)},
                "labels": {"type": "object", "additionalProperties": {"type": "object", "properties": {"a": {}}}},
                "names": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                "whole": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"a": {}}},
            },
        }
    },
}
OLD: dict[str, Any] = {
    "apiVersion": "a/v1",
    "metadata": {"name": "a", "labels": {"a": "b"}},
    "spec": {"parts": [{"name": "a", "inner": [1]}], "labels": {"x": {"a": 1}}, "names": ["a"], "whole": {"a": 1}},
}
NEW: dict[str, Any] = {
    "apiVersion": "a/v1",
    "metadata": {"name": "a", "labels": {"a": "c", "d": "e"}},
    "spec": {"parts": [{"name": "b"}], "labels": {"x": {"a": 2}, "y": {}}, "names": ["b"], "whole": {"a": 2}}
    | {f"l{i}": ["a"] for i in range(8)},
}


def use(shape: Shape, told: list[Any]) -> None:
    told.append((collect_leaves(NEW, shape), compare_values(OLD, NEW, shape), merge_values(OLD, NEW, shape)))


@pytest.mark.parametrize("seed", range(60))
def test_a_fresh_shape_says_the_same_wherever_a_thread_interrupts_the_other(seed: int) -> None:
    alone: list[Any] = []
    use(schema_shape(SCHEMA), alone)
    shape, told = schema_shape(SCHEMA), list[Any]()
    interleaved("fields/typed", *[partial(use, shape, told)] * 2, seed=seed, longest=300, step="opcode")
    assert told == alone * 2


def test_fresh_shapes_say_the_same_on_two_threads() -> None:
    alone: list[Any] = []
    use(schema_shape(SCHEMA), alone)
    for _ in range(100):
        shape, told = schema_shape(SCHEMA), list[Any]()
        together(*[partial(use, shape, told)] * 2)
        assert told == alone * 2
