"""Positions of fields in a file, from parsing the document a second time when there is a finding."""

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


class Places:
    """The positions in one document, as line and column of its file."""

    def __init__(self, document: Document) -> None:
        self._document = document

    @cached_property
    def _located(self) -> Located | None:
        raw = self._document.raw
        try:
            return next(locate_yaml(raw), None) if self._document.yaml else locate_json(raw)
        except (YAMLError, JSONError):
            return None

    def value(self, at: At) -> Position:
        """Return the position of a field's value. If it starts on a later line or is missing: of the nearest key."""
        path = field.parse_path(at) if isinstance(at, str) else tuple(at)
        located = self._located
        if located is None:
            return self._moved(_START)
        found, key = located.values.get(path), located.keys.get(path)
        if found is not None and (key is None or key.line == found.line):
            return self._moved(found)
        if key is not None:
            return self._moved(key)
        return self.key(path[:-1])

    def key(self, at: At) -> Position:
        """Return the position of a field's key, or of the nearest enclosing field that exists."""
        path = field.parse_path(at) if isinstance(at, str) else tuple(at)
        located = self._located
        if located is not None:
            for end in range(len(path), -1, -1):
                found = located.keys.get(path[:end]) or located.values.get(path[:end])
                if found is not None:
                    return self._moved(found)
        return self._moved(_START)

    def fault(self, message: str) -> Position:
        """Return the position of a syntax error, from its message."""
        if self._document.yaml:
            match = _LINE.match(message)
            return self._moved(Position(int(match[1]), 1) if match else _START)
        try:
            json.loads(self._document.raw.decode("utf-8", "replace"))
        except json.JSONDecodeError as error:
            return self._moved(Position(error.lineno, error.colno))
        except RecursionError:
            pass
        return self._moved(_START)

    def _moved(self, position: Position) -> Position:
        return Position(position.line + self._document.line, position.column)
