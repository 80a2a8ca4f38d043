"""Threads that use one fresh struct, its messages, or one cache of answers at the same time."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from podless.meta import names, selectors
from podless.runtime.bounded import bounded_cache
from podless.structs import defaults, structs
from podless.structs.gotypes import BOOL, INT32, INT_OR_STRING, QUANTITY, STRING, TIME, ListOf, MapOf
from podless.structs.protobuf_messages import Messages
from podless.structs.structs import Field, Struct
from tests.races import interleaved, together

GOOD: dict[str, Any] = {
    "name": "a",
    "port": 80,
    "amount": "1",
    "at": "2020-01-01T00:00:00Z",
    "parts": [{"name": "b", "count": 2}],
    "labels": {"a": "b"},
    "inner": {"name": "c"},
}


def fresh() -> Struct:
    """A struct with fields of many types, one of which is itself."""
    part = Struct("Part", (Field("name", STRING, 1), Field("count", INT32, 2, default=1), Field("on", BOOL, 3)))
    whole: Struct = Struct(
        "Whole",
        lambda: (
            Field("name", STRING, 1),
            Field("port", INT_OR_STRING, 2),
            Field("amount", QUANTITY, 3),
            Field("at", TIME, 4),
            Field("parts", ListOf(part), 5),
            Field("labels", MapOf(STRING), 6),
            Field("inner", whole, 7, pointer=True),
            Field("policy", STRING, 8, fill="Always"),
        ),
    )
    return whole


def use(struct: Struct, told: list[Any]) -> None:
    unknown: list[str] = []
    obj = structs.decode_struct(struct, {**GOOD, "more": 1}, unknown)
    defaults.fill_defaults(struct, obj)
    told.append((structs.arrange_fields(struct, obj), unknown))
    with pytest.raises(structs.DecodeError):
        structs.decode_struct(struct, {"parts": [{"count": "2"}]})


@pytest.mark.parametrize("seed", range(30))
def test_a_fresh_struct_reads_the_same_wherever_a_thread_interrupts_the_other(seed: int) -> None:
    alone: list[Any] = []
    use(fresh(), alone)
    struct, told = fresh(), list[Any]()
    interleaved("podless/meta/", *[partial(use, struct, told)] * 2, seed=seed)
    assert told == alone * 2


def test_fresh_structs_read_the_same_on_two_threads() -> None:
    alone: list[Any] = []
    use(fresh(), alone)
    for _ in range(100):
        struct, told = fresh(), list[Any]()
        together(*[partial(use, struct, told)] * 2)
        assert told == alone * 2


def test_fresh_messages_are_the_same_on_two_threads() -> None:
    struct = fresh()
    obj = structs.decode_struct(struct, GOOD)
    alone = Messages().encode(struct, obj)
    for _ in range(20):
        messages, told = Messages(), list[bytes]()
        together(*[partial(_encode, messages, struct, obj, told)] * 2)
        assert told == [alone] * 2


def _encode(messages: Messages, struct: Struct, obj: dict[str, Any], told: list[bytes]) -> None:
    told.append(messages.encode(struct, obj))


@pytest.mark.parametrize("seed", range(10))
def test_fresh_selectors_and_syntaxes_match_the_same_wherever_a_thread_interrupts_the_other(seed: int) -> None:
    labels, fields = selectors.parse_labels("a in (b,c),!d,e!=f"), selectors.parse_fields("a=b,c!=d,a=b")
    syntax, told = replace(names.LABEL_VALUE), list[Any]()

    def match() -> None:
        told.append([labels.matches({"a": "b"}), labels.matches({"a": "b", "d": ""}), labels.required_label])
        told[-1] += [fields.names, fields.matches({"a": "b", "c": ""}.__getitem__)]
        told[-1] += [syntax.find_errors("a-b"), syntax.find_errors("-"), syntax.find_errors("a" * 64)]

    interleaved("podless/", match, match, seed=seed, longest=30)
    match()
    assert told == told[:1] * 3


def test_messages_that_could_not_be_described_are_described_later(monkeypatch: pytest.MonkeyPatch) -> None:
    struct, messages = fresh(), Messages()
    obj = structs.decode_struct(struct, GOOD)
    with monkeypatch.context() as patched:
        patched.setattr(Messages, "_declare_field", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            messages.encode(struct, obj)
    assert messages.encode(struct, obj) == Messages().encode(struct, obj)


@pytest.mark.parametrize("seed", range(20))
def test_a_full_cache_answers_right_wherever_a_thread_interrupts_the_other(seed: int) -> None:
    @bounded_cache(3)
    def double(number: int) -> int:
        return number * 2

    def ask() -> None:
        for number in [*range(8), *range(8)]:
            assert double(number) == number * 2

    interleaved("bounded", ask, ask, seed=seed, longest=20)
