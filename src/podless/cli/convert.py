"""podless convert: convert old manifests to apiextensions.k8s.io/v1, and custom resources to another version."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from podless.apis import offline
from podless.apis.apiextensions import manifests
from podless.check.run import read_definitions
from podless.check.sources import CannotCheck, find_sources
from podless.codec import serializer
from podless.kinds.kind import Kind
from podless.kinds.view import copy_object
from podless.meta.errors import Internal
from podless.runtime.files import BadInput, read_path, read_standard_input
from podless.runtime.jsonobject import Object
from podless.structs.structs import DecodeError

_SEPARATOR = re.compile(r"^---(?=\s|$).*\n?", re.MULTILINE)


def run(args: argparse.Namespace) -> int:
    """Convert all files in order. Returns the exit code."""
    conversion = _Conversion(args)
    try:
        conversion.convert_files()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return conversion.code


class _Conversion:
    """Converts documents to standard output. code: the exit code so far."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.code = 0
        self._args = args
        self._begun = False
        self._objects: _ObjectConverter | None = None  # set by --to

    def convert_files(self) -> None:
        texts = [(name, text) for name in self._args.files or ["-"] if (text := self._read_file(name)) is not None]
        try:
            self._objects = _make_converter(self._args, [text for _, text in texts])
        except CannotCheck as error:
            self._fail("", str(error))
            return
        for name, text in texts:
            for index, document in enumerate(_split_documents(text), 1):
                self._convert_document(document, f"{'stdin' if name == '-' else name}[{index}]")

    def _read_file(self, name: str) -> str | None:
        try:
            return (read_standard_input() if name == "-" else read_path(Path(name))).decode()
        except BadInput as error:
            self._fail("", str(error))
        except UnicodeDecodeError:
            self._fail("stdin" if name == "-" else name, "not text in UTF-8")
        return None

    def _convert_document(self, text: str, label: str) -> None:
        try:
            obj = serializer.decode_yaml(text.encode())
        except serializer.YAMLError as error:
            self._fail(label, error.message)
            return
        is_list = isinstance(obj, dict) and obj.get("kind") == "List" and isinstance(obj.get("items"), list)
        items = obj["items"] if is_list else [obj]
        converted = [self._convert_object(item, label) for item in items]
        if any(new is not item for new, item in zip(converted, items, strict=True)):
            kept = [new for new in converted if new is not None]
            if not is_list and not kept:
                return
            text = serializer.encode_yaml({**obj, "items": kept} if is_list else kept[0]).decode()
        if self._begun:
            print("---")
        self._begun = True
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")

    def _convert_object(self, obj: Any, label: str) -> Any:
        """Return an object, converted if necessary; None if that fails."""
        metadata = obj.get("metadata") if isinstance(obj, dict) else None
        name = metadata.get("name") if isinstance(metadata, dict) else ""
        label = f"{label} {name}" if name else label
        try:
            if not manifests.is_older(obj):
                converted = self._objects.convert(obj) if self._objects is not None else None
                return obj if converted is None else converted
            result, notes = manifests.convert_definition(obj, prune=self._args.prune)
        except (manifests.BadManifest, CannotCheck) as error:
            self._fail(label, str(error))
            return None
        for note in notes:
            if note.lost:
                self.code = max(self.code, 1)
            if note.lost or not self._args.quiet:
                print(f"{'lost' if note.lost else 'note'}: {label}: {note.path}: {note.text}", file=sys.stderr)
        return result

    def _fail(self, label: str, reason: str) -> None:
        """Report a manifest or file that is skipped. label: "" for an error in the options."""
        print(f"podless: {label}: {reason}" if label else f"podless: {reason}", file=sys.stderr)
        self.code = 2


def _make_converter(args: argparse.Namespace, texts: Sequence[str]) -> _ObjectConverter | None:
    """Return the converter of custom resources, None without --to. Raises CannotCheck."""
    if not args.to:
        if args.definitions:
            raise CannotCheck("--definitions requires --to")
        return None
    definitions = [definition for text in texts for definition in _find_definitions(text)]
    if args.definitions:
        definitions += read_definitions(find_sources(args.definitions))
    converter = _ObjectConverter(definitions, args.to)
    if not converter.knows_version():
        raise CannotCheck(f"no definition has a version {args.to}; name definitions with --definitions")
    return converter


def _find_definitions(text: str) -> Iterator[dict[str, Any]]:
    """Yield the v1 definitions in a stream."""
    for document in _split_documents(text):
        with suppress(serializer.YAMLError):
            obj = serializer.decode_yaml(document.encode())
            items = obj.get("items") if isinstance(obj, dict) and obj.get("kind") == "List" else [obj]
            for item in items or ():
                named = (item.get("apiVersion"), item.get("kind")) if isinstance(item, dict) else None
                if named == ("apiextensions.k8s.io/v1", "CustomResourceDefinition"):
                    yield item


def _split_documents(text: str) -> Iterator[str]:
    """Yield the documents of a stream that are not empty."""
    for document in _SEPARATOR.split(text):
        if any(line.strip() and not line.lstrip().startswith("#") for line in document.splitlines()):
            yield document


class _ObjectConverter:
    """Converts objects to a version, if their kind has that version.

    definitions: in v1. Raises CannotCheck for a definition that a server would reject.
    """

    def __init__(self, definitions: Iterable[Object], version: str) -> None:
        self._version = version
        self._kinds: dict[tuple[str, str], Kind] = {}
        for definition in definitions:
            try:
                kind = offline.define_kind(definition)
            except DecodeError as error:
                raise CannotCheck(f"a definition cannot be read: {error}") from None
            if kind.kind is None:
                raise CannotCheck(f"{definition['metadata'].get('name')}: {kind.errors[0]}")
            self._kinds[kind.kind.group, kind.kind.kind] = kind.kind

    def knows_version(self) -> bool:
        return any(self._version in kind.by_version for kind in self._kinds.values())

    def convert(self, obj: Any) -> Object | None:
        """Return an object in the version; None if its kind does not have the version. Raises CannotCheck."""
        if not isinstance(obj, dict) or not isinstance(obj.get("apiVersion"), str):
            return None
        group, _, version = obj["apiVersion"].rpartition("/")
        kind = self._kinds.get((group, str(obj.get("kind"))))
        if kind is None or version == self._version or self._version not in kind.by_version:
            return None
        if version not in kind.by_version:
            raise CannotCheck(f"the definition has no version {version}")
        if not isinstance(obj.get("metadata"), dict):
            raise CannotCheck("metadata is not an object")
        if kind.webhook is not None and "rules" not in kind.webhook:
            raise CannotCheck("only a webhook or a hook can convert it: its definition declares no conversion")
        try:
            return offline.convert_object(kind, copy_object(obj), self._version)
        except Internal as error:
            raise CannotCheck(error.message) from None
