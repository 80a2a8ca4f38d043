"""The compiled walk, the exact walks and a plain reading of the rules agree on random schemas and values."""

from __future__ import annotations

import copy
from contextlib import AbstractContextManager
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podless.fields.check import check_value
from podless.fields.typed import schema_shape
from podless.schema import Malformed, Schema, check, compile, defaulting, embedded, lists, prune
from podless.schema.mode import ADMIT, CHECK, FILL, NORMALIZE, PRUNE, SharedParts
from podless.schema.node import Node
from tests.conftest import tries
from tests.schema import oracle, strategies

# how much is inlined, from where on objects are walked by their fields, and bytes of a default that is written as a
# literal: the same rules hold for every choice
BUDGETS = st.sampled_from([(48, 12, 512), (1, 12, 512), (48, 1, 8), (1, 0, 8)])
SLOW = settings(max_examples=tries(100), deadline=None, suppress_health_check=list(HealthCheck))
Case = tuple[dict[str, Any], dict[str, Any]]


def within(budget: tuple[int, int, int]) -> AbstractContextManager[Any]:
    return mock.patch.multiple(compile, _INLINE_NODES=budget[0], _WIDE_PROPERTIES=budget[1], _LITERAL_BYTES=budget[2])


def plain(schema: dict[str, Any], value: Any) -> Any:
    value = oracle.nulls(oracle.pruned(value, schema, root=True), schema, root=True)
    return oracle.defaulted(value, schema, root=True)


@SLOW
@given(strategies.cases(), BUDGETS)
def test_pruning_and_defaulting_are_those_of_the_plain_rules(case: Case, budget: tuple[int, int, int]) -> None:
    schema, value = case
    wanted, got = plain(schema, value), copy.deepcopy(value)
    with within(budget):
        Schema.compile(schema).normalize(got)
    assert got == wanted


@SLOW
@given(strategies.cases() | strategies.resource_cases(), BUDGETS)
def test_the_walks_do_what_the_plain_rules_do_one_after_the_other(case: Case, budget: tuple[int, int, int]) -> None:
    schema, value = case
    with within(budget):
        _walks(schema, value)


def _walks(schema: dict[str, Any], value: dict[str, Any]) -> None:
    compiled = Schema.compile(schema)
    for _ in range(2):  # the second time functions that were compiled on the way are in place
        assert _admit(compiled, value) == _admit_exactly(Node(schema), value)


def _admit(compiled: Schema, value: dict[str, Any]) -> tuple[Any, ...]:
    """The object, the errors and the unknown fields, or why it cannot be read."""
    obj, unknown = copy.deepcopy(value), list[str]()
    try:
        return compiled.admit(obj, unknown=unknown), obj, unknown
    except Malformed as error:
        return (str(error),)


def _admit_exactly(node: Node, value: dict[str, Any]) -> tuple[Any, ...]:
    """The same by the exact walks alone."""
    obj, unknown = copy.deepcopy(value), list[str]()
    prune.prune_value(obj, node, unknown, embedded=True)
    try:
        embedded.coerce_embedded(obj, node, unknown)
    except Malformed as error:
        return (str(error),)
    defaulting.drop_nulls(obj, node, prune.META)
    defaulting.fill_value(obj, node, prune.META)
    errors = check.validate_value(obj, node) + embedded.validate_embedded(obj, node)
    return errors + lists.validate_lists(obj, node), obj, unknown


@SLOW
@given(strategies.cases(), BUDGETS)
def test_an_object_is_admitted_exactly_when_the_plain_rules_hold_it_for_valid(
    case: Case, budget: tuple[int, int, int]
) -> None:
    schema, value = case
    with within(budget):
        errors = Schema.compile(schema).admit(copy.deepcopy(value))
    assert (not errors) == oracle.valid(plain(schema, value), schema)


@SLOW
@given(strategies.cases() | strategies.resource_cases(), BUDGETS)
def test_an_object_is_accepted_only_if_it_is_valid_and_has_the_types_that_managed_fields_require(
    case: Case, budget: tuple[int, int, int]
) -> None:
    schema, value = case
    compiled, one = Schema.compile(schema), copy.deepcopy(value)
    wanted = _admit_exactly(Node(schema), value)
    with within(budget):
        accepted = compiled.accepts(one)
    if accepted:
        assert wanted == ([], one, [])
        check_value({**one, "apiVersion": "v1", "kind": "K", "metadata": {}}, schema_shape(schema), repeats=True)
    assert _admit(compiled, one) == wanted  # it finishes what the other walk has begun


