"""Threads that use one fresh schema at the same time: no check is lost, and nothing is raised."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import pytest

from podless.schema import Schema
from podless.schema.mode import SharedParts
from tests.races import interleaved, together


class Sort(NamedTuple):
    """A sort of field: its schema, a value that fits, and values that do not."""

    schema: dict[str, Any]
    good: Any
    bad: tuple[Any, ...]


_ODD = {"type": "object", "properties": {f"p{i}": {"type": "string", "maxLength": i + 3} for i in range(14)}}
SORTS = {
    "text": Sort({"type": "string", "maxLength": 4, "minLength": 1}, "abc", ("abcde", "", 1, None)),
    "pattern": Sort({"type": "string", "pattern": "^[a-c]+$"}, "abc", ("abd", {})),
    "format": Sort({"type": "string", "format": "date-time"}, "2020-01-01T00:00:00Z", ("yesterday",)),
    "enum": Sort({"type": "string", "enum": ["A", "B"]}, "A", ("C", 1)),
    "objects": Sort(
        {
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": True,
            "enum": [{"a": place} for place in range(40)],
        },
        {"a": 39},
        ({"a": 40}, {}),
    ),
    "mixed": Sort({"enum": [1, "A"], "type": "string"}, "A", ("B",)),
    "integer": Sort({"type": "integer", "minimum": 1, "maximum": 9}, 5, (0, 10, 1.5, "1")),
    "number": Sort({"type": "number", "multipleOf": 0.5, "exclusiveMinimum": True, "minimum": 0}, 1.5, (0, 0.3, "1")),
    "boolean": Sort({"type": "boolean"}, True, (1, "true")),
    "list": Sort(
        {"type": "array", "maxItems": 3, "minItems": 1, "items": {"type": "string", "maxLength": 3}},
        ["a", "b"],
        ([], ["a"] * 4, ["abcd"], [1], "a"),
    ),
    "set": Sort(
        {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}, ["a", "b"], (["a", "a"],)
    ),
    "keyed": Sort(
        {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {
                "type": "object",
                "required": ["name"],
                "properties": {"name": {"type": "string", "maxLength": 3}},
            },
        },
        [{"name": "a"}, {"name": "b"}],
        ([{"name": "a"}, {"name": "a"}], [{}], [{"name": "abcd"}]),
    ),
    "map": Sort(
        {"type": "object", "maxProperties": 2, "additionalProperties": {"type": "integer", "maximum": 4}},
        {"a": 1},
        ({"a": 5}, {"a": "b"}, dict.fromkeys("abc", 1)),
    ),
    "object": Sort(
        {"type": "object", "required": ["a"], "properties": {"a": {"type": "string", "maxLength": 2}}},
        {"a": "x"},
        ({}, {"a": "xyz"}, []),
    ),
    "either": Sort(
        {"type": "object", "properties": {"a": {}, "b": {}}, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}
        | {"properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
        {"a": "x"},
        ({}, {"a": "x", "b": "y"}),
    ),
    "any": Sort(
        {"type": "string", "anyOf": [{"maxLength": 2}, {"pattern": "^x"}], "not": {"enum": ["no"]}},
        "xyz",
        ("abc", "no"),
    ),
    "all": Sort({"type": "integer", "allOf": [{"minimum": 2}, {"maximum": 4}]}, 3, (1, 5)),
    "port": Sort({"x-kubernetes-int-or-string": True, "pattern": "^[a-z]+$"}, 80, (True, "A", 1.5)),
    "embedded": Sort(
        {
            "type": "object",
            "x-kubernetes-embedded-resource": True,
            "properties": {"spec": {"type": "object", "properties": {"n": {"type": "integer", "maximum": 2}}}},
        },
        {"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}, "spec": {"n": 1}},
        ({"apiVersion": "v1", "kind": "A", "spec": {"n": 3}}, {"kind": "A"}),
    ),
    "defaulted": Sort({"type": "string", "default": "ab", "maxLength": 2}, "b", ("abc",)),
    "filled": Sort(
        {"type": "object", "default": {"a": "x" * 600}, "properties": {"a": {"type": "string", "maxLength": 600}}},
        {"a": "x"},
        ({"a": "x" * 601},),
    ),
    "nested": Sort(
        {"type": "object", "properties": {"deep": {"type": "object", "properties": {"deeper": _ODD}}}},
        {"deep": {"deeper": {"p0": "abc", "p13": "abc"}}},
        ({"deep": {"deeper": {"p0": "abcd"}}}, {"deep": {"deeper": {"p13": "x" * 17}}}),
    ),
    "big": Sort(
        {
            "type": "object",
            "properties": {
                f"g{j}": {"type": "object", "properties": {f"h{i}": {"type": "string"} for i in range(8)}}
                for j in range(6)
            }
            | {"last": {"type": "string", "maxLength": 1}},
        },
        {"last": "a", "g0": {"h0": "x"}},
        ({"last": "ab"}, {"g5": {"h7": 1}}),
    ),
}
FIRM = {"mixed", "nested", "big", "either"}  # which are not given twice: they take long


class Case(NamedTuple):
    """A schema, an object that obeys it, and those that break one bound each."""

    openapi: dict[str, Any]
    good: dict[str, Any]
    bad: list[dict[str, Any]]


def case(fields: dict[str, Sort]) -> Case:
    good = {name: sort.good for name, sort in fields.items()}
    bad = [{name: value} for name, sort in fields.items() for value in sort.bad]
    spec = {"type": "object", "properties": {name: sort.schema for name, sort in fields.items()}}
    return Case({"type": "object", "properties": {"spec": spec}}, whole(good), list(map(whole, bad)))


def whole(spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "a.example.com/v1", "kind": "A", "metadata": {"name": "a"}, "spec": spec}


def narrow() -> Iterator[Case]:
    """One field of each sort, alone and in pairs."""
    names = list(SORTS)
    while True:
        for index, name in enumerate(names):
            yield case({name: SORTS[name]})
            other = names[(index + 7) % len(names)]
            yield case({name: SORTS[name], other: SORTS[other]})


def unlike(count: int) -> Iterator[Case]:
    """Many fields, each with a bound of its own."""
    fields: dict[str, Sort] = {}
    for i in range(count):
        if i % 3 == 0:
            fields[f"n{i}"] = Sort({"type": "integer", "maximum": i}, i, (i + 1,))
        else:
            fields[f"t{i}"] = Sort({"type": "string", "maxLength": i}, "x", ("x" * (i + 1),))
    while True:
        yield case(fields)


def mixed() -> Iterator[Case]:
    """Fields of every sort, each twice where it is short."""
    names = [*SORTS, *(name for name in SORTS if name not in FIRM)]
    while True:
        yield case({f"{name}{index}": SORTS[name] for index, name in enumerate(names)})


def lost(schema: Schema, one: Case) -> list[Any]:
    """What is accepted though it breaks a bound; the walk that accepts also drops nulls."""
    refused = [bad for bad in one.bad if None not in bad["spec"].values()]
    taken = [bad["spec"] for bad in one.bad if not schema.validate(bad)]
    return taken + [bad["spec"] for bad in refused if schema.accepts(copy.deepcopy(bad))]


def race(one: Case, meet: Callable[..., None], begun: bool) -> None:
    """Two threads validate, prune and fill in by fresh schemas of two versions, which share their parts.

    begun: they have seen an object.
    """
    schemas = [Schema(one.openapi, parts=parts) for parts in [SharedParts()] * 2]
    told: list[Any] = []

    def use(obj: dict[str, Any]) -> None:
        for schema in schemas:
            schema.accepts(copy.deepcopy(obj))
            told.extend(schema.validate(obj))
            schema.normalize(copy.deepcopy(obj))
        told.extend([] if schemas[0].accepts(obj) else [obj])

    if begun:
        use({"apiVersion": "a.example.com/v1", "kind": "A", "metadata": {"name": "a"}})
    backwards = whole(dict(reversed(one.good["spec"].items())))
    meet(*(partial(use, copy.deepcopy(obj)) for obj in (one.good, backwards)))
    assert told == []
    for schema in schemas:
        assert lost(schema, one) == []


@pytest.mark.parametrize(
    ("cases", "count"),
    [(narrow(), 46), (mixed(), 4), (unlike(50), 6), (unlike(600), 2)],
    ids=["narrow", "mixed", "wide", "600"],
)
def test_two_threads_that_use_a_fresh_schema_lose_no_bound(cases: Iterator[Case], count: int) -> None:
    for index, one in enumerate(islice(cases, count)):
        race(one, together, begun=index % 2 == 0)


@pytest.mark.parametrize(
    ("cases", "first", "end"),
    [
        (narrow(), 0, 46),
        (mixed(), 0, 3),
        (unlike(50), 0, 4),
        pytest.param(mixed(), 3, 8, marks=pytest.mark.slow),
        pytest.param(unlike(50), 4, 20, marks=pytest.mark.slow),
    ],
    ids=["narrow", "mixed", "wide", "more mixed", "more wide"],
)
def test_no_bound_is_lost_wherever_one_thread_interrupts_the_other(cases: Iterator[Case], first: int, end: int) -> None:
    for seed, one in enumerate(islice(cases, first, end), first):
        meet = partial(interleaved, "podless/schema/", seed=seed)
        race(one, meet, begun=seed % 4 != 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cases", "count"),
    [(narrow(), 800), (mixed(), 100), (unlike(50), 80), (unlike(600), 20)],
    ids=["narrow", "mixed", "wide", "600"],
)
def test_two_threads_that_use_a_thousand_fresh_schemas_lose_no_bound(cases: Iterator[Case], count: int) -> None:
    for index, one in enumerate(islice(cases, count)):
        race(one, together, begun=index % 2 == 0)
