"""Draws a shell session as an animated SVG that repository pages show: no script, no font, no link to elsewhere."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

from tests.pages.blocks import Block, read_page
from tests.pages.sessions import ROOT, Reader

PICTURE = ROOT / "docs" / "images" / "first-minute.svg"
_WIDTH, _LINE, _TOP, _CHARACTERS = 960, 20, 52, 112
_PAUSE, _TYPING = 0.9, 0.02  # seconds before a command, and for each of its characters
_STYLE = """\
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #d8dee9; white-space: pre; \
opacity: 0; animation: show 0.01s linear forwards; }
.prompt { fill: #88c0d0; } .command { fill: #eceff4; font-weight: bold; } .error { fill: #ebcb8b; }
@keyframes show { to { opacity: 1; } }
@media (prefers-reduced-motion: reduce) { text { animation: none; opacity: 1; } }"""


def record(page: Path = ROOT / "README.md") -> str:
    """Run the sessions of a page and return them as an SVG, with the output that the commands really print."""
    with tempfile.TemporaryDirectory() as folder:
        reader = Reader(read_page(page), Path(folder))
        reader.follow()
    return draw(reader.seen)


def draw(seen: list[tuple[Block, str, str]]) -> str:
    """Draw commands and what they printed, one after the other."""
    rows: list[tuple[float, str, str]] = []
    now = 0.0
    for block, command, printed in seen:
        if block.language != "console":
            continue
        now += _PAUSE
        for number, line in enumerate(_wrapped(command.strip())):
            rows.append((now, "prompt" if number == 0 else "command", ("$ " if number == 0 else "  ") + line))
        now += _TYPING * len(command)
        for line in printed.strip().splitlines():
            kind = "error" if "invalid" in line or "error" in line.lower().split(":") else ""
            rows += [(now, kind, part) for part in _wrapped(line)]
    height = _TOP + _LINE * len(rows) + 12
    lines = [_text(at, kind, text, _TOP + _LINE * index) for index, (at, kind, text) in enumerate(rows)]
    dots = "".join(
        f'<circle cx="{20 + 20 * index}" cy="18" r="6" fill="{color}"/>'
        for index, color in enumerate(("#bf616a", "#ebcb8b", "#a3be8c"))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
        f'role="img" aria-label="A shell session with podless">\n<style>{_STYLE}</style>\n'
        f'<rect width="{_WIDTH}" height="{height}" rx="8" fill="#2e3440"/>{dots}\n' + "\n".join(lines) + "\n</svg>\n"
    )


def _text(at: float, kind: str, text: str, y: int) -> str:
    style = f'style="animation-delay:{at:.2f}s"'
    if kind == "prompt":
        parts = f'<tspan class="prompt">$ </tspan><tspan class="command">{escape(text[2:])}</tspan>'
    else:
        parts = escape(text)
    return f'<text x="16" y="{y}" class="{kind}" {style}>{parts}</text>'


def _wrapped(line: str) -> list[str]:
    """Break a line at blanks so that it fits the picture."""
    parts, rest = [], line
    while len(rest) > _CHARACTERS:
        cut = rest.rfind(" ", 40, _CHARACTERS) + 1 or _CHARACTERS
        parts.append(rest[:cut].rstrip())
        rest = "    " + rest[cut:]
    return [*parts, rest]


def commands(picture: str) -> list[str]:
    """Return the first line of each command in a picture."""
    found = re.findall(r'<tspan class="command">(.*?)</tspan>', picture)
    return [text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") for text in found]
