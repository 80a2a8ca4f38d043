"""Fills in defaults, and drops nulls.

A null in an object is dropped if the schema has neither nullable nor default. It becomes the default if the schema has
one and is not nullable. Other nulls stay. Absent fields get defaults, also inside defaults.

Defaults within defaults can turn a hundred bytes into gigabytes. So defaults are stored without those inside them, each
walk fills in what the object lacks, and the bytes added to one object are counted. A large default with all inside it
is kept as bytes after its first use: copying these takes a tenth of the time of filling in each level.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from typing import Any, NoReturn

from podless.meta.errors import TooLarge
from podless.runtime.memo import fill_attribute, is_off_loop
from podless.runtime.meter import charge, each
from podless.schema import check, embedded, lists, prune
from podless.schema.mode import SharedParts
from podless.schema.node import CLASSES, Node, copy_value

_HOLDERS = (dict, list)
_NO_FIELDS: frozenset[str] = frozenset()
# approximate bytes of JSON that defaults may add to one object: the limit of a body, twice that of etcd
MAX_DEFAULT_BYTES = 3 << 20
_TOO_LARGE = (
    f"Request entity too large: the default values of the object's fields have more than {MAX_DEFAULT_BYTES} bytes"
)
_FIELD_BYTES = 4  # bytes of quotes, colon and comma around a field
_MAX_BYTES = 1 << 18  # of a default that is kept; copying it takes about 2 ms
_COPIED = 64  # bytes per step on the meter


class DefaultsTooLarge(Exception):
    """The defaults of one object, counted in advance, exceed the limit, or one cannot be checked in advance."""


# remaining bytes of defaults for the present object: as counted in advance, and as filled in; None: unlimited
_room: ContextVar[list[int] | None] = ContextVar("room", default=None)


def take_bytes(size: int) -> None:
    """Count bytes of defaults for the present object. Raises DefaultsTooLarge beyond the limit."""
    room = _room.get()
    if room is not None:
        room[0] -= size
        if room[0] < 0:
            raise DefaultsTooLarge


def spend_room(size: int) -> None:
    """Count bytes of defaults that are filled in. Raises TooLarge beyond the limit."""
    room = _room.get()
    if room is not None:
        room[1] -= size
        if room[1] < 0:
            raise TooLarge(_TOO_LARGE, {})


def leave_undecided() -> NoReturn:
    """End a compiled walk that would fill in a default without checking it."""
    raise DefaultsTooLarge


def run_bounded(walk: Callable[[Any], bool], obj: Any) -> bool:
    """Return whether a compiled walk accepts an object. Raises TooLarge if its defaults exceed the limit."""
    token = _room.set([MAX_DEFAULT_BYTES, MAX_DEFAULT_BYTES])
    try:
        return walk(obj)
    except DefaultsTooLarge:
        return False
    finally:
        _room.reset(token)


def get_own_default(node: Node) -> Any:
    """Return a node's own default, pruned and coerced. Copy it before use."""
    return _get_default(node)[0]


def _get_default(node: Node) -> tuple[Any, int]:
    """Return the default value of a node, and its bytes."""
    default: tuple[Any, int] | None = node.default
    return default if default is not None else fill_attribute(node, "default", partial(_prepare_default, node))


def _prepare_default(node: Node) -> tuple[Any, int]:
    value = node.raw["default"]
    if isinstance(value, _HOLDERS) and value:
        value = copy_value(value)
        prune.prune_value(value, node, embedded=node.embedded)
        embedded.coerce_embedded(value, node, drop=True)
    return value, measure_value(value)


def measure_value(value: Any) -> int:
    """Return the approximate bytes of a value as JSON; texts count their characters."""
    if isinstance(value, str):
        return len(value) + _FIELD_BYTES
    if not isinstance(value, _HOLDERS):
        return 2 * _FIELD_BYTES
    total, todo = 0, [value]
    while todo:
        item = todo.pop()
        total += _FIELD_BYTES
        if isinstance(item, dict):
            charge(len(item))
            total += sum(map(len, item)) + _FIELD_BYTES * len(item)
            todo += item.values()
        elif isinstance(item, list):
            charge(len(item))
            todo += item
        elif isinstance(item, str):
            total += len(item)
    return total


def expand_default(node: Node, limit: int) -> tuple[Any, int]:
    """Return the default of a node with all defaults inside it, and its bytes.

    Raises DefaultsTooLarge beyond `limit` bytes.
    """
    room = [limit, limit]
    token = _room.set(room)
    try:
        return make_default(node), limit - room[1]
    except TooLarge:
        raise DefaultsTooLarge from None
    finally:
        _room.reset(token)


def make_default(node: Node) -> Any:
    """Return a new copy of a node's default with all defaults inside it. Raises TooLarge."""
    value = _copy_default(node)
    if isinstance(value, _HOLDERS):
        _fill_node(value, node, frozenset())
    return value


def holds_dropped_null(node: Node) -> bool:
    """Return whether the own default of a node holds a null that `drop_nulls` drops from an object."""
    given = get_own_default(node)
    kept = copy_value(given)
    drop_nulls(kept, node)
    return bool(kept != given)


def add_defaults(value: dict[str, Any], node: Node) -> None:
    """Set the absent fields of an object that have a default, with all defaults inside it. Raises TooLarge."""
    for name, child in each(node.defaulted):
        if name not in value:
            value[name] = make_default(child)


