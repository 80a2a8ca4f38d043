"""podless show: show an earlier state of an object."""

from __future__ import annotations

import argparse
import sys

from podless.cli.history.sources import HistorySource, InvalidArguments, query_of_moment, run_command
from podless.codec import serializer


def run(args: argparse.Namespace) -> int:
    """Run the command. Returns the exit code."""
    return run_command(args, _run)


async def _run(args: argparse.Namespace, server: HistorySource) -> int:
    resource = await server.find_resource(args.kind)
    obj = await server.read_state(resource, args.namespace, args.name, query_of_moment(args.at))
    if obj is None:
        raise InvalidArguments(f"{resource.full_name} {args.name} did not exist at {args.at}")
    encode = serializer.encode_yaml if args.output == "yaml" else serializer.encode_json
    sys.stdout.write(encode(obj).decode())
    if args.output == "json":
        print()
    return 0
