"""Options of `podless serve` about the audit log."""

from __future__ import annotations

import argparse
from pathlib import Path

from podless.http.audit.settings import Audit

_DEFAULT = Audit(Path())


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    group = parser.add_argument_group("audit log", "who asked for what and what came of it, as from kube-apiserver")
    group.add_argument(
        "--audit-log-path", metavar="FILE", type=Path, help="file for one JSON line an event; - for standard output"
    )
    group.add_argument(
        "--audit-policy-file",
        metavar="FILE",
        type=Path,
        help="Policy of audit.k8s.io/v1; without one the metadata of every request is told",
    )
    group.add_argument(
        "--audit-log-maxsize", metavar="MB", type=int, default=_DEFAULT.size >> 20, help="when a new file is begun"
    )
    group.add_argument(
        "--audit-log-maxbackup", metavar="N", type=int, default=_DEFAULT.backups, help="older files that are kept"
    )


def read(options: argparse.Namespace) -> Audit | None:
    """What the options say; None for no audit log."""
    if options.audit_log_path is None:
        return None
    return Audit(
        options.audit_log_path,
        options.audit_policy_file,
        max(options.audit_log_maxsize, 0) << 20,
        max(options.audit_log_maxbackup, 0),
    )
