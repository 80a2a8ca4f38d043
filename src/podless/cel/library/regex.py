"""find() and findAll(): regular expression search (Kubernetes)."""

from __future__ import annotations

from podless.cel import patterns
from podless.cel.cost import search_cost
from podless.cel.functions import Library, declare

_SEARCH = search_cost(sized=True)
LIBRARY = Library(
    "regex",
    (
        declare("<string>.find(string) -> string", "string_find_string", patterns.find_match, _SEARCH),
        declare("<string>.findAll(string) -> list(string)", "string_find_all_string", patterns.find_all, _SEARCH),
        declare(
            "<string>.findAll(string, int) -> list(string)", "string_find_all_string_int", patterns.find_all, _SEARCH
        ),
    ),
)
