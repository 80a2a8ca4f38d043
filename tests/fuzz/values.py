"""Strategies: JSON of all kinds, mutations of sound objects, and texts of small languages."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NAMES = st.sampled_from(["a", "b-c", "", "A", "x" * 300, ".", "..", "a/b", "é", "kube-system", "0"])
NUMBERS = st.sampled_from([0, 1, -1, 2**31, 2**63 - 1, 2**63, 2**64, 10**30, 0.5, -0.0, 1e300, 1e-300])
SCALARS = st.none() | st.booleans() | NUMBERS | NAMES | TEXT
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | TEXT, inner, max_size=3), max_leaves=8
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all parts of a value."""
    found = [path]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += places(item, (*path, key))
    return found


def mutated(value: Any, changes: list[tuple[int, str, Any]]) -> Any:
    """A value with parts replaced, taken away or added."""
    top = [copy.deepcopy(value)]
    for at, how, new in changes:
        paths = places(top[0])
        path = (0, *paths[at % len(paths)])
        holder: Any = top
        for step in path[:-1]:
            holder = holder[step]
        if how == "replace" or not isinstance(holder[path[-1]], dict | list):
            holder[path[-1]] = new
        elif isinstance(holder[path[-1]], dict):
            holder[path[-1]][str(new)[:20]] = new
        else:
            holder[path[-1]].append(new)
    return top[0]


def mutations(value: Any) -> st.SearchStrategy[Any]:
    change = st.tuples(st.integers(0, 400), st.sampled_from(["replace", "add"]), JSON)
    return st.builds(mutated, st.just(value), st.lists(change, min_size=1, max_size=3))


def language(*words: str) -> st.SearchStrategy[str]:
    """Texts of the words of a small language, with now and then something else."""
    return st.lists(st.sampled_from(words) | TEXT, max_size=10).map("".join)
