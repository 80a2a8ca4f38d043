from __future__ import annotations

import importlib
import inspect
from collections.abc import Sequence
from pathlib import Path

import pytest
from bench.record import book
from bench.record.figure import Figure

from bench import __main__ as command


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[list[str], bool]]:
    """What was run, in place of running it; the book is another one."""
    found: list[tuple[list[str], bool]] = []

    def run(names: Sequence[str], smoke: bool) -> dict[str, Sequence[Figure]]:
        found.append((list(names), smoke))
        return {name: [Figure("x", 1.5, "us")] for name in names}

    monkeypatch.setattr(command, "run", run)
    monkeypatch.setattr(book.append, "__defaults__", (tmp_path / "book",))
    monkeypatch.setattr(book.entries, "__defaults__", (tmp_path / "book",))
    return found


def test_all_are_run_without_a_name(ran: list[tuple[list[str], bool]]) -> None:
    assert command.main([]) == 0
    assert ran == [(command.benchmarks(), False)]
    assert {"serve", "grow", "floor", "start"} <= set(command.benchmarks())
    assert not {"load", "record"} & set(command.benchmarks())


@pytest.mark.parametrize("name", command.benchmarks())
def test_each_can_be_run_for_a_moment(name: str) -> None:
    assert "smoke" in inspect.signature(importlib.import_module(f"bench.{name}").main).parameters


def test_nothing_is_recorded_unless_wanted(ran: list[tuple[list[str], bool]]) -> None:
    command.main(["--smoke", "start"])
    assert ran == [(["start"], True)]
    assert book.entries() == []


def test_what_is_recorded_is_shown_in_the_table(
    ran: list[tuple[list[str], bool]], capsys: pytest.CaptureFixture[str]
) -> None:
    command.main(["--record", "start"])
    assert [list(entry.figures) for entry in book.entries()] == [["start"]]
    command.main(["--table"])
    assert "start: x" in capsys.readouterr().out
    assert len(ran) == 1


@pytest.mark.parametrize("arguments", [["nobody"], ["--smoke", "--record", "start"]])
def test_what_makes_no_sense_is_refused(
    arguments: list[str], ran: list[tuple[list[str], bool]], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        command.main(arguments)
    assert ran == []
    capsys.readouterr()
