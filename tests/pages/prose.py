"""Checks pages and docstrings for phrases that CONTRIBUTING.md rules out, listed in prose.toml.

codespell checks the spelling.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent
_LISTS = tomllib.loads((Path(__file__).parent / "prose.toml").read_text())


def _compile(name: str) -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(each["pattern"], re.IGNORECASE), str(each["instead"])) for each in _LISTS[name]]


_PHRASES, _FUNCTIONS, _DOCSTRINGS = _compile("phrase"), _compile("function"), _compile("docstring")
_NOUNS = _compile("noun")
_SPAN = re.compile(r"`[^`\n]*`|\]\([^)]*\)|<!--.*?-->|<[^>\n]*>")


class ProseFault(NamedTuple):
    """A phrase in a text. line: from 1. instead: what to write."""

    line: int
    phrase: str
    instead: str


def files() -> list[Path]:
    """Return the pages that are checked: all except those that are made of texts in the source."""
    pages = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")]
    pages += sorted([*(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*/README.md")])
    pages += [ROOT / "src/podless/apis/README.md", ROOT / "tests/conformance/README.md"]
    return [path for path in pages if not path.read_text().startswith("<!-- `python -m tests.pages write`")]


def sentences(markdown: str) -> Iterator[tuple[int, str]]:
    """Yield the sentences of a page, with the line on which each begins, without code, headings and tables' rules."""
    kept, fenced = [], False
    for line in markdown.splitlines():
        fence = re.match(r"\s*(```|~~~)", line)
        code = fenced or fence or line.startswith("    ")
        fenced ^= fence is not None
        heading = line.startswith("#")
        kept.append("" if code or heading or re.fullmatch(r"[|\s:-]*", line) else _SPAN.sub(_blank, line))
    for first, text in _paragraphs(kept):
        for match in re.finditer(r"(?s)(?:[^.!?]|[.!?](?=\S))+[.!?]?", text):
            begin = len(match[0]) - len(match[0].lstrip())
            if match[0].strip():
                yield first + text.count("\n", 0, match.start() + begin), " ".join(match[0].split())


def _blank(span: re.Match[str]) -> str:
    return "`x`" if span[0].startswith("`") else "]" if span[0].startswith("]") else ""


def _paragraphs(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield runs of lines that are one paragraph, list item or table cell, with the number of their first line."""
    run: list[str] = []
    first = 1
    for number, line in enumerate(lines, 1):
        if line.startswith("|"):
            for cell in line.strip("|").split(" | "):
                yield number, cell.strip()
            continue
        if run and (not line.strip() or re.match(r"\s*(?:[-*]|\d+\.) ", line)):
            yield first, "\n".join(run)
            run = []
        if line.strip():
            if not run:
                first = number
            run.append(re.sub(r"^\s*(?:[-*]|\d+\.) ", "", line))
    if run:
        yield first, "\n".join(run)


def check_prose(markdown: str) -> Iterator[ProseFault]:
    """Yield the phrases of a page that are ruled out."""
    for line, sentence in sentences(markdown):
        for pattern, instead in _PHRASES:
            for match in pattern.finditer(sentence):
                yield ProseFault(line, match[0].strip(" .;,")[:60], instead)


def modules() -> list[Path]:
    """Return the modules whose docstrings are checked: all of podless."""
    return sorted((ROOT / "src" / "podless").rglob("*.py"))


def check_docstrings(source: str) -> Iterator[ProseFault]:
    """Yield the phrases in the docstrings of a module that are ruled out."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        text = ast.get_docstring(node)
        if text is None:
            continue
        for pattern, instead in _select_patterns(node):
            if match := pattern.search(text):
                yield ProseFault(node.body[0].lineno, match[0], instead)


def _select_patterns(node: ast.AST) -> list[tuple[re.Pattern[str], str]]:
    """Return the patterns for a docstring. A property, a fixture and a declared method may be named by a noun."""
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return _DOCSTRINGS
    marks = " ".join(map(ast.unparse, node.decorator_list))
    named = len(node.body) == 1 or any(mark in marks for mark in ("property", "made_once", "fixture"))
    return [*_FUNCTIONS, *_DOCSTRINGS, *(() if named else _NOUNS)]
