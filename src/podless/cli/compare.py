"""podless compare: report what a new definition, or another Kubernetes release, breaks."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from podless.check.sources import CannotCheck


def run(options: argparse.Namespace) -> int:
    """Compare, and print the findings."""
    return _compare_releases(options) if options.kubernetes_version else _compare_definitions(options)


def _compare_releases(options: argparse.Namespace) -> int:
    """Report what another release does differently with manifests, and with objects of a running API."""
    from podless.check import remote, upgrade
    from podless.check.findings import Severity, format_count
    from podless.check.sources import find_sources

    before, after = upgrade.choose_pair(options.kubernetes_version)
    sources = find_sources([*filter(None, (options.old, options.new)), *(options.objects or ())])
    definitions = [] if options.context is None else remote.fetch_definitions(options.kubeconfig, options.context)
    if definitions:
        sources += remote.fetch_objects(options.kubeconfig, options.context, definitions)
    findings, report = upgrade.compare_releases(sources, before, after, definitions)
    errors = sum(change.severity == Severity.ERROR for change in findings)
    if options.output == "json":
        print(json.dumps({"changes": [asdict(change) for change in findings]}, indent=2, ensure_ascii=False))
    else:
        warnings = sum(change.severity == Severity.WARNING for change in findings)
        for change in findings:
            print(change)
        looked = f"{format_count(report.objects, 'object')} and {format_count(report.definitions, 'definition')}"
        counts = (errors, "error"), (warnings, "warning"), (len(findings) - errors - warnings, "note")
        print(f"{looked}, from {before} to {after}: {', '.join(format_count(*count) for count in counts)}")
    return 1 if errors else 0


def _compare_definitions(options: argparse.Namespace) -> int:
    """Report what new definitions break. Raises CannotCheck."""
    from podless.check import compare, remote, trial
    from podless.check.findings import Severity, format_count
    from podless.check.run import read_definitions
    from podless.check.sources import find_sources, former_files

    if options.new is None:
        raise CannotCheck("name the old and the new definitions, or two releases with --kubernetes-version")
    old = [*read_definitions(former_files(options.old, [options.new]))]
    new = [*read_definitions(find_sources([options.new]))]
    if not old:
        raise CannotCheck(f"{options.old}: no CustomResourceDefinition found")
    definitions = compare.compare_definitions(old, new)
    tried = find_sources(options.objects) if options.objects else []
    if options.context is not None:
        tried += remote.fetch_objects(options.kubeconfig, options.context, old)
    trials = trial.try_objects(old, new, tried) if tried else []
    if options.output == "json":
        document = {
            "changes": [asdict(change) for change in definitions],
            "objects": [asdict(outcome) for outcome in trials],
        }
        print(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        for line in [*map(str, definitions), *map(str, trials)]:
            print(line)
        errors = sum(change.severity is Severity.ERROR for change in definitions)
        looked = format_count(len(old), "definition")
        print(f"{looked}: {format_count(errors, 'error')}, {format_count(len(definitions) - errors, 'warning')}")
    broken = any(outcome.refused for outcome in trials)
    return 1 if broken or any(change.severity is Severity.ERROR for change in definitions) else 0
