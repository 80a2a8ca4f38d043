"""A plan as JSON, for programs."""

from __future__ import annotations

import json
from typing import Any

from podless.plan.output.values import is_ownership
from podless.plan.result import GONE, Change, FieldChange, Plan
from podless.plan.secrecy import HIDDEN


def render(plan: Plan, *, color: bool, details: bool) -> str:
    """Return the plan as JSON."""
    return json.dumps(describe_plan(plan), indent=2, ensure_ascii=False) + "\n"


def describe_plan(plan: Plan) -> dict[str, Any]:
    """Return the plan as a document. Later releases of podless only add fields."""
    return {
        "source": plan.source,
        "kubernetesVersion": plan.release,
        "exitCode": plan.exit_code,
        "summary": {
            "create": len(plan.created),
            "update": len(plan.updated),
            "delete": len(plan.deleted),
            "refused": len(plan.refused),
            "unknown": len(plan.unknown),
            "unchanged": len(plan.unchanged),
        },
        "changes": [_make_change(change) for change in plan.changes],
        "webhooks": [call._asdict() for call in plan.webhooks],
        "missing": [{"what": unread.what, "why": unread.why, "effect": unread.effect} for unread in plan.missing],
        "requests": dict(plan.requests),
        "notes": plan.notes,
        "seconds": round(plan.seconds, 3),
    }


def _make_change(change: Change) -> dict[str, Any]:
    identity = change.identity
    result: dict[str, Any] = {
        "action": str(change.action),
        "apiVersion": identity.api_version,
        "kind": identity.kind,
        "namespace": identity.namespace,
        "name": identity.name,
        "consequence": change.consequence,
    }
    if change.file:
        result |= {"file": change.file, "line": change.line, "column": change.column}
    if change.message:
        result["message"] = change.message
    if change.code:
        result["code"] = change.code
    if change.causes:
        result["causes"] = [
            {"field": cause.field, "message": cause.message, "line": cause.line, "column": cause.column}
            for cause in change.causes
        ]
    if change.fields:
        result["fields"] = [_make_field(field) for field in change.fields]
    if change.warnings:
        result["warnings"] = [*change.warnings]
    if change.waits:
        result["finalizers"] = [*change.waits]
    return result


def _make_field(field: FieldChange) -> dict[str, Any]:
    result: dict[str, Any] = {"path": field.path, "by": str(field.by)}
    if field.plugin:
        result["plugin"] = field.plugin
    if not is_ownership(field):
        if field.before is not GONE:
            result["before"] = HIDDEN if field.secret else field.before
        if field.after is not GONE:
            result["after"] = HIDDEN if field.secret else None if field.generated else field.after
    if field.generated:
        result["knownAfterApply"] = True
    if field.secret:
        result["secret"] = True
    if field.new_managers:
        result |= {"managersBefore": [*field.old_managers], "managersAfter": [*field.new_managers]}
    return result
