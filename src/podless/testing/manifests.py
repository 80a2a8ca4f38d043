"""Reads objects to apply: dicts, text, files and folders of YAML and JSON, and iterables of these."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from podless.codec.documents import BadDocument, explain_no_object, find_files, split_documents, split_list
from podless.runtime.jsonobject import Object

Manifests = Object | str | os.PathLike[str] | Iterable[Any]

_FIRST = ("Namespace", "CustomResourceDefinition")  # created first, because other objects of the call need them


def read_manifests(manifests: Manifests) -> list[Object]:
    """Return the given objects, namespaces and definitions first.

    A text with a line end or a brace is a manifest; any other text is the path of a file or folder, or a pattern.
    Raises ValueError for invalid input, FileNotFoundError for a path that matches nothing.
    """
    objects = list(_read_objects(manifests))
    return sorted(objects, key=lambda obj: _FIRST.index(obj["kind"]) if obj.get("kind") in _FIRST else len(_FIRST))


def _read_objects(value: Any) -> Iterator[Object]:
    if isinstance(value, dict):
        yield from _split_object(value)
    elif isinstance(value, str) and ("\n" in value or "{" in value):
        yield from _read_text("text", value.encode())
    elif isinstance(value, (str, os.PathLike)):
        for file in _match_files(str(value)):
            yield from _read_text(str(file), file.read_bytes())
    elif isinstance(value, Iterable):
        for item in value:
            yield from _read_objects(item)
    elif hasattr(value, "to_dict"):  # objects of client libraries
        yield from _split_object(value.to_dict())
    else:
        raise ValueError(f"expected an object, a manifest or a path, not {type(value).__name__}")


def _match_files(path: str) -> list[Path]:
    """Return the file of a path, the manifests in a folder and below it, or the files that match a pattern."""
    root = Path(path)
    if root.is_dir():
        files = find_files(root)
    elif glob.has_magic(path) and not root.exists():
        files = sorted(Path(name) for name in glob.glob(path, recursive=True))
    else:
        return [root]
    if not files:
        raise FileNotFoundError(f"{path}: no manifests found")
    return files


def _read_text(name: str, raw: bytes) -> Iterator[Object]:
    for document in split_documents(name, raw):
        try:
            yield from document.read_objects()
        except BadDocument as error:
            raise ValueError(str(error)) from None


def _split_object(value: Object) -> Iterator[Object]:
    for obj, _ in split_list(value):
        if fault := explain_no_object(obj):
            raise ValueError(fault)
        yield obj
