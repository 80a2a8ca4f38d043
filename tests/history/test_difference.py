"""Differences and blame of objects."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.cli.history.blame import blame_object
from podless.history.difference import ABSENT, Step, compare_objects, is_same, strip_object

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "a", "b"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "spec", "a/b", "key"]), inner, max_size=3)
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from(["spec", "status", "data"]), VALUES, max_size=3)


def find(obj: Any, path: tuple[Step, ...]) -> Any:
    for step in path:
        if isinstance(step, tuple):
            [obj] = [item for item in obj if is_same(item.get(step[0]), step[1])] or [ABSENT]
        elif isinstance(step, int):
            obj = obj[step] if isinstance(obj, list) and step < len(obj) else ABSENT
        else:
            obj = obj.get(step, ABSENT) if isinstance(obj, dict) else ABSENT
        if obj is ABSENT:
            return ABSENT
    return obj


@given(OBJECTS, OBJECTS)
def test_a_difference_has_the_values_of_both_states_and_none_is_missing(before: Any, after: Any) -> None:
    found = compare_objects(before, after)
    old, new = strip_object(before), strip_object(after)
    assert bool(found) == (not is_same(old, new))
    for one in found:
        assert is_same(find(old, one.path), one.before) or find(old, one.path) is one.before
        assert is_same(find(new, one.path), one.after) or find(new, one.path) is one.after


@given(st.lists(OBJECTS, min_size=1, max_size=5))
def test_blame_shows_each_field_as_it_is_and_names_a_change_since_which_it_was_so(states: list[Any]) -> None:
    found = blame_object(enumerate(states))
    last = strip_object(states[-1])
    for one in found:
        assert is_same(find(last, one.path), one.value)
        for state in states[one.change :]:
            value = find(strip_object(state), one.path) if plain(one.path) else one.value
            assert is_same(value, one.value)
        if one.change and plain(one.path):
            assert not is_same(find(strip_object(states[one.change - 1]), one.path), one.value)


def plain(path: tuple[Step, ...]) -> bool:
    """Whether a path leads through no list, whose items may be told apart in another way before."""
    return all(isinstance(step, str) for step in path)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"spec": {"a": 1}}, {"spec": {"a": True}}, ["spec.a"]),
        ({"metadata": {"labels": {"a/b": "1"}}}, {"metadata": {"labels": {}}}, ['metadata.labels["a/b"]']),
        ({"c": [{"name": "x", "v": 1}, {"name": "y"}]}, {"c": [{"name": "y"}, {"name": "x", "v": 2}]}, ["c[name=x].v"]),
        ({"c": [{"name": "x"}, {"name": "y"}]}, {"c": [{"name": "y"}, {"name": "x"}]}, ["c"]),
        ({"c": [1, 2]}, {"c": [1, 3, 4]}, ["c[1]", "c[2]"]),
        ({"metadata": {"resourceVersion": "1"}}, {"metadata": {"resourceVersion": "2", "managedFields": []}}, []),
    ],
)
def test_paths_are_readable(before: Any, after: Any, expected: list[str]) -> None:
    assert [one.field for one in compare_objects(before, after)] == expected
