"""The last commits side by side, with what became slower marked."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from bench.record.book import Entry, Place
from bench.record.figure import Figure, short

SLOWER = 0.15  # a figure that is worse than the one before by more than this is marked
Column = tuple[Place, dict[tuple[str, str], Figure]]


def columns(entries: Sequence[Entry], last: int) -> list[Column]:
    """The last commits that were measured, each with its newest figures; another kind of machine is another column."""
    found: dict[tuple[str, int, str], Column] = {}
    for entry in entries:
        place = entry.place
        key = (place.commit, place.cores, place.python)
        known = found.pop(key, (place, {}))[1]
        for name, sheet in entry.figures.items():
            known |= {(name, figure.name): figure for figure in sheet}
        found[key] = (place, known)
    return list(found.values())[-last:]


def render(entries: Sequence[Entry], last: int = 5, names: Collection[str] = ()) -> str:
    """The table as text. names: which benchmarks, all of them without any."""
    shown = columns(entries, last)
    rows: dict[tuple[str, str], Figure] = {}
    for _, figures in shown:
        rows |= {key: figure for key, figure in figures.items() if not names or key[0] in names}
    if not rows:
        return "nothing is recorded yet"
    widths = [max(14, len(place.commit) + 2) for place, _ in shown]
    lines = [
        _line("commit", "", [place.commit for place, _ in shown], widths),
        _line("date", "", [place.date[:10] for place, _ in shown], widths),
        _line("cores, Python", "", [f"{place.cores}, {place.python}" for place, _ in shown], widths),
        _line("load before", "", [f"{place.load:.1f}" for place, _ in shown], widths),
    ]
    for key, figure in sorted(rows.items(), key=lambda row: row[0][0]):  # stable: figures stay in their order
        lines.append(_line(f"{key[0]}: {key[1]}", figure.unit, _cells(key, shown), widths))
    lines.append(f"! worse by more than {SLOWER:.0%} than the commit before on the same kind of machine")
    return "\n".join(lines)


def _cells(key: tuple[str, str], shown: Sequence[Column]) -> list[str]:
    before: dict[tuple[int, str], float] = {}
    cells = []
    for place, figures in shown:
        figure = figures.get(key)
        if figure is None:
            cells.append("-")
            continue
        machine = (place.cores, place.python)
        worse = figure.worse(before.get(machine, 0.0)) > SLOWER
        cells.append(short(figure.value) + (" !" if worse else "  "))
        before[machine] = figure.value
    return cells


def _line(name: str, unit: str, cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [
        (cell if cell.endswith((" ", "!")) else cell + "  ").rjust(width)
        for cell, width in zip(cells, widths, strict=True)
    ]
    return f"{name:58} {unit:6}{''.join(padded)}".rstrip()
