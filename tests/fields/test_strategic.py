"""Strategic merge patch."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from podless.codec import gotext
from podless.fields import patches, strategic
from podless.meta.errors import APIError, BadRequest, Internal, Unprocessable
from podless.structs.structfiles import load_struct

CONFIG_MAP = load_struct("core/v1", "ConfigMap")
CUSTOM_RESOURCE_DEFINITION = load_struct("apiextensions/v1", "CustomResourceDefinition")
VALIDATING_WEBHOOK_CONFIGURATION = load_struct("admissionregistration/v1", "ValidatingWebhookConfiguration")

TABLE = {"items": "name", "items.ports": "port", "set": ""}


def apply(document: dict[str, Any], patch: Any) -> dict[str, Any]:
    before = copy.deepcopy(document)
    try:
        return strategic.apply_strategic_patch(document, copy.deepcopy(patch), TABLE)
    finally:
        assert document == before


def named(*names: str, **more: Any) -> list[dict[str, Any]]:
    return [{"name": name} | more for name in names]


@pytest.mark.parametrize(
    ("document", "patch", "merged"),
    [
        ({"data": {"a": "1", "b": "2"}}, {"data": {"b": None, "c": "3"}}, {"data": {"a": "1", "c": "3"}}),
        ({"data": {"a": "1"}}, {"data": {"$patch": "replace", "b": "2"}}, {"data": {"b": "2"}}),
        ({"data": {"a": "1"}}, {"data": {"$patch": "delete"}}, {"data": {}}),
        ({"a": 1}, {"$patch": "replace", "b": 2}, {"b": 2}),
        ({"a": 1}, None, {"a": 1}),
        ({"plain": [1, 2]}, {"plain": [3]}, {"plain": [3]}),
        (
            {},
            {"new": {"a": None, "b": {"$patch": "delete"}, "c": [{"$patch": "delete"}, {"d": None}]}},
            {"new": {"c": [{}]}},
        ),
        ({}, {"new": {"$patch": "replace"}}, {}),
        ({"data": {"a": "1"}}, {"data": "text"}, {"data": "text"}),
        # lists of plain values: a set, new ones in front of what they do not know
        ({"set": ["a"]}, {"set": ["b"]}, {"set": ["b", "a"]}),
        ({"set": ["a", "b", "c"]}, {"set": ["c", "d", "a"]}, {"set": ["b", "c", "d", "a"]}),
        ({"set": ["a", "b"]}, {"$deleteFromPrimitiveList/set": ["a", "x"]}, {"set": ["b"]}),
        ({"plain": ["a", "b"]}, {"$deleteFromPrimitiveList/plain": ["a"]}, {"plain": ["b"]}),
        ({}, {"$deleteFromPrimitiveList/set": ["a"]}, {}),
        ({"set": ["a"]}, {"set": None}, {}),
        # lists of objects, by their key
        ({"items": named("a", x=1)}, {"items": named("a", y=2)}, {"items": named("a", x=1, y=2)}),
        ({"items": named("a")}, {"items": named("b")}, {"items": named("b", "a")}),
        ({"items": named("a", "b")}, {"items": [{"name": "a", "$patch": "delete"}]}, {"items": named("b")}),
        ({"items": named("a", "b")}, {"items": [{"$patch": "replace"}, {"name": "c"}]}, {"items": named("c")}),
        (
            {"items": named("a", ports=[{"port": 1}])},
            {"items": named("a", ports=[{"port": 2}])},
            {"items": named("a", ports=[{"port": 2}, {"port": 1}])},
        ),
        ({"items": named("a", x=1, y=2)}, {"items": [{"name": "a", "y": None}]}, {"items": named("a", x=1)}),
        ({"items": []}, {"items": []}, {"items": []}),
        # order
        ({"set": ["a", "b", "c"]}, {"$setElementOrder/set": ["c", "a"]}, {"set": ["b", "c", "a"]}),
        (
            {"items": named("a", "b")},
            {"$setElementOrder/items": named("b", "c", "a"), "items": named("c")},
            {"items": named("b", "c", "a")},
        ),
        ({}, {"$setElementOrder/items": named("b", "a"), "items": named("b", "a")}, {"items": named("b", "a")}),
        ({}, {"$setElementOrder/items": named("a")}, {}),
        # retained keys
        ({"u": {"a": 1, "b": 2}}, {"u": {"$retainKeys": ["a", "c"], "c": 3, "b": None}}, {"u": {"a": 1, "c": 3}}),
    ],
)
def test_merging(document: dict[str, Any], patch: Any, merged: dict[str, Any]) -> None:
    assert apply(document, patch) == merged


@pytest.mark.parametrize(
    ("document", "patch", "error", "message"),
    [
        ({}, [], BadRequest, "json: cannot unmarshal array into Go value of type map[string]interface {}"),
        ({"d": {}}, {"d": {"$patch": "frob"}}, Internal, "unknown patch type: frob in map: map[$patch:frob]"),
        (
            {"items": named("a")},
            {"items": [{"$patch": "frob"}]},
            Internal,
            "unknown patch type: frob in map: map[$patch:frob]",
        ),
        (
            {"items": named("a")},
            {"items": [{"x": 1}]},
            Internal,
            "map: map[x:1] does not contain declared merge key: name",
        ),
        (
            {"items": named("a")},
            {"items": [{"$patch": "delete"}]},
            Internal,
            "map: map[$patch:delete] does not contain declared merge key: name",
        ),
        (
            {"items": named("a")},
            {"items": [{"$patch": "merge"}]},
            Internal,
            "merging lists cannot yet be specified in the patch",
        ),
        (
            {"items": named("a")},
            {"items": ["a"]},
            Internal,
            "list element types are not identical: [[map[name:a]] [a]]",
        ),
        (
            {"set": [["a"]]},
            {"set": [["b"]]},
            Unprocessable,
            "the server rejected our request due to an error in our request",
        ),
        ({"u": {}}, {"u": {"$retainKeys": ["a"], "b": 1}}, BadRequest, "invalid patch format of retainKeys"),
        ({"set": ["a"]}, {"$setElementOrder/set": "a"}, Internal, "expected a []interface {}, but received a string"),
        (
            {"plain": [{"a": 1}]},
            {"plain": [], "$setElementOrder/plain": []},
            Internal,
            "map: map[a:1] does not contain declared merge key: ",
        ),
        (
            {"set": ["a"]},
            {"$setElementOrder/set": ["a", "b"], "set": ["b", "a"]},
            Internal,
            "The order in patch list:\n[b a]\n doesn't match $setElementOrder list:\n[a b]\n",
        ),
    ],
)
def test_what_is_refused(document: dict[str, Any], patch: Any, error: type[APIError], message: str) -> None:
    with pytest.raises(error) as caught:
        apply(document, patch)
    assert caught.value.message == message


def test_tables_of_kinds() -> None:
    document = {"metadata": {"ownerReferences": [{"uid": "1"}], "finalizers": ["a"]}, "webhooks": named("w", x=1)}
    patch = {"metadata": {"ownerReferences": [{"uid": "2"}], "finalizers": ["b"]}, "webhooks": named("w", y=2)}
    metadata = {"ownerReferences": [{"uid": "2"}, {"uid": "1"}], "finalizers": ["b", "a"]}
    assert strategic.apply_strategic_patch(document, patch, strategic.make_merge_table(CONFIG_MAP)) == {
        "metadata": metadata,
        "webhooks": named("w", y=2),
    }
    merged = strategic.apply_strategic_patch(
        document, patch, strategic.make_merge_table(VALIDATING_WEBHOOK_CONFIGURATION)
    )
    assert merged == {"metadata": metadata, "webhooks": named("w", x=1, y=2)}
    rules = {"spec": {"versions": [{"schema": {"x-kubernetes-validations": [{"rule": "a"}]}}]}}
    table = strategic.make_merge_table(CUSTOM_RESOURCE_DEFINITION)
    assert strategic.apply_strategic_patch(rules, {"spec": {"versions": []}}, table) == {"spec": {"versions": []}}
    assert {name: key for name, key in table.items() if name.startswith("*")} == {"*.x-kubernetes-validations": "rule"}


def test_values_as_go_prints_them() -> None:
    assert gotext.format_plain({"b": ["x", 1, None, True], "a": {"c": 1.5}}) == "map[a:map[c:1.5] b:[x 1 <nil> true]]"


KEYS = st.sampled_from(
    [
        "a",
        "set",
        "items",
        "name",
        "$patch",
        "$retainKeys",
        "$setElementOrder/set",
        "$setElementOrder/items",
        "$deleteFromPrimitiveList/set",
        "items.x",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 1) | st.sampled_from(["a", "name", "replace", "delete"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
)


@example({"items": []}, {"items": [None]})
@given(st.dictionaries(KEYS, VALUES, max_size=3), st.dictionaries(KEYS, VALUES, max_size=3))
def test_hostile_patches_raise_only_declared_errors(document: dict[str, Any], patch: dict[str, Any]) -> None:
    try:
        apply(document, patch)
    except (BadRequest, Internal, Unprocessable):
        return


@given(st.lists(st.sampled_from("abcdef"), unique=True), st.lists(st.sampled_from("abcdef"), unique=True))
def test_sets_keep_both_orders(old: list[str], new: list[str]) -> None:
    merged = apply({"set": old}, {"set": new})["set"]
    assert set(merged) == {*old, *new}
    assert [item for item in merged if item in new] == new
    assert [item for item in merged if item not in new] == [item for item in old if item not in new]


def whole(names: list[str], *, nulls: bool) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with plain fields and one inside; nulls: where a patch deletes."""
    plain: st.SearchStrategy[Any] = st.integers(0, 2) | st.none() if nulls else st.integers(0, 2)
    inner = st.dictionaries(st.sampled_from("xyz"), plain, max_size=2)
    return st.fixed_dictionaries({}, optional={**dict.fromkeys(names, plain), "map": inner})


