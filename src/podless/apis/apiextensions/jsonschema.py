"""The type of a JSONSchemaProps field that data cannot describe."""

from __future__ import annotations

from typing import Any

from podless.schema.empties import keep_empty
from podless.structs.gotypes import ListOf

_PAIR = ["integer", "string"]


class Alternatives(ListOf):
    """Schemas; two that are for an integer and for a text are given as such, or are none of that pair."""

    def read(self, value: Any, unknown: list[str]) -> Any:
        """The schemas."""
        read = super().read(value, unknown)
        if len(read) == len(_PAIR) and [part.get("type") for part in read] == _PAIR:
            for part, given in zip(read, value, strict=True):
                keep_empty(part, given, root=False)
        return read
