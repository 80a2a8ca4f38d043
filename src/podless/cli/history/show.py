"""podless show: show an earlier state of an object."""

from __future__ import annotations

import argparse
import sys

from podless.cli.history.server import query_of_moment, run_command
from podless.cli.history.source import HistorySource, InvalidArguments
from podless.codec import serializer


def run(options: argparse.Namespace) -> int:
    """Run the command. Returns the exit code."""
    return run_command(options, _run)


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
