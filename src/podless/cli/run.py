"""podless run: run a command with its own server."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from podless.cli import options
from podless.runtime.files import describe_fault
from podless.runtime.option import report_errors

_OPTIONS = ("console", "enable_faults", "chaos", "kubernetes_version", "feature_gates")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add options of the server."""
    options.add_selected(parser, _OPTIONS)


def run(args: argparse.Namespace) -> int:
    """Run the command. Returns its exit code, 128 plus the signal that ended it, or 127 if it cannot be started."""
    from podless.server import Server

    with report_errors(LookupError, ValueError), Server(**options.read_selected(args, _OPTIONS)) as server:
        if server.chaos is not None:
            print(f"podless: {options.chaos_notice(server.chaos)}", file=sys.stderr)
        if args.console:
            print(f"podless: console: {server.make_console_link()}", file=sys.stderr)
        server.apply([Path(path) for path in args.apply])
        return _run_child(args.command, str(server.kubeconfig))


def _run_child(command: list[str], kubeconfig: str) -> int:
    try:
        child = subprocess.Popen(command, env={**os.environ, "KUBECONFIG": kubeconfig})
    except OSError as error:
        print(f"podless: {describe_fault(error, command[0])}", file=sys.stderr)
        return 127
    with _forward_signals(child):
        code = child.wait()
    return code if code >= 0 else 128 - code


@contextmanager
def _forward_signals(child: subprocess.Popen[bytes]) -> Iterator[None]:
    """Forward SIGTERM to the command, whose exit status counts. For Ctrl-C, the terminal signals both."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN), signal.getsignal(signal.SIGTERM)
    signal.signal(signal.SIGTERM, lambda number, _: child.send_signal(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before[0])
        signal.signal(signal.SIGTERM, before[1])
