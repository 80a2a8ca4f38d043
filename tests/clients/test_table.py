"""Facts about the page of clients: it has a line for each, with the versions that are pinned."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients import table
from tests.clients.languages import PROGRAMS, STEPS, Report
from tests.clients.versions import HELM, KUBECTL, VERSIONS


def lines() -> dict[str, list[str]]:
    cells = [line.strip("| ").split(" | ") for line in table.PAGE.read_text().splitlines() if line.startswith("| ")]
    return {first: rest for first, *rest in cells}


@pytest.mark.parametrize("name", [*PROGRAMS, *VERSIONS])
def test_the_page_has_what_is_pinned(name: str) -> None:
    steps = STEPS if name in PROGRAMS else tuple(KUBECTL)
    assert len(lines()[table.title(name)]) == len(steps), "make clients ARGS=--write puts it right"


def test_the_page_is_as_it_would_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = table.PAGE.read_text()
    page = tmp_path / "clients.md"
    page.write_text(before)
    monkeypatch.setattr(table, "PAGE", page)
    table.write([])
    assert page.read_text() == before


def test_what_a_client_shows_and_the_page_does_not_have_is_told() -> None:
    report = Report("kubectl-1.36", "4.2.3", results=dict.fromkeys((*KUBECTL, *HELM), ("ok", "")))
    report.results["get"] = ("FAILED", "no")
    (told,) = table.misfits(report)
    assert told.startswith("| kubectl 1.36 | yes | no | ")
