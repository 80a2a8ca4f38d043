"""podless convert: manifests of older generations to apiextensions.k8s.io/v1."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from podless.apis.apiextensions import manifests
from podless.codec import serializer
from podless.schema import Note

_SEPARATOR = re.compile(r"^---(?=\s|$).*\n?", re.MULTILINE)
_CODES = """
exit codes:
  0  everything was carried over
  1  some checks or fields could not be carried over; standard error names each
  2  a manifest cannot be read or converted; it is left out
"""


def add(commands: Any) -> None:
    """Add the subcommand to a parser's subparsers."""
    parser = commands.add_parser(
        "convert",
        help="convert v1beta1 and ThirdPartyResource manifests to v1 definitions",
        description=(
            "Convert CustomResourceDefinitions of apiextensions.k8s.io/v1beta1 and ThirdPartyResources of "
            "extensions/v1beta1 to CustomResourceDefinitions of apiextensions.k8s.io/v1 on standard output. "
            "Schemas become structural; fields for which that is impossible stay unchecked. All other "
            "manifests pass unchanged."
        ),
        epilog=_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "files", metavar="FILE", nargs="*", help="YAML or JSON manifests; - for standard input (default)"
    )
    parser.add_argument(
        "--prune",
        action="store_true",
        help="drop fields that the schema does not specify, even with preserveUnknownFields",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="report only what was lost, not what was inferred")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Convert all files in their order. Returns the exit code."""
    output = _Output(options.quiet)
    try:
        _run(options, output)
        sys.stdout.flush()
    except BrokenPipeError:  # nobody reads on
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return output.code


def _run(options: argparse.Namespace, output: _Output) -> None:
    for name in options.files or ["-"]:
        try:
            text = sys.stdin.read() if name == "-" else Path(name).read_text()
        except (OSError, UnicodeDecodeError) as error:
            output.fail("stdin" if name == "-" else name, getattr(error, "strerror", None) or str(error))
            continue
        for place, document in enumerate(_documents(text), 1):
            _convert(document, f"{'stdin' if name == '-' else name}[{place}]", options.prune, output)


class _Output:
    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.code = 0
        self.begun = False

    def put(self, text: str) -> None:
        if self.begun:
            print("---")
        self.begun = True
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")

    def fail(self, where: str, why: str) -> None:
        """A manifest, or a file, that is left out."""
        print(f"error: {where}: {why}", file=sys.stderr)
        self.code = 2

    def note(self, where: str, note: Note) -> None:
        """What is to be known of a manifest."""
        if note.lost:
            self.code = max(self.code, 1)
        if note.lost or not self.quiet:
            print(f"{'lost' if note.lost else 'note'}: {where}: {note.path}: {note.text}", file=sys.stderr)


def _documents(text: str) -> Iterator[str]:
    """The parts of a stream that say something."""
    for part in _SEPARATOR.split(text):
        if any(line.strip() and not line.lstrip().startswith("#") for line in part.splitlines()):
            yield part


def _convert(text: str, where: str, prune: bool, output: _Output) -> None:
    try:
        obj = serializer.decode_yaml(text.encode())
    except serializer.YAMLError as error:
        output.fail(where, error.message)
        return
    if isinstance(obj, dict) and obj.get("kind") == "List" and any(map(manifests.is_older, obj.get("items") or ())):
        items = [_one(item, where, prune, output) if manifests.is_older(item) else item for item in obj["items"]]
        obj["items"] = [item for item in items if item is not None]
        output.put(serializer.encode_yaml(obj).decode())
    elif manifests.is_older(obj):
        made = _one(obj, where, prune, output)
        if made is not None:
            output.put(serializer.encode_yaml(made).decode())
    else:
        output.put(text)


def _one(obj: dict[str, Any], where: str, prune: bool, output: _Output) -> dict[str, Any] | None:
    metadata = obj.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else ""
    where = f"{where} {name}" if name else where
    try:
        made, notes = manifests.convert_definition(obj, prune=prune)
    except manifests.BadManifest as error:
        output.fail(where, str(error))
        return None
    for note in notes:
        output.note(where, note)
    return made
