"""The forms of a plan, for users and programs; one file for each form."""

from __future__ import annotations

from importlib import import_module

from podless.plan.result import Plan

FORMS = ("text", "json", "markdown", "github", "diff")


def render_plan(plan: Plan, form: str, *, color: bool = False, details: bool = False) -> str:
    """Return the plan in one of FORMS, ending with a line break. details: show each field that the server adds.

    No form contains values of Secrets.
    """
    result: str = import_module(f"podless.plan.output.{form}").render(plan, color=color, details=details)
    return result
