"""How a cost grows: points over a size, how fast that is, and the file they are kept in."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bench.record.book import Place
from bench.record.figure import Figure, short

PLOTS = Path(__file__).parents[1] / "plots"
TOLERATED = 0.25  # by how much the power may be above that of the work


@dataclass(slots=True)
class Curve:
    """One figure at several sizes. work: the power of the size by which the work itself grows.

    A GET is the same work however many objects there are (0), a document of all definitions is as long as they are
    many (1).
    """

    name: str
    unit: str
    more: bool = False
    work: float = 0.0
    points: list[tuple[float, float]] = field(default_factory=list)

    def power(self) -> float | None:
        """The power of the size by which the cost grows from the first point to the last; None for fewer than two."""
        usable = [(size, value) for size, value in self.points if size > 0 and value > 0]
        if len(usable) < 2 or usable[0][0] == usable[-1][0]:
            return None
        (low, first), (high, last) = usable[0], usable[-1]
        grown = math.log(last / first) / math.log(high / low)
        return -grown if self.more else grown

    def excess(self) -> bool:
        """Whether the cost grows faster than its work."""
        power = self.power()
        return power is not None and power > self.work + TOLERATED


@dataclass(slots=True)
class Series:
    """Curves over one size, such as the number of objects."""

    of: str
    curves: list[Curve]

    def put(self, size: int, *values: float | None) -> None:
        """Add a point to each curve, in their order; None adds none. Prints the line."""
        cells = []
        for curve, value in zip(self.curves, values, strict=True):
            if value is not None:
                curve.points.append((size, value))
                cells.append(f"{curve.name} {short(value)} {curve.unit}")
        print(f"{size:>8,} {self.of}: {', '.join(cells)}", flush=True)

    def verdicts(self) -> list[str]:
        """A line for each curve: how it grows, and whether that is more than its work does."""
        lines = []
        for curve in self.curves:
            power = curve.power()
            if power is not None:
                mark = f"  ! its work grows as n^{curve.work:.0f}" if curve.excess() else ""
                lines.append(f"{self.of}: {curve.name} costs n^{power:.2f}{mark}")
        return lines

    def figures(self) -> list[Figure]:
        """The figures at the largest size."""
        found = []
        for curve in self.curves:
            if curve.points:
                size, value = curve.points[-1]
                found.append(Figure(f"{curve.name}, {size:,.0f} {self.of}", value, curve.unit, curve.more))
        return found

    def write(self, place: Place, folder: Path = PLOTS) -> Path:
        """Keep the points in a file named after the size."""
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{self.of}.json"
        curves = [{**asdict(curve), "power": curve.power()} for curve in self.curves]
        file.write_text(json.dumps({"of": self.of, **asdict(place), "curves": curves}, indent=1) + "\n")
        return file


def load(file: Path) -> tuple[Series, Place]:
    """What `write` kept."""
    known = json.loads(file.read_text())
    curves: Sequence[dict[str, object]] = known.pop("curves")
    of = known.pop("of")
    found = []
    for curve in curves:
        curve.pop("power")
        made = Curve(**curve)  # type: ignore[arg-type]
        made.points = [(point[0], point[1]) for point in made.points]
        found.append(made)
    return Series(of, found), Place(**known)
