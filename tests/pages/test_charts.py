from __future__ import annotations

import re
from xml.etree import ElementTree

from tests.pages import charts, recording
from tests.pages.blocks import read_commands, read_page
from tests.pages.sessions import ROOT


def test_the_chart_is_drawn_from_the_table() -> None:
    assert charts.CHART.read_text() == charts.draw(), "write it again with python -m tests.pages write"
    assert dict(charts.ratios())["GET, 16 connections"] > 10


def test_the_figures_of_the_readme_are_those_of_the_performance_page() -> None:
    rows = re.findall(r"^\| (GET.*?|memory.*?) \| (.*?) \| (.*?) \|", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert len(rows) == 2
    for work, ours, theirs in rows:
        assert f"| {work} | {ours} | {theirs} |" in charts.PAGE.read_text()


def test_the_picture_of_the_readme_shows_its_commands() -> None:
    picture = recording.PICTURE.read_text()
    ElementTree.fromstring(picture)
    page = read_page(ROOT / "README.md")
    blocks = [block for block in page.blocks if block.language == "console" and not block.unrun]
    typed = [command.text.splitlines()[0] for block in blocks for command in read_commands(block)]
    assert recording.commands(picture) == typed, "draw it again with python -m tests.pages record"


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120
