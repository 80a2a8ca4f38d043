"""Validates volume claims and their templates.

Source: Kubernetes' pkg/apis/core/validation (ValidatePersistentVolumeClaimSpec).
"""

from __future__ import annotations

from collections.abc import Sequence

from podless.apis.podspec import resources
from podless.apis.shared import checks
from podless.codec import quantity
from podless.meta import field, names, validation
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

_ACCESS = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_ONE_POD = "ReadWriteOncePod"
_MODES = ("Block", "Filesystem")
_CLAIM = "PersistentVolumeClaim"
_SOURCES = ("dataSource", "dataSourceRef")


def validate_claim_template(claim_template: Object, path: str) -> field.Errors:
    """Validate a template of claims. Its metadata may have only labels and annotations."""
    yield from checks.validate_template_metadata(claim_template.get("metadata") or {}, f"{path}.metadata")
    yield from validate_claim_spec(claim_template.get("spec") or {}, f"{path}.spec")


def validate_claim_spec(claim_spec: Object, path: str, old: Object | None = None) -> field.Errors:
    """Validate the spec of a PersistentVolumeClaim. old: the spec before an update."""
    modes = claim_spec.get("accessModes") or []
    if not modes:
        yield field.required(f"{path}.accessModes", "at least 1 access mode is required")
    if claim_spec.get("selector") is not None:
        yield from validation.validate_selector(claim_spec["selector"], f"{path}.selector")
    yield from validate_access_modes(modes, f"{path}.accessModes")
    yield from _validate_storage(((claim_spec.get("resources") or {}).get("requests") or {}).get("storage"), path)
    yield from checks.validate_string(claim_spec, path, "storageClassName", names.check_subdomain)
    yield from validate_volume_mode(claim_spec, path)
    before = [(old or {}).get(name) or {} for name in _SOURCES]
    any_group = any(old_source.get("apiGroup") is not None for old_source in before)
    yield from _validate_sources(claim_spec, path, any_group=any_group)
    yield from checks.validate_string(claim_spec, path, "volumeAttributesClassName", names.check_subdomain)


def validate_access_modes(modes: Sequence[str], path: str) -> field.Errors:
    """Validate accessModes."""
    for mode in each(modes):
        yield from field.one_of(path, mode, _ACCESS)
    if _ONE_POD in modes and not set(modes).isdisjoint(_ACCESS[:3]):
        yield field.forbidden(path, "may not use ReadWriteOncePod with other access modes")


def validate_volume_mode(claim_spec: Object, path: str) -> list[FieldError]:
    """Validate volumeMode."""
    return field.one_of(f"{path}.volumeMode", claim_spec.get("volumeMode"), _MODES)


def _validate_storage(amount: str | None, path: str) -> field.Errors:
    item_path = f"{path}.resources[storage]"
    if amount is None:
        yield field.required(item_path)
    elif quantity.parse_nanos(amount) <= 0:
        yield field.invalid(item_path, amount, checks.POSITIVE)
    else:
        yield from resources.validate_quantity("storage", amount, item_path)


def _validate_sources(sources: Object, path: str, *, any_group: bool) -> field.Errors:
    """Validate dataSource and dataSourceRef, which must agree. any_group: accept any group."""
    source, ref = sources.get("dataSource"), sources.get("dataSourceRef")
    for name, reference in zip(_SOURCES, (source, ref), strict=True):
        if reference is not None:
            yield from _validate_reference(reference, f"{path}.{name}", any_group)
    yield from checks.validate_string(ref or {}, f"{path}.dataSourceRef", "namespace", names.check_label_name)
    if source is None or ref is None:
        return
    if ref.get("namespace"):
        yield field.invalid(path, {}, "may not be specified when dataSourceRef.namespace is specified")
    elif any(source.get(name) != ref.get(name) for name in ("apiGroup", "kind", "name")):
        yield field.invalid(path, {}, "must match dataSourceRef")


def _validate_reference(ref: Object, path: str, any_group: bool) -> field.Errors:
    yield from checks.require_fields(ref, path, "name", "kind")
    group, kind = ref.get("apiGroup") or "", ref.get("kind", "")
    if not group and kind != _CLAIM:
        yield field.invalid(path, kind, f"must be '{_CLAIM}' when referencing the default apiGroup")
    if group and not any_group:
        yield from field.invalid_details(f"{path}.apiGroup", group, names.check_subdomain(group))
