"""podless completion: print a shell script that completes commands, options and their values."""

from __future__ import annotations

import argparse
import sys

SHELLS = ("bash", "zsh", "tcsh")


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
