from __future__ import annotations

import pytest

from tests.pages import prose


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("podless rejects the body.", []),
        ("What is over them waits.", [1]),
        ("It waits. What is over them\nwaits.", [1]),
        ("# What is checked\n\nIt runs.", []),
        ("What does it cost?", []),
        ("| a | what waits |\n|---|---|\n| b | cannot be had |", [1, 3]),
        ("```\nWhat waits.\n```\n\nIt is `cannot be had`.", []),
        ("- It runs.\n- Nothing runs, for there\n  is no network.", [2]),
        ("Long.\n\nIt takes two at the most.", [3]),
        ("See [what waits](https://in.vain/at the most).", []),
    ],
)
def test_phrases_are_found_on_their_lines(text: str, lines: list[int]) -> None:
    assert [fault.line for fault in prose.check_prose(text)] == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('"""What a server has."""', []),
        ('"""Who asks."""', [1]),
        ('def find() -> int:\n    """Return the first place."""', []),
        ('def find() -> int:\n    """What is there."""', [2]),
        ('def find() -> int:\n    """The first place."""\n    return 1', [2]),
        ('@property\ndef place() -> int:\n    """The first place."""\n    return 1', []),
        ('def find() -> int:\n    """Return it, for there is one."""', [2]),
        ('class Sink:\n    """How bytes are sent."""', []),
        ('class Sink:\n    """A sink that nobody reads."""', [2]),
    ],
)
def test_phrases_are_found_in_docstrings(text: str, lines: list[int]) -> None:
    assert [fault.line for fault in prose.check_docstrings(text)] == lines
