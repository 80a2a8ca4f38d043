"""podless convert: convert old manifests to apiextensions.k8s.io/v1, and custom resources to another version."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podless.apis.apiextensions import manifests
from podless.check.sources import CannotCheck
from podless.codec import serializer
from podless.runtime.files import BadInput, read_path, read_standard_input
from podless.schema import Note

if TYPE_CHECKING:
    from podless.check.convert import ObjectConverter

_SEPARATOR = re.compile(r"^---(?=\s|$).*\n?", re.MULTILINE)


def run(args: argparse.Namespace) -> int:
    """Convert all files in order. Returns the exit code."""
    output = _Output(args.quiet)
    try:
        _run(args, output)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return output.code


def _run(args: argparse.Namespace, output: _Output) -> None:
    texts = [(name, text) for name in args.files or ["-"] if (text := _read_file(name, output)) is not None]
    try:
        output.objects = _make_converter(args, texts)
    except CannotCheck as error:
        output.fail("", str(error))
        return
    for name, text in texts:
        for index, document in enumerate(_split_documents(text), 1):
            _convert_document(document, f"{'stdin' if name == '-' else name}[{index}]", args.prune, output)


def _read_file(name: str, output: _Output) -> str | None:
    try:
        return (read_standard_input() if name == "-" else read_path(Path(name))).decode()
    except BadInput as error:
        output.fail("", str(error))
        return None
    except UnicodeDecodeError:
        output.fail("stdin" if name == "-" else name, "not text in UTF-8")
        return None


def _make_converter(args: argparse.Namespace, texts: Sequence[tuple[str, str]]) -> ObjectConverter | None:
    """Return the converter of custom resources, None without --to. Raises CannotCheck."""
    if not args.to:
        if args.definitions:
            raise CannotCheck("--definitions requires --to")
        return None
    from podless.check.convert import ObjectConverter
    from podless.check.run import read_definitions
    from podless.check.sources import find_sources

    definitions = [definition for _, text in texts for definition in _read_definitions(text)]
    if args.definitions:
        definitions += read_definitions(find_sources(args.definitions))
    converter = ObjectConverter(definitions, args.to)
    if not converter.knows_version:
        raise CannotCheck(f"no definition has a version {args.to}; name definitions with --definitions")
    return converter


def _read_definitions(text: str) -> Iterator[dict[str, Any]]:
    """Yield the v1 definitions in a stream."""
    for document in _split_documents(text):
        with suppress(serializer.YAMLError):
            obj = serializer.decode_yaml(document.encode())
            items = obj.get("items") if isinstance(obj, dict) and obj.get("kind") == "List" else [obj]
            for item in items or ():
                named = (item.get("apiVersion"), item.get("kind")) if isinstance(item, dict) else None
                if named == ("apiextensions.k8s.io/v1", "CustomResourceDefinition"):
                    yield item


class _Output:
    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.code = 0
        self.begun = False
        self.objects: ObjectConverter | None = None  # set by --to

    def put(self, text: str) -> None:
        if self.begun:
            print("---")
        self.begun = True
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")

    def fail(self, label: str, reason: str) -> None:
        """Report a manifest or file that is skipped. label: "" for an error in the options."""
        print(f"podless: {label}: {reason}" if label else f"podless: {reason}", file=sys.stderr)
        self.code = 2

    def note(self, label: str, note: Note) -> None:
        """Report a note about a manifest."""
        if note.lost:
            self.code = max(self.code, 1)
        if note.lost or not self.quiet:
            print(f"{'lost' if note.lost else 'note'}: {label}: {note.path}: {note.text}", file=sys.stderr)


def _split_documents(text: str) -> Iterator[str]:
    """Yield the documents of a stream that are not empty."""
    for document in _SEPARATOR.split(text):
        if any(line.strip() and not line.lstrip().startswith("#") for line in document.splitlines()):
            yield document


def _convert_document(text: str, label: str, prune: bool, output: _Output) -> None:
    try:
        obj = serializer.decode_yaml(text.encode())
    except serializer.YAMLError as error:
        output.fail(label, error.message)
        return
    if isinstance(obj, dict) and obj.get("kind") == "List" and isinstance(obj.get("items"), list):
        items = [_convert_object(item, label, prune, output) for item in obj["items"]]
        if any(converted is not item for converted, item in zip(items, obj["items"], strict=True)):
            obj["items"] = [item for item in items if item is not None]
            text = serializer.encode_yaml(obj).decode()
        output.put(text)
        return
    converted = _convert_object(obj, label, prune, output)
    if converted is obj:
        output.put(text)
    elif converted is not None:
        output.put(serializer.encode_yaml(converted).decode())


def _convert_object(obj: Any, label: str, prune: bool, output: _Output) -> Any:
    """Return an object, converted if necessary; None if that fails."""
    metadata = obj.get("metadata") if isinstance(obj, dict) else None
    name = metadata.get("name") if isinstance(metadata, dict) else ""
    label = f"{label} {name}" if name else label
    try:
        if not manifests.is_older(obj):
            converted = output.objects.convert(obj) if output.objects is not None else None
            return obj if converted is None else converted
        result, notes = manifests.convert_definition(obj, prune=prune)
    except (manifests.BadManifest, CannotCheck) as error:
        output.fail(label, str(error))
        return None
    for note in notes:
        output.note(label, note)
    return result
