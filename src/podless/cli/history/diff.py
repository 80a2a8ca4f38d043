"""podless diff: show the changes of an object between two points in time."""

from __future__ import annotations

import argparse

from podless.cli.history.sources import HistorySource, InvalidArguments, choose_paint, query_of_moment, run_command
from podless.history.difference import ABSENT, compare_objects
from podless.history.story import format_fields


def run(args: argparse.Namespace) -> int:
    """Run the command. Returns the exit code."""
    return run_command(args, _run)


async def _run(args: argparse.Namespace, server: HistorySource) -> int:
    resource = await server.find_resource(args.kind)
    states = []
    for moment in (args.first, args.last):
        at = query_of_moment(moment) if moment else {}
        states.append(await server.read_state(resource, args.namespace, args.name, at))
    if states == [None, None]:
        raise InvalidArguments(f"{resource.full_name} {args.name} existed at neither moment")
    differences = []
    for difference in compare_objects(*states):
        document = {"path": difference.field or resource.kind}
        document |= {} if difference.before is ABSENT else {"before": difference.before}
        differences.append(document | ({} if difference.after is ABSENT else {"after": difference.after}))
    for line in format_fields(differences, choose_paint()):
        print(line)
    return 1 if differences else 0
