"""Checks manifests offline with the server's own code.

`find_sources` finds files, `check_files` returns a report about them, `output.render_report` formats it.
"""

from __future__ import annotations

from podless.check.documents import Strictness
from podless.check.findings import Finding, Report, Severity
from podless.check.run import CheckOptions, check_files
from podless.check.sources import CannotCheck, SourceFile, find_sources, former_files

__all__ = [
    "CannotCheck",
    "CheckOptions",
    "Finding",
    "Report",
    "Severity",
    "SourceFile",
    "Strictness",
    "check_files",
    "find_sources",
    "former_files",
]
