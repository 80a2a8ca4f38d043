"""Short questions are answered once, long ones are not remembered."""

from __future__ import annotations

from podless.http.info import request_info
from podless.http.negotiate import choose
from podless.http.target import parse_query, split_target
from podless.meta.bounded import LONGEST, bounded_cache
from podless.meta.selectors import parse_fields, parse_labels


def test_a_short_question_is_answered_once() -> None:
    asked = []

    @bounded_cache(8)
    def length(text: str) -> int:
        asked.append(text)
        return len(text)

    long = "x" * (LONGEST + 1)
    assert [length("a"), length("a"), length(long), length(long)] == [1, 1, LONGEST + 1, LONGEST + 1]
    assert asked == ["a", long, long]


def test_nothing_long_that_a_client_sends_stays() -> None:
    long = "/apis/g/v1/" + "x" * LONGEST
    asked = (split_target, parse_query, parse_fields, parse_labels)
    for function, text in zip(asked, (long, f"a={long}", f"a={long}", "a=" + "x" * 63), strict=True):
        first, second = function(text), function(text)
        assert first == second
        assert (first is second) == (len(text) <= LONGEST)
    assert request_info("GET", long, "") == request_info("GET", long, "")
    assert choose(f"application/json;a={long}", frozenset(), ("application/json",)) is not None
