"""Draws the points in bench/plots/*.json as *.svg beside them. Needs matplotlib: pip install podless[bench]."""

from __future__ import annotations

from pathlib import Path

from bench.record.book import Place
from bench.record.series import PLOTS, Series, load

_WIDTH, _HEIGHT, _ACROSS = 3.4, 2.6, 3  # inches of one curve, and how many stand side by side


def draw_all(folder: Path = PLOTS) -> list[Path]:
    """Draw every file. Raises ImportError without matplotlib."""
    return [draw(*load(file), file.with_suffix(".svg")) for file in sorted(folder.glob("*.json"))]


def draw(series: Series, place: Place, target: Path) -> Path:
    """One picture with a curve a field. Raises ImportError without matplotlib."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "podless"  # the same points give the same file
    matplotlib.rcParams["svg.fonttype"] = "none"  # letters as letters: half the size
    from matplotlib import pyplot

    curves = [curve for curve in series.curves if curve.points]
    rows = -(-len(curves) // _ACROSS)
    figure, fields = pyplot.subplots(
        rows, _ACROSS, figsize=(_WIDTH * _ACROSS, _HEIGHT * rows), squeeze=False, layout="constrained"
    )
    places = list(fields.flat)
    for spare in places[len(curves) :]:
        spare.set_visible(False)
    for curve, axes in zip(curves, places, strict=False):
        sizes, values = zip(*curve.points, strict=True)
        axes.plot(sizes, values, "o-", linewidth=1.5, markersize=4)
        axes.set_xscale("symlog" if 0 in sizes else "log")
        axes.set_ylim(bottom=0, top=max(values) * 1.2)
        axes.set_xticks(sizes, [f"{size:,.0f}" for size in sizes], fontsize=7)
        axes.minorticks_off()
        axes.tick_params(axis="y", labelsize=7)
        power = curve.power()
        grows = "" if power is None else f"   n^{power:.2f}"
        axes.set_title(f"{curve.name} ({curve.unit}){grows}", fontsize=8)
        axes.grid(alpha=0.3)
    figure.suptitle(
        f"{series.of}: {place.commit}, {place.cores} cores, Python {place.python}, load before {place.load}", fontsize=9
    )
    figure.savefig(target, metadata={"Date": None})
    pyplot.close(figure)
    return target
