"""Structural schemas: prune, default and validate objects, and validate schemas themselves.

Usable without a server: Schema.from_crd(crd, version) returns a compiled schema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from podless.runtime import lazy

if TYPE_CHECKING:
    from podless.schema.definition import structural, tolerated, warnings
    from podless.schema.embedded import Malformed
    from podless.schema.keywords import KeywordOptions
    from podless.schema.remodel import Note, restructure
    from podless.schema.rules import Expressions
    from podless.schema.schema import BLOCKING, UNCHECKED, Schema
else:
    __getattr__ = lazy.lazy_names(
        __name__,
        {
            "BLOCKING": "schema",
            "UNCHECKED": "schema",
            "Expressions": "rules",
            "Malformed": "embedded",
            "Note": "remodel",
            "KeywordOptions": "keywords",
            "Schema": "schema",
            "restructure": "remodel",
            "structural": "definition",
            "tolerated": "definition",
            "warnings": "definition",
        },
    )

__all__ = [
    "BLOCKING",
    "UNCHECKED",
    "Expressions",
    "KeywordOptions",
    "Malformed",
    "Note",
    "Schema",
    "restructure",
    "structural",
    "tolerated",
    "warnings",
]
