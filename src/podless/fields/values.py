"""Compares and prints decoded values as merging does."""

from __future__ import annotations

from typing import Any

from podless.codec import gotext, serializer
from podless.runtime.meter import charge
from podless.runtime.sorting import sort_texts


def equal_values(one: Any, other: Any) -> bool:
    """Return whether values are equal: numbers by value, but true is not 1."""
    if type(one) in (dict, list):
        if one is other:
            return True
        if one != other:
            return False
        if serializer.encode_json(one) == serializer.encode_json(other):  # the most frequent case: the same encoding
            return True
    if type(one) in (dict, list):
        charge(len(one))
    if type(one) is dict and type(other) is dict:
        return one.keys() == other.keys() and all(equal_values(item, other[name]) for name, item in one.items())
    if type(one) is list and type(other) is list:
        return len(one) == len(other) and all(map(equal_values, one, other))
    if type(one) is bool or type(other) is bool:
        return one is other
    return bool(one == other)


def format_syntax(value: Any) -> str:
    """Return a value as Go's %#v prints it: []interface {}{"x", 1}."""
    if isinstance(value, dict | list):
        charge(len(value))
    if isinstance(value, dict):
        inside = ", ".join(f"{gotext.quote(name)}:{format_syntax(value[name])}" for name in sort_texts(value))
        return f"map[string]interface {{}}{{{inside}}}"
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(map(format_syntax, value))}}}"
    if value is None:
        return "interface {}(nil)"
    if type(value) is int and not -(1 << 63) <= value < 1 << 63:
        value = float(value)  # as Go has an integer over 64 bits
    return value.code if isinstance(value, gotext.GoValue) else gotext.format_value(value)
