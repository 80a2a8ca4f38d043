"""podless schema: JSON schemas of definitions, for editors and kubeconform."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from podless.check.sources import CannotCheck


def add(commands: Any) -> None:
    """Add the subcommand to a parser's subparsers."""
    parser = commands.add_parser(
        "schema",
        help="generate JSON schemas from CustomResourceDefinitions, for editors and kubeconform",
        description=(
            "Generate JSON schemas from CustomResourceDefinitions. With --output, write one file per kind and"
            " version, GROUP/KIND_VERSION.json, as kubeconform expects. Without it, print one schema for all "
            "kinds."
        ),
    )
    parser.add_argument("paths", metavar="PATH", nargs="+", help="file, folder or pattern; - for standard input")
    parser.add_argument("--output", "-o", metavar="FOLDER", type=Path, help="folder to write to")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Make the schemas."""
    from podless.check.editors import DIALECT, editor_schemas
    from podless.check.run import read_definitions
    from podless.check.sources import find_sources

    try:
        made = [
            one for definition in read_definitions(find_sources(options.paths)) for one in editor_schemas(definition)
        ]
        if not made:
            raise CannotCheck("no CustomResourceDefinition found")
        if options.output is None:
            schema = made[0].schema if len(made) == 1 else {"$schema": DIALECT, "oneOf": [one.schema for one in made]}
            print(json.dumps(schema, indent=2, ensure_ascii=False))
        for one in made if options.output is not None else ():
            file = options.output / one.file
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(one.schema, indent=2, ensure_ascii=False) + "\n")
            print(file)
    except CannotCheck as error:
        print(f"podless: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        raise
    except OSError as error:
        print(f"podless: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    return 0
