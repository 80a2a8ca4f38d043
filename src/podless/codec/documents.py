"""The documents in files, as kubectl finds them: YAML between lines of three dashes, JSON texts one after the other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

# what files with documents end with
SUFFIXES = (".json", ".yaml", ".yml")
_MARK = b"---"
_BEHIND = (b"", b" ", b"\t", b"\r", b"\n")  # what a mark has behind it
# a line that is no comment, directive or mark; or something behind a mark
_TEXT = re.compile(rb"^(?!---|\.\.\.)[ \t]*+[^ \t\r\n#%]|^---[ \t]++[^ \t\r\n#]", re.MULTILINE)
_JSON = re.compile(rb"\s*+[{]")
_SPACE = re.compile(r"\s*+")


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a file.

    file: its name, as findings show it. line: how many lines of the file stand before it. raw: its text, in UTF-8.
    yaml: YAML rather than JSON.
    """

    file: str
    line: int
    raw: bytes
    yaml: bool = True


def split_documents(file: str, raw: bytes) -> Iterator[Document]:
    """Return the documents of a file's text that have something in them."""
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    return _json(file, raw) if _JSON.match(raw) else _yaml(file, raw)


def _yaml(file: str, raw: bytes) -> Iterator[Document]:
    line = start = 0
    for end in _marks(raw):
        text = raw[start:end]
        if _TEXT.search(text):
            yield Document(file, line, text)
        line += text.count(b"\n")
        start = end


def _marks(raw: bytes) -> Iterator[int]:
    """Yield where documents end: at the next mark, the last one at the end."""
    place = raw.find(b"\n" + _MARK)
    while place >= 0:
        if raw[place + 4 : place + 5] in _BEHIND:
            yield place + 1
        place = raw.find(b"\n" + _MARK, place + 1)
    yield len(raw)


def _json(file: str, raw: bytes) -> Iterator[Document]:
    """Yield JSON texts; an unreadable one is the last, with all that follows."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        yield Document(file, 0, raw, yaml=False)
        return
    decoder, place, line = json.JSONDecoder(), 0, 0
    while place < len(text):
        start = _end(_SPACE.match(text, place))
        line += text.count("\n", place, start)
        if start == len(text):
            return
        try:
            _, place = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            place = len(text)
        yield Document(file, line, text[start:place].encode(), yaml=False)
        line += text.count("\n", start, place)


def _end(found: re.Match[str] | None) -> int:
    assert found is not None
    return found.end()
