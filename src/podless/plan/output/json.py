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
        "changes": [_change(change) for change in plan.changes],
        "webhooks": [call._asdict() for call in plan.webhooks],
        "missing": [{"what": one.what, "why": one.why, "effect": one.effect} for one in plan.missing],
        "requests": dict(plan.requests),
        "notes": plan.notes,
        "seconds": round(plan.seconds, 3),
    }


def _change(change: Change) -> dict[str, Any]:
    identity = change.identity
    found: dict[str, Any] = {
        "action": str(change.action),
        "apiVersion": identity.api_version,
        "kind": identity.kind,
        "namespace": identity.namespace,
        "name": identity.name,
        "consequence": change.consequence,
    }
    if change.file:
        found |= {"file": change.file, "line": change.line, "column": change.column}
    if change.message:
        found["message"] = change.message
    if change.code:
        found["code"] = change.code
    if change.causes:
        found["causes"] = [
            {"field": one.field, "message": one.message, "line": one.line, "column": one.column}
            for one in change.causes
        ]
    if change.fields:
        found["fields"] = [_field(field) for field in change.fields]
    if change.warnings:
        found["warnings"] = [*change.warnings]
    if change.waits:
        found["finalizers"] = [*change.waits]
    return found


def _field(field: FieldChange) -> dict[str, Any]:
    found: dict[str, Any] = {"path": field.path, "by": str(field.by)}
    if field.plugin:
        found["plugin"] = field.plugin
    if not is_ownership(field):
        if field.before is not GONE:
            found["before"] = HIDDEN if field.secret else field.before
        if field.after is not GONE:
            found["after"] = HIDDEN if field.secret else None if field.generated else field.after
    if field.generated:
        found["knownAfterApply"] = True
    if field.secret:
        found["secret"] = True
    if field.new_managers:
        found |= {"managersBefore": [*field.old_managers], "managersAfter": [*field.new_managers]}
    return found
