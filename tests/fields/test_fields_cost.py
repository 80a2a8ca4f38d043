"""What merging and patching cost: no more than n log n, whatever is sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from podless.fields import jsonpatch, managers, patches, strategic
from podless.fields.collect import collect_created
from podless.fields.combine import merge_values
from podless.fields.compare import compare_values
from podless.fields.merge import WriteTarget
from podless.fields.sets import parse_set
from podless.fields.typed import schema_shape
from podless.meta.errors import APIError
from podless.structs.structfiles import load_struct
from tests.cost import assert_linear, stretch

SERVICE = load_struct("core/v1", "Service")

pytestmark = pytest.mark.slow

PORTS = strategic.make_merge_table(SERVICE)

SET = {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}
MAP = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    "items": {"type": "object", "properties": {"name": {"type": "string"}, "n": {"type": "integer"}}},
}
SCHEMA = {"type": "object", "properties": {"set": SET, "map": MAP}}
SHAPE = schema_shape(SCHEMA)
SHAPES = {"g/v1": SHAPE, "g/v2": SHAPE}
PLACE = WriteTarget(version="g/v1", shapes=SHAPES.get, blank={"apiVersion": "g/v1", "metadata": {}})
NOW = "2026-01-01T00:00:00Z"


def thing(size: int, start: int = 0) -> dict[str, Any]:
    numbers = range(start, start + size)
    lists = {"set": [f"i{n}" for n in numbers], "map": [{"name": f"i{n}", "n": n} for n in numbers]}
    return {"apiVersion": "g/v1", "kind": "T", "metadata": {"name": "x"}, **lists}


def entry(number: int, fields: Any, version: str = "g/v1") -> dict[str, Any]:
    return {
        "manager": f"m{number}",
        "operation": "Update",
        "apiVersion": version,
        "time": NOW,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }


@pytest.mark.parametrize("shift", [0, 250])
def test_lists_are_merged_and_compared_in_proportion(shift: int) -> None:
    assert_linear(lambda pair: merge_values(*pair, SHAPE), lambda size: (thing(size), thing(size, shift)))
    assert_linear(lambda pair: compare_values(*pair, SHAPE), lambda size: (thing(size), thing(size, shift)))
    assert_linear(
        lambda pair: merge_values(*pair, SHAPE), lambda size: (thing(size), {"set": thing(size)["set"][::-1]})
    )


def test_shapes_are_charged_when_they_are_made() -> None:
    """The first object of a definition makes them all. A slice ends after 1,024 steps at the earliest."""
    part = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "array", "items": {}}}}
    names = [f"f{number}" for number in range(4000)]
    spec = {"type": "object", "properties": dict.fromkeys(names, part)}
    shape = schema_shape({"type": "object", "properties": {"spec": spec}})
    obj = {"apiVersion": "g/v1", "kind": "T", "metadata": {"name": "x"}, "spec": {n: {"a": "b"} for n in names}}
    lines = stretch(lambda: collect_created(obj, shape), 1024)
    assert lines < 60 * len(names), "more than the walk over the object takes, which is charged at once"


def test_apply_costs_what_is_applied() -> None:
    def twice(size: int) -> None:
        first = managers.apply_object(PLACE, None, thing(size), "a", False, NOW)
        managers.apply_object(PLACE, first, thing(size, 100), "a", True, NOW)
        managers.apply_object(PLACE, first, thing(size, 100), "b", True, NOW)

    assert_linear(twice, lambda size: size, 200)


def test_a_large_set_is_applied_at_all() -> None:
    """A hundred thousand items would take minutes if each were searched for, or moved the others."""
    first = managers.apply_object(PLACE, None, {**thing(0), "set": [f"i{n}" for n in range(100_000)]}, "a", False, NOW)
    applied = {**thing(0), "set": [f"i{n}" for n in range(100_000)]}
    assert len(managers.apply_object(PLACE, first, applied, "b", False, NOW)["set"]) == 100_000


def test_owners_are_as_many_as_a_client_sends() -> None:
    def updated(size: int) -> None:
        old = thing(1)
        sent = [entry(n, {f"f:x{n}": {}, "f:map": {f'k:{{"name":"i{n}"}}': {"f:n": {}}}}) for n in range(size)]
        old["metadata"]["managedFields"] = sent
        new = {**thing(2), "metadata": {"name": "x", "managedFields": sent}}
        managers.update_managed_fields(PLACE, old, new, "me", NOW)
        managers.apply_object(PLACE, old, {"apiVersion": "g/v1", "kind": "T", "set": ["a"]}, "m0", True, NOW)

    assert_linear(updated, lambda size: size, 100)


def test_field_sets_with_many_spellings_of_one_element() -> None:
    assert_linear(parse_set, lambda size: {f'k:{{"n":{" " * n}1}}': {f"f:{n}": {}} for n in range(size)}, 100)


@pytest.mark.parametrize("element", ["i:" + "1" * 5000, "i:x", "i: 1", "i:1_0", "i:\u0663", "k:[]", "v:", "x"])
def test_what_is_no_element_is_told_as_such(element: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_set({element: {}})


STRATEGIC: dict[str, Callable[[int], Any]] = {
    "delete": lambda size: {"spec": {"ports": [{"port": n, "$patch": "delete"} for n in range(size)]}},
    "merge": lambda size: {"spec": {"ports": [{"port": n, "x": 1} for n in range(size)]}},
    "retain": lambda size: {"$retainKeys": [f"k{n}" for n in range(size)], **{f"k{n}": 1 for n in range(size)}},
    "orders": lambda size: {f"$setElementOrder/l{n}": ["a"] for n in range(size)},
    "order": lambda size: {"spec": {"$setElementOrder/ports": [{"port": n} for n in range(size)]}},
    "primitives": lambda size: {"metadata": {"$deleteFromPrimitiveList/finalizers": [str(n) for n in range(size)]}},
}


@pytest.mark.parametrize("form", STRATEGIC)
def test_strategic_patches(form: str) -> None:
    def document(size: int) -> dict[str, Any]:
        ports = [{"port": n} for n in range(size)]
        return {"metadata": {"finalizers": [str(n) for n in range(size)]}, "spec": {"ports": ports}}

    assert_linear(
        lambda given: strategic.apply_strategic_patch(*given, PORTS),
        lambda size: (document(size), STRATEGIC[form](size)),
        refused=(APIError,),
    )


def test_deleting_many_items_leaves_the_others() -> None:
    document = {"spec": {"ports": [{"port": n} for n in range(9)]}}
    patch = {"spec": {"ports": [{"port": n, "$patch": "delete"} for n in range(0, 9, 2)]}}
    assert strategic.apply_strategic_patch(document, patch, PORTS) == {
        "spec": {"ports": [{"port": n} for n in range(1, 9, 2)]}
    }


OPERATIONS = {
    "move": '{"op":"move","from":"/l/0","path":"/l/-"}',
    "copy": '{"op":"copy","from":"/l/0","path":"/l/-"}',
    "test": '{"op":"test","path":"/l/0","value":{"a":[1,2]}}',
    "add": '{"op":"add","path":"/l/0","value":{"a":1}}',
    "remove": '{"op":"remove","path":"/l/0"}',
    "none": '{"op":"remove","path":"/x/0"}',
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_json_patches(operation: str) -> None:
    assert_linear(
        lambda given: jsonpatch.apply_json_patch(*given),
        lambda size: ({"l": [{"a": [1, 2]}] * size}, f"[{','.join([OPERATIONS[operation]] * size)}]".encode()),
        refused=(APIError,),
    )


def test_merge_patches() -> None:
    assert_linear(
        lambda given: patches.apply_merge_patch(*given),
        lambda size: ({f"k{n}": {"a": 1} for n in range(size)}, {f"k{n}": {"a": None, "b": [{}]} for n in range(size)}),
    )
