"""The compiled functions that the parts of a schema become."""

from __future__ import annotations

import weakref

from podless.schema.compile import Leaves, Part
from podless.schema.mode import CHECK
from podless.schema.node import Node


def test_a_part_is_compiled_once_and_by_itself() -> None:
    part = Part(Node({"type": "string", "maxLength": 2}), CHECK, {})
    assert not part.is_compiled
    assert part("ab")
    run = part.run
    assert part.is_compiled
    assert not part("abc")
    assert part.run is run


def test_parts_that_check_the_same_share_a_function() -> None:
    leaves: Leaves = {}
    node = Node({"type": "object", "properties": {f"f{i}": {"type": "string", "maxLength": 3} for i in range(20)}})
    assert Part(node, CHECK, leaves)({"f0": "abc", "f19": "abc"})
    assert len(leaves) == 1


def test_a_compiled_part_needs_no_collector_to_go() -> None:
    part = Part(Node({"type": "object", "properties": {"a": {"type": "string"}}}), CHECK, {})
    assert part({"a": "b"})
    run = weakref.ref(part.run)
    del part
    assert run() is None
