"""What the spec of a persistent volume has to be. Source: Kubernetes' pkg/apis/core/validation."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from podless.kinds.builtin.volumes import sources
from podless.kinds.strategy import Object
from podless.meta import field, names, quantity
from podless.meta.field import FieldError

ACCESS = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
MODES = ("Block", "Filesystem")
_ALONE = "ReadWriteOncePod"
_RECLAIMING = ("Delete", "Recycle", "Retain")
_INLINE = "in the context of inline volumes"
_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")


def check(spec: Object, path: str = "spec") -> Iterator[FieldError]:
    """All that is wrong with the spec of a volume."""
    yield from access(spec.get("accessModes") or [], f"{path}.accessModes", "")
    yield from _capacity(spec.get("capacity") or {}, f"{path}.capacity")
    policy, mode = spec.get("persistentVolumeReclaimPolicy"), spec.get("volumeMode")
    if policy and policy not in _RECLAIMING:
        yield field.not_supported(f"{path}.persistentVolumeReclaimPolicy", policy, _RECLAIMING)
    affinity = spec.get("nodeAffinity")
    if affinity is not None:
        yield from _affinity(affinity, f"{path}.nodeAffinity")
    required = (affinity or {}).get("required")
    yield from sources.check(spec, path, affinity=required is not None)
    host = spec.get("hostPath")
    if host is not None and policy == "Recycle" and _root(host.get("path") or ""):
        text = "may not be 'recycle' for a hostPath mount of '/'"
        yield field.forbidden(f"{path}.persistentVolumeReclaimPolicy", text)
    name = spec.get("storageClassName") or ""
    yield from (
        field.invalid(f"{path}.storageClassName", name, text) for text in (names.subdomain(name) if name else ())
    )
    if mode is not None and mode not in MODES:
        yield field.not_supported(f"{path}.volumeMode", mode, MODES)
    yield from _attributes(spec, path)


def inline(spec: Object, path: str) -> Iterator[FieldError]:
    """What is wrong with the spec of a volume that is none of its own, but part of what attaches it."""
    for name in ("claimRef", "capacity"):
        if spec.get(name):
            yield field.forbidden(f"{path}.{name}", f"may not be specified {_INLINE}")
    if spec.get("csi") is None:
        yield field.required(f"{path}.csi", f"has to be specified {_INLINE}")
    yield from access(spec.get("accessModes") or [], f"{path}.accessModes", "")
    if spec.get("persistentVolumeReclaimPolicy") not in (None, "", "Retain"):
        yield field.forbidden(f"{path}.persistentVolumeReclaimPolicy", f"may only be Retain {_INLINE}")
    if spec.get("nodeAffinity") is not None:
        yield field.forbidden(f"{path}.nodeAffinity", f"may not be specified {_INLINE}")
    yield from sources.check(spec, path, affinity=False)
    if spec.get("storageClassName"):
        yield field.forbidden(f"{path}.storageClassName", f"may not be specified {_INLINE}")
    if spec.get("volumeMode") not in (None, "Filesystem"):
        yield field.forbidden(f"{path}.volumeMode", f"may not specify volumeMode other than Filesystem {_INLINE}")


def access(modes: Sequence[str], path: str, missing: str) -> Iterator[FieldError]:
    """How a volume may be used. missing: what is said where that is left out."""
    if not modes:
        yield field.required(path, missing)
    for mode in modes:
        if mode not in ACCESS:
            yield field.not_supported(path, mode, ACCESS)
    if _ALONE in modes and any(mode in ACCESS and mode != _ALONE for mode in modes):
        yield field.forbidden(path, f"may not use {_ALONE} with other access modes")


def _capacity(given: dict[str, str], path: str) -> Iterator[FieldError]:
    if not given:
        yield field.required(path)
    if list(given) != ["storage"]:
        yield field.not_supported(path, given, ["storage"])
    for name, text in given.items():
        amount = quantity.parse(text)
        if amount < 0:
            yield field.invalid(f"{path}[{name}]", int(amount), "must be a valid resource quantity")
        if amount <= 0:
            yield field.invalid(f"{path}[{name}]", text, "must be greater than zero")


def _affinity(affinity: Object, path: str) -> Iterator[FieldError]:
    required = affinity.get("required")
    if required is None:
        yield field.required(f"{path}.required", "must specify required node constraints")
        return
    terms = required.get("nodeSelectorTerms") or []
    where = f"{path}.required.nodeSelectorTerms"
    if not terms:
        yield field.required(where, "must have at least one node selector term")
    for place, term in enumerate(terms):
        yield from _term(term, f"{where}[{place}]")


def _term(term: Object, path: str) -> Iterator[FieldError]:
    for place, one in enumerate(term.get("matchExpressions") or []):
        yield from _requirement(one, f"{path}.matchExpressions[{place}]")
    for place, one in enumerate(term.get("matchFields") or []):
        yield from _field(one, f"{path}.matchFields[{place}]")


def _requirement(one: Object, path: str) -> Iterator[FieldError]:
    operator, values, key = one.get("operator") or "", one.get("values") or [], one.get("key") or ""
    if operator in ("In", "NotIn") and not values:
        yield field.required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist") and values:
        text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        yield field.forbidden(f"{path}.values", text)
    elif operator in ("Gt", "Lt") and len(values) != 1:
        text = "must be specified single value when `operator` is 'Lt' or 'Gt'"
        yield field.required(f"{path}.values", text)
    elif operator not in _OPERATORS:
        yield field.invalid(f"{path}.operator", operator, "not a valid selector operator")
    yield from (field.invalid(f"{path}.key", key, text) for text in names.qualified_name(key))
    for place, value in enumerate(values):
        yield from (field.invalid(f"{path}.values[{place}]", value, text) for text in names.label_value(value))


def _field(one: Object, path: str) -> Iterator[FieldError]:
    operator, values, key = one.get("operator") or "", one.get("values") or [], one.get("key") or ""
    if operator not in ("In", "NotIn"):
        yield field.invalid(f"{path}.operator", operator, "not a valid selector operator")
    elif len(values) != 1:
        text = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        yield field.required(f"{path}.values", text)
    if key != "metadata.name":
        yield field.invalid(f"{path}.key", key, "not a valid field selector key")
        return
    for place, value in enumerate(values):
        yield from (field.invalid(f"{path}.values[{place}]", value, text) for text in names.subdomain(value))


def _attributes(spec: Object, path: str) -> Iterator[FieldError]:
    name, where = spec.get("volumeAttributesClassName"), f"{path}.volumeAttributesClassName"
    if name is None:
        return
    if not name:
        yield field.required(where, "an empty string is disallowed")
    else:
        yield from (field.invalid(where, name, text) for text in names.subdomain(name))
    if spec.get("csi") is None:
        yield field.required(f"{path}.csi", "has to be specified when using volumeAttributesClassName")


def _root(path: str) -> bool:
    return posixpath.normpath(path) in ("/", "//")
