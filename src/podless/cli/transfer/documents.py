"""Objects in files: one stream of documents, or a folder with a file for each object; read one at a time."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Self

from podless.codec import serializer
from podless.codec.documents import BadDocument, Document, find_files, split_documents
from podless.runtime.files import STANDARD_INPUT, open_standard_input, read_pieces
from podless.runtime.jsonobject import Object

_MARK = b"---"
_AFTER_MARK = (b"", b" ", b"\t", b"\r", b"\n")
_INPUT = 4 << 30  # maximum bytes of standard input, which is saved in a temporary file


class ExportSink:
    """The destination of an export; a context manager that leaves nothing behind after an exception."""

    def put(self, obj: Object, full: str, *, needed: bool = False) -> None:
        """Write an object of a resource. needed: other objects need it, so it goes before them."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass


def _encode_document(obj: Object, form: str) -> bytes:
    return serializer.encode_json(obj) + b"\n" if form == "json" else serializer.encode_yaml(obj)


class DocumentStream(ExportSink):
    """One file with a document for each object, "-" for standard output. form: yaml, or json with one object a line."""

    def __init__(self, file: str, form: str) -> None:
        self._file = file
        self._form = form
        # the output goes there, so that file system must have room anyway
        folder = None if file == "-" else Path(file).parent
        if folder is not None and not folder.is_dir():
            raise BadDocument(f"{file}: the folder {folder} does not exist")
        if folder is not None and Path(file).is_dir():
            raise BadDocument(f"{file}: is a directory")
        self._early_part: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (closed with this one)
        self._later_part: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115

    def put(self, obj: Object, full: str, *, needed: bool = False) -> None:
        target = self._early_part if needed else self._later_part
        target.write((b"" if self._form == "json" else _MARK + b"\n") + _encode_document(obj, self._form))

    def __exit__(self, *error: object) -> None:
        with self._early_part, self._later_part:
            if error[0] is None:
                self._finish_file()

    def _finish_file(self) -> None:
        if self._file == "-":
            self._copy_parts(sys.stdout.buffer)
            return
        path = Path(self._file)
        new = path.with_name(f".{path.name}.new")
        try:
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                self._copy_parts(file)
            new.replace(path)
        finally:
            new.unlink(missing_ok=True)

    def _copy_parts(self, file: IO[bytes]) -> None:
        for source in (self._early_part, self._later_part):
            source.seek(0)
            shutil.copyfileobj(source, file)


class Folder(ExportSink):
    """A folder with a file for each object: cluster/RESOURCE/NAME.yaml and namespaces/NAMESPACE/RESOURCE/NAME.yaml."""

    def __init__(self, folder: Path, form: str) -> None:
        self._folder = folder
        self._form = form

    def put(self, obj: Object, full: str, *, needed: bool = False) -> None:
        namespace, name = obj["metadata"].get("namespace"), obj["metadata"]["name"]
        target_folder = self._folder / "namespaces" / _quote_part(namespace) if namespace else self._folder / "cluster"
        path = target_folder / _quote_part(full) / _quote_part(f"{name}.{self._form}")
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(_encode_document(obj, self._form))

    def __enter__(self) -> Self:
        self._folder.mkdir(parents=True, exist_ok=True)
        if any(self._folder.iterdir()):
            raise BadDocument(f"{self._folder}: not an empty folder")
        return self


def _quote_part(text: str) -> str:
    """Return a part of a path. Raises BadDocument for a part that would leave the folder."""
    if "/" in text or "\0" in text or text in (".", ".."):
        raise BadDocument(f"the server sent an invalid name: {text!r}")
    return text


class Documents:
    """The documents of files and folders, for repeated iteration; a context manager.

    paths: "-" is standard input. Raises BadDocument for a path without files.
    """

    def __init__(self, paths: list[str]) -> None:
        self._input: Path | None = None
        self._files: list[tuple[str, Path]] = []
        for path in paths:
            self._files += self._find_files(path)

    def _find_files(self, path: str) -> list[tuple[str, Path]]:
        if path == "-":
            return [(STANDARD_INPUT, self._save_input())]
        root = Path(path)
        if not root.is_dir():
            return [(path, root)]
        files = find_files(root)
        if not files:
            raise BadDocument(f"{path}: no objects found")
        return [(str(file), file) for file in files]

    def _save_input(self) -> Path:
        """Save standard input in a temporary file. Raises BadInput, OSError."""
        with tempfile.NamedTemporaryFile(prefix="podless-", delete=False) as file:
            self._input = Path(file.name)
            try:
                for piece in read_pieces(open_standard_input(), STANDARD_INPUT, _INPUT):
                    file.write(piece)
                file.flush()
            except BaseException:
                self._input.unlink()
                raise
        return self._input

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._input is not None:
            self._input.unlink(missing_ok=True)

    def __iter__(self) -> Iterator[Document]:
        for name, path in self._files:
            with path.open("rb") as file:
                yield from _split_documents(name, file)


def _split_documents(name: str, file: IO[bytes]) -> Iterator[Document]:
    """Yield the documents of a file. Only JSON lines are read without loading the whole file."""
    text, begun, lines, blank = bytearray(), 0, False, True
    for number, line in enumerate(file):
        if blank and line.startswith(b"{"):
            if not lines and not _is_whole(line):
                for document in split_documents(name, line + file.read()):
                    yield replace(document, line=number + document.line)
                return
            lines = True
        if lines:
            if line.strip():
                yield Document(name, number, line, yaml=False)
            continue
        if line.startswith(_MARK) and line[3:4] in _AFTER_MARK:
            if not blank:
                yield Document(name, begun, bytes(text))
            text, begun, blank = bytearray(), number, True
        text += line
        blank = blank and not line.strip()
    if not blank:
        yield Document(name, begun, bytes(text))


def _is_whole(line: bytes) -> bool:
    try:
        serializer.decode_json(line)
    except serializer.JSONError:
        return False
    return True
