"""What did not change is found, in proportion to its length, by fields and by the keys of map lists."""

from __future__ import annotations

from typing import Any

import pytest

from podless.cel.correlation import ItemsByKey, ValuePair
from podless.cel.rules import NodeRules
from tests.cost import assert_linear

ITEM = {"type": "object", "properties": {"k": {"type": "integer"}, "v": {"type": "integer"}}}
LISTED: dict[str, Any] = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
    "items": ITEM,
}


def test_the_old_items_of_a_map_list_are_found_by_their_keys() -> None:
    def same(size: int) -> None:
        assert ValuePair(
            [{"k": at} for at in range(size)], [{"k": at} for at in reversed(range(size))], LISTED
        ).is_unchanged()

    assert_linear(same, lambda size: size)


def test_rules_of_items_find_their_old_values_once() -> None:
    rules = NodeRules(
        {**LISTED, "items": {**ITEM, "x-kubernetes-validations": [{"rule": "self.k >= 0"}]}}, resource=False
    )
    assert_linear(
        lambda given: rules.validate(given, given[::-1], ratchet=True),
        lambda size: [{"k": at, "v": at} for at in range(size)],
        size=50,
    )


@pytest.mark.parametrize(
    ("new", "old", "same"),
    [
        ([{"k": 1}, {"k": 2}], [{"k": 2}, {"k": 1}], True),
        ([{"k": 1}, {"k": 2}], [{"k": 1}], False),
        ([{"k": 1, "v": 1}], [{"k": 1, "v": 2}], False),
        ([{"v": 1}], [{"v": 1}], False),  # nothing says that it is the same item
        ([{"k": 1}], [{"k": True}], False),
        ([{"k": 1, "v": 1}], [{"k": 1, "v": 1}, {"k": 1, "v": 2}], False),
        ([{"k": 1, "x": 1}], [{"k": 1, "x": 1}], False),  # no schema declares x
    ],
)
def test_unchanged(new: Any, old: Any, same: bool) -> None:
    assert ValuePair(new, old, LISTED).is_unchanged() is same


def test_several_keys_are_told_apart_by_their_texts() -> None:
    known = ItemsByKey(("a", "b"), [{"a": "x", "b": 1}, {"a": "y", "b": 1}, {"a": "x", "b": 1, "later": True}])
    assert known.get({"a": "x", "b": 1}) == {"a": "x", "b": 1}
    assert known.get({"a": "x", "b": None}) is None
    assert ItemsByKey((), [{"a": 1}]).get({"a": 1}) is None
