"""What the API would say of manifests, before it is asked: the server's own code on files, without a server.

`check` reports on files, `sources` finds them, `output.render` writes the report.
"""

from __future__ import annotations

from podless.check.findings import Finding, Report, Severity
from podless.check.judge import Rules
from podless.check.run import Options, check
from podless.check.sources import CannotCheck, Source, former, sources

__all__ = [
    "CannotCheck",
    "Finding",
    "Options",
    "Report",
    "Rules",
    "Severity",
    "Source",
    "check",
    "former",
    "sources",
]
