"""Three-way patches: what kubectl's client-side apply sends, and what a server makes of it."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from podless.apis.catalog import ALL
from podless.fields.patches import apply_merge_patch
from podless.fields.strategic import apply_strategic_patch, make_merge_table
from podless.plan.threeway import annotate_applied, make_patch, read_last_applied

STRUCT = next(kind.struct for kind in ALL if kind.plural == "deployments" and kind.struct is not None)
TABLE = make_merge_table(STRUCT)


def deployment(*containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {"spec": {"template": {"spec": {"containers": list(containers), **spec}}}}


def test_fields_of_others_stay() -> None:
    original, modified = {"spec": {"a": 1, "b": 2}}, {"spec": {"a": 3}}
    current = {"spec": {"a": 1, "b": 2, "c": 4}, "status": {"x": 1}}
    assert make_patch(original, modified, current, None) == {"spec": {"a": 3, "b": None}}


def test_nothing_to_do_is_an_empty_patch() -> None:
    assert make_patch({"a": 1}, {"a": 1}, {"a": 1, "b": 2}, None) == {}
    one = deployment({"name": "a", "image": "i"})
    assert make_patch(one, one, one, STRUCT) == {}


def test_a_container_is_taken_out_by_its_name() -> None:
    old = deployment({"name": "a", "image": "1"}, {"name": "b", "image": "1"})
    new = deployment({"name": "a", "image": "2"})
    live = deployment({"name": "a", "image": "1"}, {"name": "b", "image": "1"}, {"name": "injected", "image": "9"})
    patch = make_patch(old, new, live, STRUCT)
    containers = patch["spec"]["template"]["spec"]["containers"]
    assert {"name": "b", "$patch": "delete"} in containers
    assert {"name": "a", "image": "2"} in containers
    made = apply_strategic_patch(live, patch, TABLE)
    assert made["spec"]["template"]["spec"]["containers"] == [
        {"name": "a", "image": "2"},
        {"name": "injected", "image": "9"},
    ]


def test_a_strategy_keeps_its_keys() -> None:
    old = {"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}}
    new = {"spec": {"strategy": {"type": "Recreate"}}}
    patch = make_patch({}, new, old, STRUCT)
    assert patch["spec"]["strategy"]["$retainKeys"] == ["type"]
    assert apply_strategic_patch(old, patch, TABLE)["spec"]["strategy"] == {"type": "Recreate"}


def test_the_record_is_of_the_object_without_itself() -> None:
    once = annotate_applied({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})
    assert annotate_applied(once) == once
    assert read_last_applied(once) == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"annotations": {}, "name": "a"},
    }


values = st.recursive(
    st.integers(0, 3) | st.text("ab", max_size=2) | st.booleans(),
    lambda inner: st.dictionaries(st.sampled_from("abcd"), inner, max_size=3) | st.lists(inner, max_size=2),
    max_leaves=8,
)
objects = st.dictionaries(st.sampled_from("abcd"), values, max_size=4)


@given(objects, objects)
def test_the_patched_object_has_all_that_is_wanted(original: dict[str, Any], modified: dict[str, Any]) -> None:
    """Where nobody else writes, an apply makes an object what it is to be."""
    patch = make_patch(original, modified, original, None)
    assert apply_merge_patch(original, patch) == modified


containers = st.lists(
    st.fixed_dictionaries({"name": st.sampled_from("abcd")}, optional={"image": st.sampled_from("xy")}),
    max_size=4,
    unique_by=lambda one: one["name"],
)


@given(containers, containers)
def test_lists_become_what_is_wanted(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> None:
    old, new = deployment(*before), deployment(*after)
    patch = make_patch(old, new, old, STRUCT)
    assert apply_strategic_patch(old, patch, TABLE) == new
