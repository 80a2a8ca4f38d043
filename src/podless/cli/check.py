"""podless check: report what a server would say about manifests, with file and line."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from podless.apis import features
from podless.check import config
from podless.check.documents import VALIDATIONS
from podless.check.output import FORMS
from podless.check.sources import CannotCheck, SourceFile
from podless.cli.arguments import positive
from podless.cli.progress import Progress


def add(commands: Any) -> None:
    """Add the subcommand to a parser's subparsers."""
    parser = commands.add_parser(
        "check",
        help="check manifests offline, with file and line",
        description=(
            "Check CustomResourceDefinitions and objects in files as a server checks them on create, offline "
            "and with the server's own code. Exit status: 0 if every object would be accepted (warnings "
            "allowed), 1 if any would be rejected, 2 if checking failed. [check] in podless.toml sets the "
            "same options."
        ),
    )
    parser.add_argument("paths", metavar="PATH", nargs="*", help="file, folder or pattern; - for standard input")
    parser.add_argument("--crds", metavar="PATH", action="append", help="more definitions (repeatable)")
    parser.add_argument("--context", help="use the definitions of a running server, by kubeconfig context")
    parser.add_argument(
        "--kubeconfig", metavar="FILE", type=Path, help="kubeconfig file (default: $KUBECONFIG or ~/.kube/config)"
    )
    parser.add_argument(
        "--old", metavar="PATH", help="check as updates of these objects; git:REVISION for a Git revision"
    )
    parser.add_argument(
        "--openapi",
        metavar="FILE",
        action="append",
        help="OpenAPI document of a cluster (v2 or v3), for other kinds (repeatable)",
    )
    parser.add_argument("--field-validation", choices=VALIDATIONS, help="how to treat unknown fields (default: strict)")
    parser.add_argument("--ignore-unknown", action="store_true", default=None, help="skip objects of unknown kinds")
    parser.add_argument(
        "--references", action="store_true", default=None, help="report references to objects that are not in the set"
    )
    parser.add_argument(
        "--kubernetes-version",
        metavar="SPAN",
        help=f"Kubernetes releases to check against: {features.SPANS} (default: {features.DEFAULT})",
    )
    parser.add_argument(
        "--exclude",
        metavar="PATTERN",
        action="append",
        help="pattern of file and folder names to skip in folders (repeatable)",
    )
    parser.add_argument(
        "--explain-cost", action="store_true", default=None, help="list the estimated costs of validation rules"
    )
    parser.add_argument("--output", "-o", choices=FORMS, help="output format (default: text)")
    parser.add_argument("--processes", metavar="N", type=positive, help="number of processes (default: one per core)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Check, and print the report. Returns the exit code."""
    chosen = config.resolve_settings(vars(options))
    from podless.check import run as checking
    from podless.check.output import render_report
    from podless.check.sources import find_sources, former_files

    if not chosen.paths:
        raise CannotCheck("name the files to check, or - for standard input")
    sources = find_sources(chosen.paths, chosen.exclude)
    definitions = _find_definitions(chosen)
    if chosen.explain_cost:
        return _explain_costs([*definitions, *sources], chosen)
    progress = Progress(elsewhere=False)
    report = checking.check_files(
        sources,
        known=definitions,
        old=former_files(chosen.old, chosen.paths, chosen.exclude) if chosen.old else (),
        options=chosen.make_options(),
        progress=lambda done, total: progress.show(f"{done} of {total} files"),
    )
    progress.clear()
    texts = {source.name: source.read for source in sources}
    color = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    shown = render_report(report, chosen.output, lambda name: texts[name]() if name in texts else None, color=color)
    sys.stdout.write(shown)
    sys.stdout.flush()
    return 1 if report.errors else 0


def _find_definitions(chosen: config.CheckSettings) -> list[SourceFile]:
    """Return the files of --crds. Raises CannotCheck for a path without a definition."""
    from podless.check.run import has_definition
    from podless.check.sources import find_sources

    definitions: dict[str, SourceFile] = {}
    for path in chosen.crds:
        sources = find_sources([path], chosen.exclude)
        if not any(map(has_definition, sources)):
            raise CannotCheck(f"{path}: no CustomResourceDefinition found")
        definitions.update((source.name, source) for source in sources)
    return [*definitions.values()]


def _explain_costs(source_files: Sequence[SourceFile], chosen: config.CheckSettings) -> int:
    """Print the maximum cost of every rule. Returns 1 if a rule is too expensive or does not compile, else 0."""
    from podless.check import costs
    from podless.check.run import read_definitions

    estimates = [cost for definition in read_definitions(source_files) for cost in costs.estimate_costs(definition)]
    if chosen.output == "json":
        shares = [{**asdict(cost), "total": cost.total, "share": cost.share} for cost in estimates]
        print(json.dumps(shares, indent=2, ensure_ascii=False))
    else:
        for cost in estimates:
            print(costs.format_cost(cost))
    return 1 if any(cost.error or cost.share > 1 for cost in estimates) else 0
