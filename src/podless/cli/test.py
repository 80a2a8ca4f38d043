"""podless test: run suites that state what an API accepts and rejects, or create a first suite."""

from __future__ import annotations

import argparse
import json
import os
import sys

from podless.check.editors import DIALECT, convert_node
from podless.check.output import render_report
from podless.check.sources import CannotCheck, find_sources
from podless.cli import options
from podless.runtime.messages import format_count

_OPTIONS = ("kubernetes_version", "feature_gates")  # options of the server that runs the suites


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add options of the server."""
    options.add_selected(parser, _OPTIONS)


def run(args: argparse.Namespace) -> int:
    """Run suites, or print a new one."""
    from podless.check import initial, suites

    if args.schema:
        print(json.dumps({"$schema": DIALECT, **convert_node(suites.SUITE)}, indent=2))
        return 0
    if args.init is not None:
        print(initial.make_suite(args.init), end="")
        return 0
    if not args.paths:
        raise CannotCheck("name the suites, or a definition with --init")
    sources = find_sources(args.paths)
    report = suites.run_suites(sources, options.read_selected(args, _OPTIONS))
    if not report.objects and not report.errors:
        raise CannotCheck(f"{', '.join(args.paths)}: no tests found")
    texts = {source.name: source.read for source in sources}
    if args.output != "text":
        print(render_report(report, args.output, lambda name: texts[name]()), end="")
        return 1 if report.errors else 0
    color = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    for finding in report.findings:
        name = f"\x1b[31m{finding.about}\x1b[0m" if color and finding.about else finding.about
        label = name or finding.path
        print(f"{finding.file}:{finding.line}: {f'{label}: ' if label else ''}{finding.message}")
    looked = f"{format_count(report.objects, 'statement')} in {format_count(report.files, 'file')}"
    print(f"{looked}: {report.errors} failed")
    return 1 if report.errors else 0
