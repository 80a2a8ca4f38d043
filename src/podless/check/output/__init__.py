"""Report formats, one a module."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from podless.check.findings import Report

FORMS = ("text", "json", "sarif", "junit", "github")
# returns the text of a file, None if it cannot be read again
Reread = Callable[[str], bytes | None]


def render_report(report: Report, form: str, reread: Reread, *, color: bool = False) -> str:
    """Return the report in one of FORMS, ending with a line break; "" if there is nothing to report."""
    made: str = import_module(f"podless.check.output.{form}").render_report(report, reread, color=color)
    return made
