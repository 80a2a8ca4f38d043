"""Common to `podless model` and `podless schema`: definitions as input, files or text as output."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from podless.check import run
from podless.check.sources import CannotCheck, fetch_definitions, find_sources
from podless.runtime.jsonobject import Object


def read_definitions(args: argparse.Namespace) -> list[Object]:
    """Return the definitions that the options name. Raises CannotCheck."""
    remote = args.context is not None or args.kubeconfig is not None
    if not args.paths and not remote:
        raise CannotCheck("name files with definitions, or a server with --context or --kubeconfig")
    definitions = list(run.read_definitions(find_sources(args.paths))) if args.paths else []
    if remote:
        definitions += fetch_definitions(args.kubeconfig, args.context or "")
    if not definitions:
        places = ", ".join(args.paths) or "the server"
        raise CannotCheck(f"{places}: no CustomResourceDefinition found")
    return definitions


def write_files(folder: Path, files: Mapping[str, str], empty_names: Sequence[str] = ()) -> None:
    """Write files below a folder, and print their names. empty_names: names of empty files to add to each folder.

    Raises OSError.
    """
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        for empty_name in empty_names:
            (file.parent / empty_name).touch()
        file.write_text(text)
        print(file)
