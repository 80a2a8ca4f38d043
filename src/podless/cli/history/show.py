"""podless show: show an earlier state of an object."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from podless.cli.history.server import add_access, add_object, query_of_moment, run_command
from podless.cli.history.source import HistorySource, InvalidArguments
from podless.codec import serializer


def add(commands: Any) -> None:
    """Add the subcommand to a parser's subparsers."""
    parser = commands.add_parser(
        "show", help="show an object as it was", description="Show an object as it was at a revision or at a time."
    )
    add_object(parser)
    parser.add_argument(
        "--at",
        metavar="REVISION|TIME",
        required=True,
        help="a resourceVersion, a duration before now (1h) or a time in RFC 3339",
    )
    parser.add_argument("-o", "--output", choices=("yaml", "json"), default="yaml", help="output format")
    add_access(parser)
    parser.set_defaults(run=lambda options: run_command(options, lambda server: _run(options, server)))


async def _run(options: argparse.Namespace, server: HistorySource) -> int:
    resource = await server.find_resource(options.kind)
    obj = await server.read_state(resource, options.namespace, options.name, query_of_moment(options.at))
    if obj is None:
        raise InvalidArguments(f"{resource.full_name} {options.name} did not exist at {options.at}")
    encode = serializer.encode_yaml if options.output == "yaml" else serializer.encode_json
    sys.stdout.write(encode(obj).decode())
    if options.output == "json":
        print()
    return 0
