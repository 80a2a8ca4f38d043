"""find() and findAll(): regular expression search (Kubernetes)."""

from __future__ import annotations

from podless.cel import patterns
from podless.cel.decls import Library, declare_function, member
from podless.cel.sizes import searched
from podless.cel.types import INT, STRING, list_of

_STRINGS = list_of(STRING)

LIBRARY = Library(
    "regex",
    (
        declare_function(
            "find",
            "The first part that matches, or ''.",
            ["'abc 123'.find('[0-9]+') == '123'", "'abc'.find('x') == ''"],
            member("string_find_string", (STRING, STRING), STRING, patterns.find_match),
            cost=searched(),
        ),
        declare_function(
            "findAll",
            "All parts that match, or the first so many.",
            ["'1 2 3'.findAll('[0-9]') == ['1', '2', '3']", "'1 2 3'.findAll('[0-9]', 1) == ['1']"],
            member("string_find_all_string", (STRING, STRING), _STRINGS, patterns.find_all),
            member("string_find_all_string_int", (STRING, STRING, INT), _STRINGS, patterns.find_all),
            cost=searched(),
        ),
    ),
)
