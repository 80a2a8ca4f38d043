"""Validates common parts of storage kinds. Source: Kubernetes' pkg/apis/storage/validation."""

from __future__ import annotations

from collections.abc import Iterator

from podless.meta import field, names
from podless.meta.field import FieldError
from podless.runtime.meter import each

_MOST_BYTES = 256 * 1024
_MOST_PARAMETERS = 512


def validate_provisioner(name: str, path: str) -> Iterator[FieldError]:
    """Validate the name of a provisioner."""
    if not name:
        yield field.required(path)
        return
    yield from field.invalid_details(path, name.lower(), names.qualified_name(name.lower()))


def validate_parameters(given: dict[str, str]) -> Iterator[FieldError]:
    """Validate the parameters of a StorageClass or VolumeAttributesClass."""
    path = "parameters"
    if len(given) > _MOST_PARAMETERS:
        yield field.too_long(path, _MOST_PARAMETERS)
        return
    if "" in given:
        yield field.invalid(path, "", "field can not be empty.")
    yield from validate_size(given, path)


def validate_size(given: dict[str, str], path: str) -> Iterator[FieldError]:
    """Reject a map whose keys and values are too large together."""
    if sum(len(key.encode()) + len(value.encode()) for key, value in each(given).items()) > _MOST_BYTES:
        yield field.too_long(path, _MOST_BYTES)
