"""Validates references to objects and controllers, but not that these exist.

Source: Kubernetes' pkg/apis/networking/validation and k8s.io/apimachinery's util/validation.
"""

from __future__ import annotations

import re

from podless.apis.shared import checks
from podless.meta import field, names
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object

_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_PATH_SCAN = re.compile(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]++")
_BARE = 'must be a domain-prefixed path (such as "acme.io/foo")'


def domain_path(value: str, path: str) -> list[FieldError]:
    """Validate a domain-prefixed path, such as example.com/controller."""
    if not value:
        return [field.required(path)]
    host, _, rest = value.partition("/")
    if not host or not rest:
        return [field.invalid(path, value, _BARE)]
    errors = field.invalid_details(path, host, names.check_subdomain(host))
    if not _PATH_SCAN.fullmatch(rest):
        errors.append(field.invalid(path, rest, f"Invalid path (regex used for validation is '{_PATH}')"))
    return errors


def validate_local_reference(reference: Object, path: str) -> list[FieldError]:
    """Validate a reference with apiGroup, kind and name."""
    group = reference.get("apiGroup")
    errors = field.invalid_details(f"{path}.apiGroup", group, names.check_subdomain(group)) if group is not None else []
    for name in ("kind", "name"):
        errors += checks.validate_name(f"{path}.{name}", reference.get(name), names.path_segment)
    return errors
