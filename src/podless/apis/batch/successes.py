"""Validates a Job's successPolicy. Source: Kubernetes' pkg/apis/batch/validation."""

from __future__ import annotations

from podless.apis.batch import indexes
from podless.apis.shared import checks
from podless.meta import field
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

_MOST_RULES = 20
_MOST_BYTES = 64 * 1024


def validate_success_policy(policy: Object, completions: int, path: str) -> list[FieldError]:
    """Validate the successPolicy of a Job spec."""
    rules, path = policy.get("rules") or [], f"{path}.rules"
    errors: list[FieldError] = []
    if not rules:
        missing = "at least one rules must be specified when the successPolicy is specified"
        errors.append(field.required(path, missing))
    if len(rules) > _MOST_RULES:
        errors.append(field.too_many(path, len(rules), _MOST_RULES))
    for place, rule in enumerate(each(rules)):
        errors += _rule(rule, completions, f"{path}[{place}]")
    return errors


def _rule(rule: Object, completions: int, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    wanted, number, total = rule.get("succeededIndexes"), rule.get("succeededCount"), 0
    if wanted is None and number is None:
        missing = "at least one of succeededCount or succeededIndexes must be specified"
        errors.append(field.required(path, missing))
    if wanted is not None:
        where = f"{path}.succeededIndexes"
        if len(wanted.encode()) > _MOST_BYTES:
            errors.append(field.too_long(where, _MOST_BYTES))
        try:
            total = indexes.count_indexes(wanted, completions)
        except indexes.IndexFault as why:
            errors.append(field.invalid(where, wanted, f"error parsing succeededIndexes: {why}"))
    if number is not None:
        where = f"{path}.succeededCount"
        errors += checks.validate_nonnegative(where, number)
        if number > completions:
            text = f"must be less than or equal to {completions} (the number of specified completions)"
            errors.append(field.invalid(where, number, text))
        if wanted is not None and number > total:
            text = f"must be less than or equal to {total}"
            text += " (the number of indexes in the specified succeededIndexes field)"
            errors.append(field.invalid(where, number, text))
    return errors
