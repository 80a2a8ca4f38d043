"""podless completion: print a shell script that completes commands, options and their values."""

from __future__ import annotations

import argparse
import sys
from typing import Any

SHELLS = ("bash", "zsh", "tcsh")


def add(commands: Any) -> None:
    """Add the subcommand to a parser's subparsers."""
    parser = commands.add_parser(
        "completion",
        help="print a script that completes commands and options in a shell",
        description="Print a script for a shell. With bash: podless completion bash > "
        "~/.local/share/bash-completion/completions/podless. With zsh: write it to a file _podless in a folder of "
        "$fpath. Needs the package shtab: pip install 'podless[completion]'.",
    )
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=", ".join(SHELLS))
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Print the script. Returns 1 if shtab is not installed."""
    try:
        import shtab
    except ImportError:
        print("podless: completion needs the package shtab: pip install 'podless[completion]'", file=sys.stderr)
        return 1
    from podless.cli import build_parser

    print(shtab.complete(build_parser(), given.shell))
    return 0
