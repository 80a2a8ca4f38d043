"""Checks values against an enum by hashing, not one by one.

A value is compared with an entry after Go's conversion to the entry's type, so numbers and texts have their own rules.
Objects and lists are equal if all their parts are, with Go's types: 1, 1.0 and true differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from podless.cel.correlation import equal_json
from podless.codec import gotext
from podless.meta import field
from podless.runtime.memo import fill_attribute
from podless.runtime.meter import charge, each
from podless.schema import numbers
from podless.schema.errorvalues import sort_value

_MAX_COMPARED = 4  # objects and lists of an enum that are compared one by one: most differ at once
_BYTES_PER_STEP = 256  # bytes of encoded text that count as one step of the meter
_ENTRY_STEPS = 8  # steps of an entry that is encoded or looked up
_SURROGATES = range(0xD800, 0xE000)


class Enum:
    """The entries of one enum."""

    __slots__ = ("_bools", "_containers", "_entries_text", "_floats", "_index", "_ints", "_sizes", "_texts", "allowed")

    def __init__(self, allowed: Sequence[Any]) -> None:
        """Index an enum. allowed: JSON values, at least one."""
        self.allowed = allowed
        self._texts: set[str] = set()
        self._ints: set[int] = set()
        self._floats: set[float] = set()
        self._bools: set[bool] = set()
        self._containers: list[Any] = []
        sets_by_type: dict[type, Any] = {str: self._texts, int: self._ints, float: self._floats, bool: self._bools}
        for item in each(allowed):
            values = sets_by_type.get(item.__class__)
            if values is not None:
                values.add(item)
            elif item is not None:
                self._containers.append(item)
        self._sizes = {(item.__class__, len(item)) for item in each(self._containers)}
        self._index: dict[Any, list[Any]] | None = None
        self._entries_text: str | None = None

    @property
    def texts(self) -> frozenset[str] | None:
        """The allowed texts if nothing else is allowed, else None."""
        return frozenset(self._texts) if all(item.__class__ is str for item in each(self.allowed)) else None

    def allows(self, value: Any) -> bool:
        """Return whether an entry equals a value after Go's conversion to the entry's type. Null equals none."""
        kind = value.__class__
        if kind is str:
            return value in self._texts
        if kind is int:
            return (
                value in self._ints
                or (bool(self._floats) and float(value) in self._floats)
                # Go converts an integer to the character with this number
                or (0 <= value < 0x110000 and value not in _SURROGATES and chr(value) in self._texts)
            )
        if kind is bool:
            return value in self._bools
        if kind is float:
            return value in self._floats or (bool(self._ints) and numbers.truncate_float(value) in self._ints)
        if value is None or (kind, len(value)) not in self._sizes:
            return False
        if len(self._containers) <= _MAX_COMPARED:
            return any(equal_json(value, item) for item in self._containers)
        index = self._index if self._index is not None else fill_attribute(self, "_index", self._build_index)
        return any(equal_json(value, item) for item in index.get(_build_key(value), ()))

    def _build_index(self) -> dict[Any, list[Any]]:
        """Return the objects and lists by a key that equal ones share."""
        index: dict[Any, list[Any]] = {}
        for item in self._containers:
            equal_key = index.setdefault(_build_key(item), [])
            if not any(equal_json(item, indexed) for indexed in equal_key):
                equal_key.append(item)
        return index

    @property
    def entries_text(self) -> str:
        """The entries as errors list them. All errors share the text."""
        if self._entries_text is not None:
            return self._entries_text
        return fill_attribute(self, "_entries_text", lambda: field.list_supported(map(_format_entry, self.allowed)))


def flatten_value(item: Any) -> tuple[Any, ...]:
    """Return a value as a flat sequence of its parts."""
    flat: list[Any] = []
    todo = [item]
    while todo:
        value = todo.pop()
        charge(1)
        if isinstance(value, dict):
            flat.append(tuple(sorted(value)))
            todo += [value[key] for key in sorted(each(value))]
        elif isinstance(value, list):
            flat.append(len(value))
            todo += value
        else:
            flat.append((value.__class__, value))
    return tuple(flat)


def _build_key(value: Any) -> Any:
    """Return a hash key that equal objects and lists share, and different ones rarely share."""
    try:
        text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
        if b"-0.0" in text:
            text = orjson.dumps(_drop_zero_signs(value), option=orjson.OPT_SORT_KEYS)
    except TypeError:  # nested too deeply for orjson, or not valid Unicode
        return flatten_value(value)
    charge(_ENTRY_STEPS + len(text) // _BYTES_PER_STEP)
    return text


def _drop_zero_signs(value: Any) -> Any:
    """Return a value whose zeros have no sign."""
    charge(1)
    if isinstance(value, dict):
        return {key: _drop_zero_signs(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_drop_zero_signs(item) for item in value]
    return 0.0 if value.__class__ is float and value == 0 else value


def _format_entry(item: Any) -> str:
    text = item if isinstance(item, str) else gotext.format_json(sort_value(item))
    charge(_ENTRY_STEPS + len(text) // _BYTES_PER_STEP)
    return text
