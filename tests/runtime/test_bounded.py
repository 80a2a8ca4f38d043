"""Short questions are answered once, long ones are not remembered."""

from __future__ import annotations

import ast
import pathlib

import pytest

import podless
from podless.http.info import parse_query, request_info
from podless.http.negotiate import choose_form
from podless.meta.selectors import parse_fields, parse_labels
from podless.runtime.bounded import CACHES, MAX_KEY_LENGTH, WeightAccount, bounded_cache

SOURCE = pathlib.Path(podless.__file__).parent


def test_a_short_question_is_answered_once() -> None:
    asked = []

    @bounded_cache(8)
    def length(text: str) -> int:
        asked.append(text)
        return len(text)

    long = "x" * (MAX_KEY_LENGTH + 1)
    assert [length("a"), length("a"), length(long), length(long)] == [1, 1, MAX_KEY_LENGTH + 1, MAX_KEY_LENGTH + 1]
    assert asked == ["a", long, long]


def test_nothing_long_that_a_client_sends_stays() -> None:
    long = "/apis/g/v1/" + "x" * MAX_KEY_LENGTH
    asked = (parse_query, parse_fields, parse_labels)
    for function, text in zip(asked, (f"a={long}", f"a={long}", "a=" + "x" * 63), strict=True):
        first, second = function(text), function(text)
        assert first == second
        assert (first is second) == (len(text) <= MAX_KEY_LENGTH)
    assert request_info("GET", long, "") == request_info("GET", long, "")
    assert choose_form(f"application/json;a={long}", frozenset()) is not None


def test_arguments_by_name_and_bytes_are_bounded_too() -> None:
    asked = []

    @bounded_cache(8)
    def length(text: bytes, other: str = "") -> int:
        asked.append(other)
        return len(text) + len(other)

    for _ in range(2):
        length(b"x", other="y" * (MAX_KEY_LENGTH + 1))
        length(b"x" * (MAX_KEY_LENGTH + 1))
    assert len(asked) == 4


def test_all_caches_of_the_process_are_listed() -> None:
    """Those of these layers are; what is kept by other means would not be found."""
    names = {cache.name for cache in CACHES}
    assert {
        "podless.meta.selectors.parse_labels",
        "podless.runtime.clock.format_time",
        "podless.fields.items._make_keyed_element",
    } <= names
    for cache in CACHES:
        assert cache.size() <= cache.limit <= 10_000, cache.name


LAYERS = ["admission", "auth", "controllers", "fields", "http", "kinds", "meta", "publish", "remote", "schema", "verbs"]


@pytest.mark.parametrize("layer", LAYERS)
def test_nothing_is_kept_for_the_process_in_another_way(layer: str) -> None:
    """What takes no arguments is a constant that is made late, and may be kept by functools.cache."""
    for file in (SOURCE / layer).rglob("*.py"):
        if file.name == "bounded.py":
            continue
        text = file.read_text()
        if "cache" not in text:
            continue
        tree = ast.parse(text)
        kept = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "lru_cache"]
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.args.args]
        kept += [
            function.lineno
            for function in functions
            if any(ast.unparse(mark) == "cache" for mark in function.decorator_list)
        ]
        assert not kept, f"{file}: {kept}"


class Holder:
    """Something that was let go of so often."""

    dropped = 0

    used = False

    def drop_value(self, forced: bool = False) -> bool:
        if self.used and not forced:
            self.used = False
            return False
        self.dropped += 1
        return True


def test_what_weighs_too_much_together_goes_one_by_one() -> None:
    kept = WeightAccount("tests.runtime.test_bounded", 10, 100)
    first, *others, last = holders = [Holder() for _ in range(11)]
    for holder in holders:
        kept.set_weight(holder, 1)
    assert (first.dropped, sum(holder.dropped for holder in others), last.dropped, kept.weight) == (1, 0, 0, 100)
    kept.set_weight(first, 55)
    assert [holder.dropped for holder in holders] == [1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0]
    kept.set_weight(last, 500)
    assert (kept.weight, last.dropped) == (75, 0)
    kept.drop_all()
    assert (kept.weight, last.dropped, first.dropped) == (0, 1, 2)


def test_one_value_over_the_total_stays_beside_small_ones() -> None:
    kept = WeightAccount("tests.runtime.test_bounded", 10, 100)
    large, *small = [Holder() for _ in range(3)]
    for _ in range(3):
        kept.set_weight(large, 500)
        for holder in small:
            kept.set_weight(holder, 1)
    assert [holder.dropped for holder in (large, *small)] == [0, 0, 0]
    other = Holder()
    kept.set_weight(other, 500)
    assert (other.dropped, large.dropped, kept.weight) == (0, 1, 95)


def test_a_pinned_or_lately_used_value_stays() -> None:
    kept = WeightAccount("tests.runtime.test_bounded", 10, 30)
    pinned, used, idle, _ = holders = [Holder() for _ in range(4)]
    kept.pin_value(pinned)
    kept.pin_value(pinned)
    used.used = True
    for holder in holders:
        kept.set_weight(holder, 10)
    assert [holder.dropped for holder in holders] == [0, 0, 1, 0]
    kept.unpin_value(pinned)
    kept.set_weight(idle, 30)  # over the total whatever is dropped
    assert [holder.dropped for holder in holders] == [0, 1, 1, 1]
    assert kept.weight == 32
    kept.unpin_value(pinned)
    kept.set_weight(idle, 30)
    assert (pinned.dropped, idle.dropped, kept.weight) == (1, 1, 22)
    kept.remove_holder(idle)
    assert kept.weight == 0
