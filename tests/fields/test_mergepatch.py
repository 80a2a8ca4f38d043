"""Merge patch."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.fields import patches
from podless.meta.errors import BadRequest

KEYS = st.sampled_from("abc")
VALUES = st.recursive(
    st.none() | st.integers(0, 3), lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=3)
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=3)


@pytest.mark.parametrize(
    ("document", "patch", "merged"),
    [
        ({"m": {"x": 1, "y": {"z": 2}}}, {"m": {"y": {"w": 3}, "x": None}}, {"m": {"y": {"z": 2, "w": 3}}}),
        ({"l": [1, 2]}, {"l": [4]}, {"l": [4]}),
        ({"m": {"x": 1}, "s": "t"}, {"m": "s", "s": {"m": 1}}, {"m": "s", "s": {"m": 1}}),
        ({}, {"none": None, "new": {"inner": None, "kept": 1}}, {"new": {"kept": 1}}),
        ({"l": [4]}, {"l": [None, {"a": None}]}, {"l": [None, {}]}),
        ({"l": {"x": 1}}, {"l": [None, {"a": None}]}, {"l": [None, {"a": None}]}),
        ({"n": None}, {"n": {"a": None}}, {"n": {}}),
    ],
)
def test_merging(document: dict[str, Any], patch: dict[str, Any], merged: dict[str, Any]) -> None:
    assert patches.apply_merge_patch(document, patch) == merged


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        (None, "Invalid JSON Patch"),
        ([], "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"),
        ("x", "error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}"),
        (5, "error decoding patch: json: cannot unmarshal number into Go value of type map[string]interface {}"),
        (True, "error decoding patch: json: cannot unmarshal bool into Go value of type map[string]interface {}"),
    ],
)
def test_what_is_no_patch(patch: Any, message: str) -> None:
    with pytest.raises(BadRequest) as caught:
        patches.check_merge_patch(patch)
    assert caught.value.message == message


def by_the_rfc(target: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, item in patch.items():
        if item is None:
            merged.pop(key, None)
        else:
            merged[key] = by_the_rfc(merged.get(key), item)
    return merged


def without_nulls_in_lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_nulls_in_lists(item) for key, item in value.items()}
    return [] if isinstance(value, list) else value


@given(OBJECTS, OBJECTS)
def test_patches_do_what_the_rfc_says(document: dict[str, Any], patch: dict[str, Any]) -> None:
    patch = without_nulls_in_lists(patch)
    before = copy.deepcopy((document, patch))
    assert patches.apply_merge_patch(document, patch) == by_the_rfc(document, patch)
    assert (document, patch) == before


@given(OBJECTS, OBJECTS)
def test_a_patch_changes_nothing_the_second_time(document: dict[str, Any], patch: dict[str, Any]) -> None:
    patch = without_nulls_in_lists(patch)
    once = patches.apply_merge_patch(document, patch)
    assert patches.apply_merge_patch(once, patch) == once


@given(OBJECTS)
def test_an_empty_patch_changes_nothing(document: dict[str, Any]) -> None:
    assert patches.apply_merge_patch(document, {}) == document


@pytest.mark.parametrize("patch", [{}, {"a": {"b": 1}}, {"a": {"d": None}, "c": "x"}])
def test_a_patch_that_changes_nothing_gives_the_document_itself(patch: dict[str, Any]) -> None:
    document = {"a": {"b": 1}, "c": "x"}
    assert patches.apply_merge_patch(document, patch) is document


@pytest.mark.parametrize(("old", "new"), [(1, True), (0, False), (0, -0.0), (1, 1.0), ([1], [True])])
def test_an_equal_value_of_another_type_is_a_change(old: Any, new: Any) -> None:
    assert repr(patches.apply_merge_patch({"a": {"b": old}}, {"a": {"b": new}})) == repr({"a": {"b": new}})


def test_unchanged_parts_are_shared() -> None:
    document = {"a": {"b": 1}, "c": {"d": 1}}
    patched = patches.apply_merge_patch(document, {"a": {"b": 1}, "c": {"d": 2}})
    assert patched == {"a": {"b": 1}, "c": {"d": 2}}
    assert patched["a"] is document["a"]
