"""Validates projected volumes and their files: keys of Secrets and ConfigMaps, pod fields, tokens.

Source: Kubernetes' pkg/apis/core/validation.
"""

from __future__ import annotations

from podless.apis.podspec import env
from podless.apis.shared import checks
from podless.meta import field
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

_KINDS = ("secret", "configMap", "downwardAPI", "serviceAccountToken")


def validate_items(source: Object, path: str) -> field.Errors:
    """Validate the keys that become files, and their permissions."""
    yield from checks.validate_mode(source, path)
    for item, at in checks.list_items(source, "items", path):
        yield from _validate_item(item, at)


def _validate_item(item: Object, path: str) -> field.Errors:
    yield from checks.require_fields(item, path, "key", "path")
    yield from checks.validate_local_path(f"{path}.path", item.get("path", ""))
    yield from checks.validate_mode(item, path, "mode")


def validate_downward_file(file: Object, path: str) -> field.Errors:
    """Validate a file of the downward API."""
    yield from checks.require_fields(file, path, "path")
    yield from checks.validate_local_path(f"{path}.path", file.get("path", ""))
    ref, resource = file.get("fieldRef"), file.get("resourceFieldRef")
    if ref is not None:
        yield from env.validate_field_ref(ref, f"{path}.fieldRef", env.FILES)
        if resource is not None:
            yield field.invalid(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
    elif resource is not None:
        yield from env.validate_resource_ref(resource, f"{path}.resourceFieldRef", volume=True)
    else:
        yield field.required(path, "one of fieldRef and resourceFieldRef is required")
    yield from checks.validate_mode(file, path, "mode")


def validate_projected(source: Object, path: str, *, outside_paths: bool) -> field.Errors:
    """Validate a projected volume. outside_paths: accept token paths outside of the volume, as the old pod has them."""
    yield from checks.validate_mode(source, path)
    seen: set[str] = set()
    for item, at in checks.list_items(source, "sources", path):
        for kind in ("secret", "configMap"):
            if item.get(kind) is not None:
                yield from _validate_keys(item[kind], f"{at}.{kind}", path, seen)
        for file in each((item.get("downwardAPI") or {}).get("items") or ()):
            yield from validate_downward_file(file, f"{at}.downwardAPI")
            yield from _validate_distinct_path(file.get("path", ""), file.get("path", ""), path, seen)
        if item.get("serviceAccountToken") is not None:
            yield from _validate_token(item["serviceAccountToken"], f"{at}.serviceAccountToken", path, outside_paths)
        if sum(item.get(kind) is not None for kind in _KINDS) > 1:
            yield field.forbidden(at, "may not specify more than 1 volume type per source")


def _validate_keys(source: Object, source_path: str, path: str, seen: set[str]) -> field.Errors:
    yield from checks.require_fields(source, source_path, "name")
    for item, at in checks.list_items(source, "items", source_path):
        yield from _validate_item(item, at)
        yield from _validate_distinct_path(item.get("path", ""), source.get("name", ""), path, seen)


def _validate_distinct_path(file: str, shown_value: str, path: str, seen: set[str]) -> field.Errors:
    """Reject a second file at the same path."""
    if file and file in seen:
        yield field.invalid(path, shown_value, "conflicting duplicate paths")
    seen.add(file)


def _validate_token(token: Object, at: str, path: str, outside_paths: bool) -> field.Errors:
    seconds, file = token.get("expirationSeconds") or 0, token.get("path", "")
    yield from checks.validate_token_lifetime(f"{at}.expirationSeconds", seconds)
    if not file:
        yield field.required(f"{path}.path")
    elif not outside_paths:
        yield from checks.validate_local_path(f"{path}.path", file)


def has_outside_token_path(spec: Object) -> bool:
    """Return whether a pod has token paths outside of their volume."""
    for volume in each(spec.get("volumes") or ()):
        for source in (volume.get("projected") or {}).get("sources") or ():
            token = source.get("serviceAccountToken")
            if token is not None and any(True for _ in checks.validate_local_path("", token.get("path", ""))):
                return True
    return False
