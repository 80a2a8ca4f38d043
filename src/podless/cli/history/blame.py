"""podless blame: show who set each field of an object."""

from __future__ import annotations

import argparse
from typing import Any

from podless.cli.history.server import add_access, add_object, run_command
from podless.cli.history.source import HistorySource, Mistaken
from podless.cli.history.text import format_blame
from podless.history.blame import blame_object
from podless.runtime.jsonobject import Object


def add(commands: Any) -> None:
    """Add the subcommand to a parser's subparsers."""
    parser = commands.add_parser(
        "blame",
        help="show who set each field of an object",
        description="Show an object as YAML, and before each field the change that gave it its value: revision, time "
        "and author. A deleted object is shown as it was before. Changes that the server has forgotten are shown as "
        "the oldest one that it knows.",
    )
    add_object(parser)
    add_access(parser)
    parser.set_defaults(run=lambda options: run_command(options, lambda server: _run(options, server)))


async def _run(options: argparse.Namespace, server: HistorySource) -> int:
    resource = await server.resource(options.kind)
    namespace = options.namespace if resource.namespaced else ""
    states: list[tuple[Object, Object]] = []
    async for change in server.changes(resource, namespace, options.name, states=True):
        if change["operation"] == "delete" and states:
            break  # a change of an earlier object with the same name
        if change["operation"] != "delete":
            states.append((change, change["state"]))
        if change["operation"] == "create":
            break
    if not states:
        raise Mistaken(f"{resource.full} {options.name}: the log has no changes of it")
    for line in format_blame(blame_object(reversed(states))):
        print(line)
    return 0
