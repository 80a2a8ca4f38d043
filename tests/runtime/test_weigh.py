"""The memory of values is measured about as the allocator counts it."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from podless.runtime.weigh import weigh_values
from podless.schema import Schema

PROPERTIES = {f"f{i}": {"type": "array", "items": {"type": "string", "maxLength": i}} for i in range(100)}


def complete_schema() -> Schema:
    schema = Schema.compile({"type": "object", "properties": PROPERTIES})
    schema.complete()
    return schema


@pytest.mark.parametrize(
    "make",
    [
        lambda: [{str(i): [str(i) * 100, float(i)]} for i in range(5000)],
        complete_schema,
    ],
)
def test_the_weight_is_what_the_allocator_gave(make: Callable[[], Any]) -> None:
    make()  # fills the caches of the process
    gc.collect()
    tracemalloc.start()
    try:
        value = make()
        gc.collect()
        given = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert 0.75 * given < weigh_values([value]) < 1.35 * given


def test_a_value_counts_once_and_modules_and_classes_do_not() -> None:
    text = "a" * 1000
    one = weigh_values([[text]])
    assert sys.getsizeof(text) <= one < 1200
    assert weigh_values([[text, text], [text]]) < one + 300
    assert weigh_values([sys, Schema, weigh_values, len]) < 500


def test_instances_of_classes_that_are_set_apart_do_not_count() -> None:
    class Apart:
        text = ""

    apart = Apart()
    apart.text = "a" * 1000
    assert weigh_values([[apart]], (Apart,)) < 200 < weigh_values([[apart]])
