"""Validates fields that are numbers or percentages. Source: Kubernetes' pkg/apis/apps/validation."""

from __future__ import annotations

from typing import Any

from podless.apis.shared import checks
from podless.codec import gotext
from podless.codec.gotext import Named
from podless.meta import field, names
from podless.meta.field import FieldError

_FULL = 100  # percent


def validate_int_or_percent(path: str, value: Any) -> list[FieldError]:
    """Validate a nonnegative number or a percentage."""
    if isinstance(value, str):
        return field.invalid_details(path, Named(value), names.check_percent(value))
    return checks.validate_nonnegative(path, value)


def at_most_all(path: str, value: Any) -> list[FieldError]:
    """Reject a percentage above 100%."""
    share = _parse_percent(value)
    return [field.invalid(path, value, "must not be greater than 100%")] if share is not None and share > _FULL else []


def read_int_or_percent(value: Any) -> int:
    """Return the number in a number or percentage; 0 for anything else."""
    percent = _parse_percent(value)
    if percent is not None:
        return percent
    if isinstance(value, str):
        try:
            return gotext.parse_int(value)
        except ValueError:
            return 0
    return int(value or 0)


def _parse_percent(value: Any) -> int | None:
    if not isinstance(value, str) or names.check_percent(value):
        return None
    return min(gotext.parse_natural(value[:-1]), gotext.MAX_INT64)
