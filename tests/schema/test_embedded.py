"""Embedded resources: the quick look and the exact one agree."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from podless.schema import Malformed, embedded
from podless.schema.node import Node
from tests.conftest import tries

NODE = Node({"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True})
WORDS = st.sampled_from(
    [
        "",
        "a",
        "A",
        "v1",
        "a/v1",
        "a/b/c",
        "Pod",
        "pod-x",
        "-a",
        "a_b",
        "a.b",
        "a/b",
        "x" * 63,
        "x" * 64,
        "x" * 300,
        "é",
        "..",
        "a\n",
    ]
)
PAIRS = st.dictionaries(WORDS | st.just("example.com/a") | st.just("E.com/a"), WORDS | st.just(1), max_size=2)
META = st.fixed_dictionaries(
    {},
    optional={
        "name": WORDS | st.none(),
        "namespace": WORDS,
        "labels": PAIRS,
        "annotations": PAIRS,
        "creationTimestamp": st.none() | st.just("2020-01-01T00:00:00Z"),
        "finalizers": st.lists(WORDS, max_size=1),
        "other": st.just(1),
    },
)
RESOURCES = st.fixed_dictionaries(
    {}, optional={"apiVersion": WORDS | st.just(1), "kind": WORDS, "metadata": META | WORDS}
)


@settings(max_examples=tries(400), deadline=None)
@given(RESOURCES)
def test_what_looks_clean_is_neither_changed_nor_faulted(value: dict[str, Any]) -> None:
    if embedded.is_clean(value):
        after = copy.deepcopy(value)
        embedded.coerce_embedded(after, NODE)
        assert after == value
        assert embedded.validate_embedded(value, NODE) == []


@settings(max_examples=tries(200), deadline=None)
@given(RESOURCES)
def test_coercing_leaves_metadata_that_can_be_judged_or_raises(value: dict[str, Any]) -> None:
    dropped = copy.deepcopy(value)
    try:
        embedded.coerce_embedded(value, NODE)
    except Malformed:
        embedded.coerce_embedded(dropped, NODE, drop=True)
    else:
        again = copy.deepcopy(value)
        embedded.coerce_embedded(again, NODE)
        assert again == value
    assert all(str(error) for error in embedded.validate_embedded(value, NODE))
