"""Finds the positions of fields in a file, by parsing a document with findings a second time."""

from __future__ import annotations

import json
import re
from functools import cached_property

from podless.codec.documents import Document
from podless.codec.jsontext import JSONError, YAMLError
from podless.codec.positions import Located, Position, locate_json, locate_yaml
from podless.meta import field
from podless.meta.field import At

_LINE = re.compile(r"yaml: line (\d{1,9})")
_START = Position(1, 1)


class PositionFinder:
    """The positions in one document, as line and column of its file."""

    def __init__(self, document: Document) -> None:
        self._document = document

    @cached_property
    def _located_parts(self) -> Located | None:
        raw = self._document.raw
        try:
            return next(locate_yaml(raw), None) if self._document.yaml else locate_json(raw)
        except (YAMLError, JSONError):
            return None

    def find_value(self, at: At) -> Position:
        """Return the position of a field's value. If it starts on a later line or is missing: of the nearest key."""
        path = field.parse_path(at) if isinstance(at, str) else tuple(at)
        located = self._located_parts
        if located is None:
            return self._shift_position(_START)
        value_position, key_position = located.values.get(path), located.keys.get(path)
        if value_position is not None and (key_position is None or key_position.line == value_position.line):
            return self._shift_position(value_position)
        if key_position is not None:
            return self._shift_position(key_position)
        return self.find_key(path[:-1])

    def find_key(self, at: At) -> Position:
        """Return the position of a field's key, or of the nearest enclosing field that exists."""
        path = field.parse_path(at) if isinstance(at, str) else tuple(at)
        located = self._located_parts
        if located is not None:
            for end in range(len(path), -1, -1):
                position = located.keys.get(path[:end]) or located.values.get(path[:end])
                if position is not None:
                    return self._shift_position(position)
        return self._shift_position(_START)

    def find_fault(self, message: str) -> Position:
        """Return the position of a syntax error, from its message."""
        if self._document.yaml:
            match = _LINE.match(message)
            return self._shift_position(Position(int(match[1]), 1) if match else _START)
        try:
            json.loads(self._document.raw.decode("utf-8", "replace"))
        except json.JSONDecodeError as error:
            return self._shift_position(Position(error.lineno, error.colno))
        except RecursionError:
            pass
        return self._shift_position(_START)

    def _shift_position(self, position: Position) -> Position:
        return Position(position.line + self._document.line, position.column)
