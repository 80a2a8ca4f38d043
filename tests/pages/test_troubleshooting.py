"""The texts on the troubleshooting page are those that the code prints."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.pages.sessions import ROOT

PAGE = (ROOT / "docs" / "how-to" / "troubleshooting.md").read_text()
TITLES = re.findall(r"^### `(.*)`$", PAGE, re.MULTILINE)
OPERATIONS = (ROOT / "docs" / "how-to" / "operations.md").read_text()
LINES = re.findall(r"^\| `([a-z]+: .*?)` \|", OPERATIONS, re.MULTILINE)
# printed by kubectl, by Git, by Go, and by the operating system
OTHERS = (
    "...: address already in use",
    "error: You must be logged in",
    "git: fatal: ",
    "x509: ",
    "timeout waiting",
    "fork/exec",
)


@cache
def printed() -> str:
    """All texts of the source, with the fields of f-strings left out."""
    texts = [path.read_text() for path in sorted((ROOT / "src").rglob("*.py"))]
    return re.sub(r"\{[^{}\"]*\}", "...", re.sub(r'"\s*\n\s*f?"', "", "\n".join(texts)))


@pytest.mark.parametrize("title", TITLES + LINES)
def test_a_text_is_one_that_podless_prints(title: str) -> None:
    if not title.startswith(OTHERS):
        parts = [segment for segment in title.removeprefix("podless: ").split("...") if segment.strip(' ":(,)')]
        assert re.search(".*".join(re.escape(part) for part in parts), printed()), title


def test_there_are_texts() -> None:
    assert len(TITLES) > 10
    assert len(LINES) > 10
