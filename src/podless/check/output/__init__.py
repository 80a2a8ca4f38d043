"""A report in the form that a person or a program wants; one file a form."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from podless.check.findings import Report

FORMS = ("text", "json", "sarif", "junit", "github")
# the text of a file, for the lines that findings are in; None where it cannot be read again
Reread = Callable[[str], bytes | None]


def render_report(report: Report, form: str, reread: Reread, *, color: bool = False) -> str:
    """Return the report in one of FORMS, with a line's end behind it; "" where there is nothing to say in it."""
    made: str = import_module(f"podless.check.output.{form}").render_report(report, reread, color=color)
    return made
