"""podless check: report what a server would say about manifests, with file and line."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict

from podless.check import config
from podless.check.sources import CannotCheck, SourceFile
from podless.cli.progress import Progress


def run(args: argparse.Namespace) -> int:
    """Check, and print the report. Returns the exit code."""
    chosen = config.resolve_settings(vars(args))
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
    rendered = render_report(report, chosen.output, lambda name: texts[name]() if name in texts else None, color=color)
    sys.stdout.write(rendered)
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