def keyed(key: str, items: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Lists of objects that have keys of their own."""
    item = st.tuples(st.sampled_from("abc"), items).map(lambda pair: {key: pair[0], **pair[1]})
    return st.lists(item, max_size=3, unique_by=lambda one: one[key])


def objects(*, nulls: bool) -> st.SearchStrategy[dict[str, Any]]:
    ports = st.fixed_dictionaries({}, optional={"ports": keyed("port", whole(["v"], nulls=nulls))})
    item = st.tuples(whole(["v", "w"], nulls=nulls), ports).map(lambda pair: pair[0] | pair[1])
    listed = {"items": keyed("name", item), "set": st.lists(st.sampled_from("abc"), unique=True, max_size=3)}
    plain = st.fixed_dictionaries({}, optional={**listed, "other": st.lists(st.integers(0, 2), max_size=2)})
    return st.tuples(whole(["v"], nulls=nulls), plain).map(lambda pair: pair[0] | pair[1])


def modelled(value: Any, path: str = "") -> Any:
    """Lists that are merged as objects of what they are merged by: a merge patch is all that they need then."""
    if isinstance(value, dict):
        return {name: modelled(item, f"{path}.{name}" if path else name) for name, item in value.items()}
    if not isinstance(value, list) or path not in TABLE:
        return value
    key = TABLE[path]
    return {str(item[key] if key else item): modelled(item, path) for item in value}


def settled(value: Any) -> Any:
    """Without the nulls of new items, which go when the object is read."""
    if isinstance(value, dict):
        return {name: settled(item) for name, item in value.items() if item is not None}
    return [settled(item) for item in value] if isinstance(value, list) else value


@given(objects(nulls=False), objects(nulls=True))
def test_merging_is_a_merge_patch_of_lists_by_their_keys(document: dict[str, Any], patch: dict[str, Any]) -> None:
    merged = settled(apply(document, patch))
    assert modelled(merged) == settled(patches.apply_merge_patch(modelled(document), modelled(patch)))
    assert settled(apply(merged, patch)) == merged


def test_a_directive_that_is_null_is_none_where_nothing_is_merged() -> None:
    assert apply({}, {"a": {"$patch": None, "b": 1}}) == {"a": {"b": 1}}


@pytest.mark.parametrize(("directive", "shown"), [(None, "%!s(<nil>)"), (1, "%!s(int64=1)"), ("x", "x")])
def test_unknown_directives_are_told_as_go_prints_texts(directive: Any, shown: str) -> None:
    with pytest.raises(Internal) as raised:
        apply({"a": {}}, {"a": {"$patch": directive}})
    assert raised.value.message.startswith(f"unknown patch type: {shown} in map: ")


def test_the_order_of_a_list_that_the_kind_does_not_have() -> None:
    table = strategic.make_merge_table(VALIDATING_WEBHOOK_CONFIGURATION)
    with pytest.raises(Internal) as raised:
        strategic.apply_strategic_patch({"webhooks": []}, {"$setElementOrder/usages": [], "usages": []}, table)
    wanted = 'unable to find api field in struct ValidatingWebhookConfiguration for the json field "usages"'
    assert raised.value.message == wanted
