"""podless schema: generate JSON schemas of definitions, for editors and kubeconform."""

from __future__ import annotations

import argparse
import json
from typing import Any

from podless.cli.generated import read_definitions, write_files
from podless.runtime.option import report_errors


def run(args: argparse.Namespace) -> int:
    """Generate the schemas. Returns the exit code."""
    with report_errors(ValueError):
        _generate_schemas(args)
    return 0


def _generate_schemas(args: argparse.Namespace) -> None:
    from podless.check.editors import DIALECT, make_editor_schemas

    schemas = [item for definition in read_definitions(args) for item in make_editor_schemas(definition)]
    if args.output is not None:
        write_files(args.output, {str(item.file): _format_schema(item.schema) + "\n" for item in schemas})
    else:
        one_of = [item.schema for item in schemas]
        print(_format_schema(one_of[0] if len(one_of) == 1 else {"$schema": DIALECT, "oneOf": one_of}))


def _format_schema(schema: Any) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False)