INT_OR_STRING = {"x-kubernetes-int-or-string": True}
OBJECTS: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string", "default": "xyz", "maxLength": 3}}}


@pytest.mark.parametrize(
    ("change", "accepted"),
    [
        ({}, True),
        ({"a": {"type": "string", "default": "xyz", "maxLength": 2}}, False),
        ({"a": {"type": "string", "default": "x" * 1000}}, True),
        ({"a": {"type": "string", "default": "x" * 1000, "maxLength": 999}}, False),
        ({"a": {"type": "string", "default": "x" * (1 << 18)}}, False),
        ({"b": {"type": "string", "format": "date", "default": []}}, False),
        ({"b": {"type": "object", "default": {"c": 1}, "properties": {"c": {"type": "number"}}}}, True),
        ({"b": {"type": "object", "default": {"c": None}, "properties": {"c": INT_OR_STRING}}}, False),
        ({"metadata": {"type": "object"}}, True),
        ({"metadata": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 9}}}}, False),
        ({f"f{place}": {"type": "integer", "default": 1} for place in range(20)}, True),
        ({f"f{place}": {"type": "integer", "default": 1, "minimum": place} for place in range(14)}, False),
    ],
)
def test_defaults_that_are_not_certainly_valid_and_rules_for_metadata_leave_an_object_undecided(
    change: dict[str, Any], accepted: bool
) -> None:
    schema = Schema.compile({**OBJECTS, "properties": {**OBJECTS["properties"], **change}})
    obj: dict[str, Any] = {"apiVersion": "g/v1", "kind": "K", "metadata": {}}
    assert schema.accepts(obj) == accepted


@pytest.mark.parametrize("held", [{"c": None}, {"c": None, "d": "x" * 1000}])
def test_a_null_in_a_default_stays_when_the_exact_walks_finish_what_a_walk_has_begun(held: dict[str, Any]) -> None:
    fields = {"c": INT_OR_STRING, "d": {"type": "string"}}
    part = {"type": "object", "default": held, "properties": fields}
    names = {"type": "object", "additionalProperties": {"type": "string"}}
    spec = {"type": "object", "properties": {"a": part, "names": names, "b": {"type": "object", "properties": {}}}}
    schema = Schema.compile({"type": "object", "properties": {"spec": spec}})
    unknown: list[str] = []
    obj: dict[str, Any] = {"spec": {"b": {"unknown": 1}}}
    schema.normalize(obj, unknown=unknown)
    assert (obj, unknown) == ({"spec": {"a": held, "b": {}}}, ["spec.b.unknown"])
    obj = {"spec": {"names": {"x": None}}}
    schema.default(obj)
    assert obj == {"spec": {"a": held, "names": {}}}


@SLOW
@given(strategies.cases())
def test_the_compiled_check_says_yes_only_when_there_are_no_errors(case: Case) -> None:
    schema, value = case
    node = Node(schema)
    if compile.NodeFunction(node, CHECK, SharedParts()).run(value):
        assert check.validate_value(value, node) + lists.validate_lists(value, node) == []


@SLOW
@given(strategies.cases(), st.data())
def test_a_walk_finished_by_the_exact_walks_ends_where_they_alone_would(case: Case, data: st.DataObject) -> None:
    schema, value = case
    begun, fresh = copy.deepcopy(value), copy.deepcopy(value)
    node = Node(schema)
    mode = data.draw(st.sampled_from([NORMALIZE, PRUNE, FILL, ADMIT]))
    defaulting.run_bounded(compile.NodeFunction(node, mode, SharedParts()).run, begun)
    for obj in (begun, fresh):
        prune.prune_value(obj, node, embedded=True)
        defaulting.drop_nulls(obj, node, prune.META)
        defaulting.fill_value(obj, node, prune.META)
    assert begun == fresh


@SLOW
@given(strategies.cases(), st.data())
def test_an_update_is_held_only_to_what_it_changes(case: Case, data: st.DataObject) -> None:
    schema, value = case
    other = data.draw(strategies.fitting(schema))
    part = data.draw(st.sampled_from(["spec", "status", "data"]))
    old, new = plain(schema, value), plain(schema, value)
    if part in other:
        new = plain(schema, {**value, part: other[part]})
    node = Node(schema)
    wanted = oracle.holds_on_update(new, old, schema) and (
        not lists.validate_lists(new, node) or lists.validate_lists(old, node)
    )
    assert (not Schema.compile(schema).validate(copy.deepcopy(new), old=old)) == bool(wanted)
