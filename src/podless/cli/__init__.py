"""The podless command: one file a subcommand."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from podless import __version__
from podless.cli import convert, kubeconfig, migrate, serve

_COMMANDS = (serve, kubeconfig, migrate, convert)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="podless", description="The Kubernetes API without the pods.")
    parser.add_argument("--version", action="version", version=f"podless {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for command in _COMMANDS:
        command.add(commands)
    options = parser.parse_args(arguments)
    if not hasattr(options, "run"):
        parser.print_help(sys.stderr)
        return 2
    code: int = options.run(options)
    return code
