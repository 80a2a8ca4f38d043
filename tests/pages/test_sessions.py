"""Every command of the README and of the pages works, and prints what is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pages import sessions
from tests.pages.blocks import read_page

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sessions.kubectl_is_here(), reason="kubectl is not on this machine"),
]


@pytest.mark.parametrize("path", [*sessions.pages()], ids=lambda path: path.relative_to(sessions.ROOT).as_posix())
def test_the_commands_of_a_page_work(path: Path, tmp_path: Path) -> None:
    sessions.Reader(read_page(path), tmp_path).follow()


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ("$ echo a\nb\n", "the page shows"),
        ("$ false\n", "exit status 1"),
        ("$ podless check missing.yaml\n", "exit status 2"),
    ],
)
def test_a_command_that_does_something_else_is_found(text: str, failure: str, tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(f"```console\n{text}```\n")
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(sessions.SessionFailure, match=failure):
        sessions.Reader(read_page(path), folder).follow()
