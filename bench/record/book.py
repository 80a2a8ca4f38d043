"""The book of results: one line of JSON for each recorded run, in bench/results.jsonl."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.record.figure import Figure

BOOK = Path(__file__).parents[1] / "results.jsonl"
_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Place:
    """Where and when something was measured.

    commit: its short name, with a + where src had changes that were not committed. load: how many processes wanted a
    core beforehand (the average of one minute); 0 is an idle machine.
    """

    commit: str
    date: str
    cores: int
    python: str
    load: float

    @classmethod
    def here(cls) -> Place:
        """This commit on this machine now."""
        date = datetime.now(UTC).isoformat(timespec="seconds")
        load = round(os.getloadavg()[0], 2)
        return cls(_commit(), date, os.cpu_count() or 1, platform.python_version(), load)


@dataclass(frozen=True, slots=True)
class Entry:
    """One run: where, and the figures of each benchmark by its name."""

    place: Place
    figures: Mapping[str, Sequence[Figure]]

    def line(self) -> str:
        """The entry as one line of JSON."""
        figures = {name: [asdict(figure) for figure in sheet] for name, sheet in self.figures.items()}
        return json.dumps({**asdict(self.place), "figures": figures})

    @classmethod
    def read(cls, line: str) -> Entry:
        """An entry from its line. Raises ValueError, KeyError or TypeError for anything else."""
        known: dict[str, Any] = json.loads(line)
        sheets = known.pop("figures")
        return cls(Place(**known), {name: [Figure(**figure) for figure in sheet] for name, sheet in sheets.items()})


def append(entry: Entry, book: Path = BOOK) -> None:
    """Add an entry to the book."""
    with book.open("a", encoding="utf-8") as file:
        file.write(entry.line() + "\n")


def entries(book: Path = BOOK) -> list[Entry]:
    """All entries, the oldest first; none where there is no book."""
    if not book.exists():
        return []
    return [Entry.read(line) for line in book.read_text(encoding="utf-8").splitlines() if line.strip()]


def _commit() -> str:
    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=_ROOT, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    try:
        changed = git("status", "--porcelain", "--", "src")
        return git("rev-parse", "--short", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
