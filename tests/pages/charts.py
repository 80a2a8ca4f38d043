"""Draws the chart of the performance page from the table of the page."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape

from tests.pages.sessions import ROOT

PAGE = ROOT / "docs" / "explanation" / "performance.md"
CHART = ROOT / "docs" / "images" / "beside-kube-apiserver.svg"
_ROW, _LEFT, _WIDTH, _MAX = 22, 330, 800, 40.0
_UNITS = {"MB": 1.0, "ms": 0.001, "s": 1.0}


def ratios() -> list[tuple[str, float]]:
    """Return the work of each row and how many times better podless is: more a second, less time or less memory."""
    table = PAGE.read_text().partition("| work |")[2].partition("\n\n")[0].splitlines()[2:]
    found = []
    for line in table:
        work, ours, theirs = (cell.strip() for cell in line.strip("|").split("|"))
        mine, other = _value(ours), _value(theirs)
        found.append((work, mine / other if "/s" in ours else other / mine))
    return found


def _value(cell: str) -> float:
    number, unit = re.match(r"([\d,.]+) ?(\w*)", cell).groups()  # type: ignore[union-attr]
    return float(number.replace(",", "")) * _UNITS.get(unit, 1.0)


def draw() -> str:
    """Return the chart as an SVG."""
    rows = ratios()
    height = 40 + _ROW * len(rows)
    parts = [f'<text x="{_LEFT}" y="18">times better than kube-apiserver 1.36.2 with etcd 3.6</text>']
    for index, (work, ratio) in enumerate(rows):
        y = 32 + _ROW * index
        length = (_WIDTH - _LEFT - 60) * min(ratio, _MAX) / _MAX
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 13}" text-anchor="end">{escape(work)}</text>')
        parts.append(f'<rect x="{_LEFT}" y="{y}" width="{length:.1f}" height="16" fill="#5e81ac"/>')
        parts.append(f'<text x="{_LEFT + length + 6:.1f}" y="{y + 13}">{ratio:.2g}</text>')
    style = "text { font: 12px sans-serif; fill: #2e3440; }"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
        f'role="img" aria-label="podless beside kube-apiserver">\n<style>{style}</style>\n'
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )
