"""Compares decoded values as merging does."""

from __future__ import annotations

from itertools import compress
from operator import is_not
from typing import Any

from podless.codec import serializer
from podless.runtime.meter import charge


def equal_values(left: Any, right: Any) -> bool:
    """Return whether values are equal: numbers by value, but true is not 1."""
    if type(left) in (dict, list):
        if left is right:
            return True
        if left != right:
            return False
        if type(left) is dict and find_replaced(left, right) == []:
            return True
        if serializer.encode_for_comparison(left) == serializer.encode_for_comparison(right):  # the most frequent case
            return True
    if type(left) in (dict, list):
        charge(len(left))
    if type(left) is dict and type(right) is dict:
        return left.keys() == right.keys() and all(equal_values(item, right[name]) for name, item in left.items())
    if type(left) is list and type(right) is list:
        return len(left) == len(right) and all(map(equal_values, left, right))
    if type(left) is bool or type(right) is bool:
        return left is right
    return bool(left == right)


def find_replaced(new: dict[str, Any], old: dict[str, Any]) -> list[str] | None:
    """Return the keys whose values are not identical in two dicts; None if these have different keys."""
    if new.keys() != old.keys():
        return None
    return list(compress(new, map(is_not, new.values(), map(old.__getitem__, new))))
