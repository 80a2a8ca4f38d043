"""What the API would say of manifests, before it is asked: the server's own code on files, without a server.

`check` reports on files, `sources` finds them, `output.render` writes the report.
"""

from __future__ import annotations

from podless.check.findings import Finding, Report, Severity
from podless.check.judge import Strictness
from podless.check.run import CheckOptions, check
from podless.check.sources import CannotCheck, SourceFile, former, sources

__all__ = [
    "CannotCheck",
    "CheckOptions",
    "Finding",
    "Report",
    "Severity",
    "SourceFile",
    "Strictness",
    "check",
    "former",
    "sources",
]
