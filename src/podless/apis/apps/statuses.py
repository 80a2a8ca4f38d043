"""Validates counts in the status of workloads. Source: Kubernetes' pkg/apis/apps/validation."""

from __future__ import annotations

from collections.abc import Iterable

from podless.apis.shared import checks
from podless.meta import field
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object


def validate_counts(status: Object, fields: Iterable[str], parts: Iterable[str], ready: str = "") -> list[FieldError]:
    """Reject negative counts, and parts above the total. ready: the name of the ready count in errors."""
    errors = checks.all_nonnegative(status, "status", fields)
    whole = status.get("replicas") or 0
    for name in parts:
        part = status.get(name) or 0
        if part > whole:
            errors.append(field.invalid(f"status.{name}", part, "cannot be greater than status.replicas"))
    available = status.get("availableReplicas") or 0
    if ready and available > (status.get("readyReplicas") or 0):
        errors.append(field.invalid("status.availableReplicas", available, f"cannot be greater than {ready}"))
    return errors


def validate_collision_count(status: Object, old: Object) -> list[FieldError]:
    """Reject a decrease of status.collisionCount."""
    count, before = status.get("collisionCount"), old.get("collisionCount")
    if before is None or (count is not None and count >= before):
        return []
    return [field.invalid("status.collisionCount", count or 0, "cannot be decremented")]
