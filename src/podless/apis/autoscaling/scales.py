"""Validates Scale of autoscaling/v1, the object of scale subresources."""

from __future__ import annotations

from podless.apis.shared import checks
from podless.meta import names, objectmeta
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object


def validate_scale(scale: Object) -> list[FieldError]:
    """Validate a Scale."""
    found = objectmeta.validate_metadata(scale["metadata"], namespaced=True, name_check=_name_errors)
    return [*found, *checks.validate_nonnegative("spec.replicas", (scale.get("spec") or {}).get("replicas"))]


def _name_errors(name: str, prefix: bool) -> list[str]:
    return names.subdomain_prefix(name) if prefix else names.check_subdomain(name)
