"""podless check: what a server would say of manifests, with file and line."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from podless.apis import features
from podless.check import config
from podless.check.judge import VALIDATIONS
from podless.check.output import FORMS
from podless.check.sources import CannotCheck, SourceFile

_EVERY = 0.1  # seconds between two states of the progress line


def add(commands: Any) -> None:
    """Add the subcommand to a parser's subparsers."""
    parser = commands.add_parser(
        "check",
        help="say what a server would say of manifests, with file and line",
        description=(
            "Check CustomResourceDefinitions and objects in files as a server would when they are created: offline, by "
            "the server's own code. Ends with 0 where all is well, 1 where something is refused, 2 where it could "
            "not be checked. Options can stand in [check] of a podless.toml as well."
        ),
    )
    parser.add_argument("paths", metavar="PATH", nargs="*", help="file, folder or pattern; - for the standard input")
    parser.add_argument("--crds", metavar="PATH", action="append", help="more definitions; can be repeated")
    parser.add_argument("--context", help="take the definitions of a running API, by a context of the kubeconfig")
    parser.add_argument("--kubeconfig", metavar="FILE", type=Path, help="the kubeconfig; $KUBECONFIG or ~/.kube/config")
    parser.add_argument("--old", metavar="PATH", help="check as updates of what is there; git:REVISION for a revision")
    parser.add_argument(
        "--openapi",
        metavar="FILE",
        action="append",
        help="OpenAPI document of a cluster (v2 or v3), for other built-in kinds",
    )
    parser.add_argument("--field-validation", choices=VALIDATIONS, help="what becomes of unknown fields (strict)")
    parser.add_argument("--ignore-unknown", action="store_true", default=None, help="skip objects of unknown kinds")
    parser.add_argument("--references", action="store_true", default=None, help="what objects name has to be there")
    parser.add_argument(
        "--kubernetes-version",
        metavar="SPAN",
        help=f"Kubernetes releases to check against: {features.SPANS} ({features.DEFAULT})",
    )
    parser.add_argument("--exclude", metavar="PATTERN", action="append", help="names to leave out of folders")
    parser.add_argument(
        "--explain-cost", action="store_true", default=None, help="list what the rules of the definitions may cost"
    )
    parser.add_argument("--output", "-o", choices=FORMS, help="form of the report (text)")
    parser.add_argument("--processes", metavar="N", type=int, help="how many to use; as many as there are cores")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Check, and print the report."""
    try:
        chosen = config.settle_settings(vars(options))
        return _run(chosen)
    except CannotCheck as error:
        print(f"podless: {error}", file=sys.stderr)
        return 2


def _run(chosen: config.CheckSettings) -> int:
    from podless.check import run as checking
    from podless.check.output import render_report
    from podless.check.sources import find_sources, former_files

    if not chosen.paths:
        raise CannotCheck("name the files to check, or - for the standard input")
    given = find_sources(chosen.paths, chosen.exclude)
    if chosen.explain_cost:
        return _explain([*find_sources(chosen.crds, chosen.exclude), *given], chosen)
    progress = _Progress()
    report = checking.check_files(
        given,
        known=find_sources(chosen.crds, chosen.exclude),
        old=former_files(chosen.old, chosen.paths, chosen.exclude) if chosen.old else (),
        options=chosen.options(),
        progress=progress.say,
    )
    progress.clear()
    texts = {source.name: source.read for source in given}
    color = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    shown = render_report(report, chosen.output, lambda name: texts[name]() if name in texts else None, color=color)
    sys.stdout.write(shown)
    sys.stdout.flush()
    return 1 if report.errors else 0


def _explain(given: Sequence[SourceFile], chosen: config.CheckSettings) -> int:
    """Print what every rule may cost; 1 where one may cost too much, or does not compile."""
    from podless.check import costs
    from podless.check.run import read_definitions

    found = [cost for definition in read_definitions(given) for cost in costs.estimate_costs(definition)]
    if chosen.output == "json":
        shares = [{**asdict(cost), "total": cost.total, "share": cost.share} for cost in found]
        print(json.dumps(shares, indent=2, ensure_ascii=False))
    else:
        for cost in found:
            print(costs.format_cost(cost))
    return 1 if any(cost.error or cost.share > 1 for cost in found) else 0


class _Progress:
    """A line on the terminal that changes, where standard error is one."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._last = time.monotonic()
        self._shown = False

    def say(self, done: int, total: int) -> None:
        """How far it is; not every call is shown."""
        now = time.monotonic()
        if self._terminal and now - self._last > _EVERY:
            self._last, self._shown = now, True
            print(f"\r\x1b[K{done} of {total} files", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
