"""podless compare: report what a new definition, or another Kubernetes release, breaks."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from podless.check.compare import compare_definitions
from podless.check.findings import Severity
from podless.check.run import read_definitions
from podless.check.sources import CannotCheck, fetch_definitions, fetch_objects, find_sources, former_files
from podless.check.upgrade import choose_pair, compare_releases, try_objects
from podless.runtime.messages import format_count


def run(args: argparse.Namespace) -> int:
    """Compare, and print the findings."""
    return _compare_releases(args) if args.kubernetes_version else _compare_definitions(args)


def _compare_releases(args: argparse.Namespace) -> int:
    """Report what another release does differently with manifests, and with objects of a running API."""
    before, after = choose_pair(args.kubernetes_version)
    sources = find_sources([*filter(None, (args.old, args.new)), *(args.objects or ())])
    definitions = [] if args.context is None else fetch_definitions(args.kubeconfig, args.context)
    if definitions:
        sources += fetch_objects(args.kubeconfig, args.context, definitions)
    findings, report = compare_releases(sources, before, after, definitions)
    errors = sum(change.severity == Severity.ERROR for change in findings)
    if args.output == "json":
        print(json.dumps({"changes": [asdict(change) for change in findings]}, indent=2, ensure_ascii=False))
    else:
        warnings = sum(change.severity == Severity.WARNING for change in findings)
        for change in findings:
            print(change)
        looked = f"{format_count(report.objects, 'object')} and {format_count(report.definitions, 'definition')}"
        counts = (errors, "error"), (warnings, "warning"), (len(findings) - errors - warnings, "note")
        print(f"{looked}, from {before} to {after}: {', '.join(format_count(*count) for count in counts)}")
    return 1 if errors else 0


def _compare_definitions(args: argparse.Namespace) -> int:
    """Report what new definitions break. Raises CannotCheck."""
    if args.new is None:
        raise CannotCheck("name the old and the new definitions, or two releases with --kubernetes-version")
    old = [*read_definitions(former_files(args.old, [args.new]))]
    new = [*read_definitions(find_sources([args.new]))]
    if not old:
        raise CannotCheck(f"{args.old}: no CustomResourceDefinition found")
    definitions = compare_definitions(old, new)
    tried = find_sources(args.objects) if args.objects else []
    if args.context is not None:
        tried += fetch_objects(args.kubeconfig, args.context, old)
    trials = try_objects(old, new, tried) if tried else []
    if args.output == "json":
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
