"""What it costs to read the text of an expression: each token is charged where it is read, so that work can pause."""

from __future__ import annotations

import pytest

from podless.cel.errors import CompileError
from podless.cel.lexer import list_tokens
from podless.cel.parser import parse_expression
from tests.cost import Allowance, assert_linear, metered

_GAP = 40_000  # lines between two looks of the meter at the most: tens of milliseconds while lines are counted

TEXTS = ("1 + ", "true && ", "true || ", "[1], ", "a.b == 1 ? ", "# ", "'\\q", "` ", "f(1, ")


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_are_charged_one_by_one(text: str) -> None:
    assert_linear(lambda source: list_tokens(source, []), lambda size: text * size, 500)


@pytest.mark.parametrize("text", [text for text in TEXTS if not text.startswith(("a.b", "f("))])
def test_parsing_is_charged_as_it_goes_on(text: str) -> None:
    assert_linear(lambda source: parse_expression(source, {}), lambda size: text * size + "1", 500, (CompileError,))


class _Looks(Allowance):
    """Looks after each 1,024 steps, as sliced work does, and counts the looks."""

    __slots__ = ("looks",)

    def __init__(self) -> None:
        super().__init__(1024)
        self.looks = 0

    def check_time(self) -> None:
        self.looks += 1
        self.steps_left = 1024


def test_a_long_expression_can_pause_within() -> None:
    meter = _Looks()
    lines = metered(meter, lambda source: parse_expression(source, {}), "1+" * 20_000 + "1", (CompileError,))
    assert lines <= meter.looks * _GAP
    assert meter.looks > 60  # once for each 1,024 of the 40,001 tokens as they are listed, and again as they are taken
