"""podless completion: print a shell script that completes commands, options and their values."""

from __future__ import annotations

import argparse

from podless.runtime.option import ReportedError


def run(args: argparse.Namespace) -> int:
    """Print the script. Returns 1 if shtab is not installed."""
    try:
        import shtab
    except ImportError:
        raise ReportedError("completion needs the package shtab: pip install 'podless[completion]'") from None
    from podless.cli import build_parser

    print(shtab.complete(build_parser(), args.shell))
    return 0
