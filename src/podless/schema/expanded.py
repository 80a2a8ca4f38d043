"""Defaults with all defaults inside them: whether they are valid, and their copies.

Large ones are kept as bytes after their first use: copying these takes a tenth of the time of filling in each level.
"""

from __future__ import annotations

import marshal
from typing import Any

from podless.runtime.memo import fill_attribute, is_off_loop
from podless.runtime.meter import charge, each
from podless.schema import check, defaulting, embedded, lists
from podless.schema.mode import SharedParts
from podless.schema.node import Node

# the class of a value by its type in a schema
CLASSES = {"object": "dict", "array": "list", "string": "str", "boolean": "bool", "integer": "int", "number": "number"}
_MAX_BYTES = 1 << 18  # of a default that is kept; copying it takes about 2 ms
_COPIED = 64  # bytes per step on the meter


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
        return is_valid(defaulting.expand_default(node, limit)[0], node)
    except defaulting.DefaultsTooLarge:
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
            return defaulting.make_default(self._node)
        encoded, size = self._encoded or fill_attribute(self, "_encoded", self._encode)
        if not encoded:
            return defaulting.make_default(self._node)
        defaulting.spend_room(size)
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
            raise defaulting.DefaultsTooLarge
        return self.copy()

    def _encode(self) -> tuple[bytes, int]:
        """Return the value as bytes, none if it is too large, and its bytes as JSON."""
        try:
            value, size = defaulting.expand_default(self._node, _MAX_BYTES)
            encoded = marshal.dumps(value)
        except (defaulting.DefaultsTooLarge, ValueError):  # ValueError: values of other classes than those of JSON
            return b"", 0
        self._parts.count_bytes(len(encoded))
        return encoded, size

    def _is_valid(self) -> bool:
        return not is_off_loop() and has_valid_default(self._node, _MAX_BYTES)
