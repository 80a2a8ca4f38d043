"""find() and findAll(): regular expression search (Kubernetes)."""

from __future__ import annotations

from podless.cel import patterns
from podless.cel.decls import Library, declare_function, declare_method, member
from podless.cel.sizes import estimated_search_cost
from podless.cel.types import INT, STRING, list_of

_STRINGS = list_of(STRING)

LIBRARY = Library(
    "regex",
    (
        declare_method(
            "find", "string_find_string", (STRING, STRING), STRING, patterns.find_match, estimated_search_cost()
        ),
        declare_function(
            "findAll",
            member("string_find_all_string", (STRING, STRING), _STRINGS, patterns.find_all),
            member("string_find_all_string_int", (STRING, STRING, INT), _STRINGS, patterns.find_all),
            cost=estimated_search_cost(),
        ),
    ),
)