def drop_nulls(value: Any, node: Node, skip: frozenset[str] = frozenset(), *, defaulted: bool = False) -> None:
    """Drop the nulls of objects that may not stay and have no default; skip: fields of the root to leave alone.

    defaulted: also drop those that a default would replace.
    """
    charge(1)
    if isinstance(value, dict):
        for key, item in list(each(value).items()):
            if item is not None and not isinstance(item, _HOLDERS):
                continue
            child = None if key in skip else node.find_field(key)
            if child is None:
                continue
            if item is not None:
                drop_nulls(item, child, defaulted=defaulted)
            elif not child.nullable and (defaulted or not child.has_default):
                del value[key]
    elif isinstance(value, list) and node.items is not None:
        for item in each(value):
            if isinstance(item, _HOLDERS):
                drop_nulls(item, node.items, defaulted=defaulted)


def fill_value(value: Any, node: Node, skip: frozenset[str] = frozenset()) -> None:
    """Fill in defaults in place; skip: fields of the root to leave alone. Raises TooLarge."""
    token = _room.set([MAX_DEFAULT_BYTES, MAX_DEFAULT_BYTES])
    try:
        _fill_node(value, node, skip)
    finally:
        _room.reset(token)


def _fill_node(value: Any, node: Node, skip: frozenset[str]) -> None:
    charge(1)
    if isinstance(value, dict):
        _fill_fields(value, node, skip)
    elif isinstance(value, list) and node.items is not None:
        items = node.items
        for index, item in enumerate(each(value)):
            if item is None and not items.nullable and items.has_default:
                item = value[index] = _copy_default(items)
            if isinstance(item, dict | list):
                _fill_node(item, items, _NO_FIELDS)


def _fill_fields(value: dict[str, Any], node: Node, skip: frozenset[str]) -> None:
    for name, child in each(node.defaulted):
        if name not in skip and (name not in value or (value[name] is None and not child.nullable)):
            value[name] = _copy_default(child, len(name))
    for key, item in each(value).items():
        if item is not None and not isinstance(item, _HOLDERS):
            continue
        child_or_none = None if key in skip else node.find_field(key)
        if child_or_none is None:
            continue
        if item is None and not child_or_none.nullable and child_or_none.has_default:
            item = value[key] = _copy_default(child_or_none)
        if isinstance(item, _HOLDERS):
            _fill_node(item, child_or_none, _NO_FIELDS)


def _copy_default(node: Node, name: int = 0) -> Any:
    """Return a node's default, and charge it to the present object. name: length of the field's name."""
    charge(1)
    value, size = _get_default(node)
    spend_room(size + name)
    return copy_value(value) if isinstance(value, _HOLDERS) else value


def is_valid(value: Any, node: Node) -> bool:
    """Return whether a value, pruned and with defaults, is certainly valid and has the types of the schema."""
    return _has_types(value, node) and not (
        check.validate_value(value, node)
        or embedded.validate_embedded(value, node)
        or lists.validate_lists(value, node)
    )


def has_valid_default(node: Node, limit: int) -> bool:
    """Return whether the default with all defaults inside it has at most `limit` bytes, and is certainly valid."""
    try:
        return is_valid(expand_default(node, limit)[0], node)
    except DefaultsTooLarge:
        return False


def _has_types(value: Any, node: Node | None) -> bool:
    """Return whether a value has the types of the schema at every level, in place of which a format can be checked."""
    if node is None or value is None:
        return True
    classes = {CLASSES[name] for name in node.types if name in CLASSES}
    name = value.__class__.__name__
    if node.types and name not in classes and not ("number" in classes and name in ("int", "float")):
        return False
    if isinstance(value, dict):
        return all(_has_types(item, node.find_field(key)) for key, item in each(value).items())
    return not isinstance(value, list) or all(_has_types(item, node.items) for item in each(value))


class ExpandedDefault:
    """The default of a node with all defaults inside it, made at its first use on the loop.

    parts: count the bytes that are kept.
    """

    __slots__ = ("_encoded", "_node", "_parts", "_valid")

    def __init__(self, node: Node, parts: SharedParts) -> None:
        self._node, self._parts = node, parts
        self._encoded: tuple[bytes, int] | None = None
        self._valid: bool | None = None

    def copy(self) -> Any:
        """Return a new copy, and charge its bytes to the present object. Raises TooLarge."""
        if self._encoded is None and is_off_loop():
            return make_default(self._node)
        encoded, size = self._encoded or fill_attribute(self, "_encoded", self._encode)
        if not encoded:
            return make_default(self._node)
        spend_room(size)
        charge(len(encoded) // _COPIED)
        return marshal.loads(encoded)

    def copy_valid(self) -> Any:
        """Return a new copy as `copy` does, or end the walk if the default is not certainly valid.

        Raises DefaultsTooLarge and TooLarge.
        """
        valid = self._valid
        if valid is None:
            valid = fill_attribute(self, "_valid", self._is_valid)
        if not valid:
            raise DefaultsTooLarge
        return self.copy()

    def _encode(self) -> tuple[bytes, int]:
        """Return the value as bytes, none if it is too large, and its bytes as JSON."""
        try:
            value, size = expand_default(self._node, _MAX_BYTES)
            encoded = marshal.dumps(value)
        except (DefaultsTooLarge, ValueError):  # ValueError: values of other classes than those of JSON
            return b"", 0
        self._parts.count_bytes(len(encoded))
        return encoded, size

    def _is_valid(self) -> bool:
        return not is_off_loop() and has_valid_default(self._node, _MAX_BYTES)
