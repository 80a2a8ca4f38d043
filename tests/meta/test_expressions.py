"""No text can make an expression of these layers go back: all that may repeat without end is possessive."""

from __future__ import annotations

import importlib
import pathlib
import re
import re._constants as constants  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from typing import Any

import pytest

import podless

SOURCE = pathlib.Path(podless.__file__).parent
MODULES = sorted(
    ".".join(file.relative_to(SOURCE.parent).with_suffix("").parts)
    for layer in ("meta", "fields", "remote")
    for file in (SOURCE / layer).rglob("*.py")
    if file.stem != "__init__"
)
UNENDING = (constants.MAX_REPEAT, constants.MIN_REPEAT)


def goes_back(parsed: Any) -> bool:
    """Whether a parsed expression has a repetition without end that gives back what it took."""
    for code, argument in parsed:
        if code in UNENDING and argument[1] == constants.MAXREPEAT:
            return True
        parts = argument if isinstance(argument, (list, tuple)) else [argument]
        for part in parts:
            inner = part if isinstance(part, list) else [part]
            if any(isinstance(one, parser.SubPattern) and goes_back(one) for one in inner):
                return True
    return False


def test_what_goes_back_is_found() -> None:
    for text in ("a*b", "(a+)+", "(?:x|a*)", "a.*?b", "(?=a*b)"):
        assert goes_back(parser.parse(text)), text
    for text in ("a*+b", "(?:a++)*+", "a?b{1,9}"):
        assert not goes_back(parser.parse(text)), text


@pytest.mark.parametrize("name", MODULES)
def test_expressions(name: str) -> None:
    module = importlib.import_module(name)
    for held in vars(module).values():
        patterns = held.values() if isinstance(held, dict) else [held]
        for pattern in patterns:
            if isinstance(pattern, re.Pattern):
                assert not goes_back(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)), pattern.pattern
