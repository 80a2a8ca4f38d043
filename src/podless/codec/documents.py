"""The documents in a file, as kubectl splits them: YAML between lines of three dashes, JSON texts in sequence."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from podless.codec import serializer
from podless.runtime.dataclass import dataclass
from podless.runtime.files import BadInput
from podless.runtime.jsonobject import Object

# suffixes of files with documents
SUFFIXES = (".json", ".yaml", ".yml")
_MARK = b"---"
_AFTER_MARK = (b"", b" ", b"\t", b"\r", b"\n")  # bytes that can follow a document mark
# a line that is not a comment, directive or mark; or text after a mark
_TEXT = re.compile(rb"^(?!---|\.\.\.)[ \t]*+[^ \t\r\n#%]|^---[ \t]++[^ \t\r\n#]", re.MULTILINE)
_JSON = re.compile(rb"\s*+[{]")
_SPACE = re.compile(r"\s*+")


class BadDocument(BadInput):
    """A document has no readable objects. The text is FILE:LINE: REASON."""


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a file.

    file: its name, as findings show it. line: number of lines before it in the file. raw: its text, in UTF-8. yaml:
    YAML, else JSON.
    """

    file: str
    line: int
    raw: bytes
    yaml: bool = True

    def decode_value(self, duplicates: list[str] | None = None, floats: serializer.Floats | None = None) -> Any:
        """Return the value of the document. Raises YAMLError, JSONError. duplicates, floats: see the decoders."""
        if self.yaml:
            return serializer.decode_yaml(self.raw, duplicates)
        return serializer.decode_json(self.raw, duplicates, floats)

    def read_objects(self, *, named: bool = False) -> list[Object]:
        """Return the objects of the document; a list is split into its items. named: each needs a metadata.name.

        Raises BadDocument.
        """
        try:
            value = self.decode_value()
        except serializer.JSONError as error:
            raise BadDocument(f"{self.file}:{self.line + 1}: {error.message}") from None
        objects = [obj for obj, _ in split_list(value)] if value is not None else []
        if fault := next(filter(None, (explain_no_object(obj, named=named) for obj in objects)), ""):
            raise BadDocument(f"{self.file}:{self.line + 1}: {fault}")
        return objects


def split_list(value: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[Any, tuple[str | int, ...]]]:
    """Yield the objects in a value, each with its path: the items of a list, else the value itself."""
    items = value.get("items") if isinstance(value, dict) else None
    if isinstance(items, list) and str(value.get("kind")).endswith("List"):
        for index, item in enumerate(items):
            yield from split_list(item, (*at, "items", index))
    else:
        yield value, at


def explain_no_object(value: Any, *, named: bool = False) -> str:
    """Return why a value is not an object, "" if it is one. named: it needs a metadata.name."""
    texts = [value.get(key) if isinstance(value, dict) else None for key in ("apiVersion", "kind")]
    if named:
        metadata = value.get("metadata") if isinstance(value, dict) else None
        texts.append(metadata.get("name") if isinstance(metadata, dict) else None)
    if all(isinstance(text, str) and text for text in texts):
        return ""
    return f"an object needs {'apiVersion, kind and metadata.name' if named else 'apiVersion and kind'}"


def find_files(folder: Path) -> list[Path]:
    """Return the files with documents in a folder and below it."""
    return sorted(file for file in folder.rglob("*") if file.suffix in SUFFIXES and file.is_file())


def split_documents(file: str, raw: bytes) -> Iterator[Document]:
    """Yield the documents of a file that are not empty."""
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    return _split_json(file, raw) if _JSON.match(raw) else _split_yaml(file, raw)


def _split_yaml(file: str, raw: bytes) -> Iterator[Document]:
    line = start = 0
    for end in _find_ends(raw):
        text = raw[start:end]
        if _TEXT.search(text):
            yield Document(file, line, text)
        line += text.count(b"\n")
        start = end


def _find_ends(raw: bytes) -> Iterator[int]:
    """Yield the offsets where documents end: at the next mark, and at the end of the text."""
    offset = raw.find(b"\n" + _MARK)
    while offset >= 0:
        if raw[offset + 4 : offset + 5] in _AFTER_MARK:
            yield offset + 1
        offset = raw.find(b"\n" + _MARK, offset + 1)
    yield len(raw)


def _split_json(file: str, raw: bytes) -> Iterator[Document]:
    """Yield JSON texts. An unreadable one is the last, and includes all that follows."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        yield Document(file, 0, raw, yaml=False)
        return
    decoder, offset, line = json.JSONDecoder(), 0, 0
    while offset < len(text):
        start = _SPACE.match(text, offset).end()  # type: ignore[union-attr]  # matches nothing, too
        line += text.count("\n", offset, start)
        if start == len(text):
            return
        try:
            _, offset = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            offset = len(text)
        yield Document(file, line, text[start:offset].encode(), yaml=False)
        line += text.count("\n", start, offset)
