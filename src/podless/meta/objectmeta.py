"""Validates the metadata of objects on create and update, and makes its warnings and uids.

The functions take metadata from `structs.decode_struct(OBJECT_META, ...)` and change only what their docstrings say.
Source: k8s.io/apimachinery api/validation and apiserver registry/rest, as recorded.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from itertools import compress
from operator import ne
from typing import Any

from podless.codec import gotext
from podless.codec.gotext import Named
from podless.meta import field, gvk, names
from podless.meta.field import FieldError
from podless.meta.names import Naming
from podless.runtime.bounded import bounded_cache
from podless.runtime.meter import MAX_UNCHARGED, charge, each
from podless.runtime.release import has
from podless.runtime.sorting import sort_texts
from podless.structs import gotypes, structs
from podless.structs.structfiles import load_struct
from podless.structs.structs import DecodeError

OBJECT_META = load_struct("meta/v1", "ObjectMeta")
OWNER_REFERENCE = load_struct("meta/v1", "OwnerReference")

MAX_ANNOTATIONS = 256 * 1024
MAX_MANAGER = 128
MAX_SUBRESOURCE = 256
_LONGEST_CHAR = 4  # maximum bytes of a character in UTF-8
_SURELY_SHORT = MAX_MANAGER // _LONGEST_CHAR
# A real server repeats the whole list of owners, or the whole name, in each of its errors. podless returns only as many
# errors as show this number of owner references, or of characters of a name, but at least one.
_ROOM = 10_000
_ROOM_MANAGER = 1 << 16

ORPHAN = "orphan"
FOREGROUND = "foregroundDeletion"
# finalizers without a domain that are valid
STANDARD_FINALIZERS = frozenset({ORPHAN, FOREGROUND, "kubernetes"})

NONNEGATIVE = "must be greater than or equal to 0"
IMMUTABLE = "field is immutable"
_IMMUTABLE_FIELDS = ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")
# metadata that the server sets, which comparisons of desired states leave out
SERVER_METADATA = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "selfLink")
_WRITTEN = frozenset({"generation", "managedFields", "resourceVersion"})
_POINTERS = {"deletionTimestamp", "deletionGracePeriodSeconds", "creationTimestamp"}

_DUPLICATES = (
    ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in 1.20+,"
    " and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {uids}"
)
_ADVICE = "prefer a domain-qualified finalizer name{path} to avoid accidental conflicts with other finalizer writers"
_TOGETHER = 64  # number of uids drawn at once
_VARIANT = "89ab" * 4  # indexed by a random digit, so that its two high bits are those of RFC 4122


def coerce_metadata(value: Any, unknown: list[str] | None = None) -> dict[str, Any]:
    """Return the decoded metadata of a custom object. Its keys must be sorted before it is stored.

    A real server reads it from an encoding with sorted keys, which decides the order of unknown fields and which
    mistake is reported. unknown: paths such as metadata.foo are appended. Raises DecodeError.
    """
    paths: list[str] = []
    try:
        metadata = structs.decode_struct(OBJECT_META, value, paths)
    except DecodeError:
        paths.append("")
    if paths:
        paths.clear()
        metadata = structs.decode_struct(OBJECT_META, gotypes.canonical_json(value), paths)
    if paths and unknown is not None:
        unknown.extend(f"metadata.{path}" for path in paths)
    return metadata


def salvage_metadata(value: Any, unknown: list[str]) -> Any:
    """Return metadata as `coerce_metadata`, without malformed fields. Other values than objects stay as they are."""
    try:
        return coerce_metadata(value, unknown)
    except DecodeError:
        if not isinstance(value, dict):
            return value
    read: dict[str, Any] = {}
    charge(len(value))
    for key, item in value.items():
        with contextlib.suppress(DecodeError):
            read |= coerce_metadata({key: item}, unknown)
    return read


def validate_metadata(
    meta: dict[str, Any], *, namespaced: bool, naming: Naming, path: str = "metadata"
) -> list[FieldError]:
    """Validate the metadata of a new object, whose name has been generated."""
    errors: list[FieldError] = []
    get = meta.get
    if (prefix := get("generateName")) and (texts := naming[True](prefix)):
        errors += field.invalid_details(f"{path}.generateName", prefix, texts)
    if not (name := get("name")):
        errors.append(field.required(f"{path}.name", "name or generateName is required"))
    elif texts := naming[False](name):
        errors += field.invalid_details(f"{path}.name", name, texts)
    if (namespace := get("namespace")) or namespaced:
        errors += _validate_namespace(namespace or "", namespaced, f"{path}.namespace")
    if get("generation", 0) < 0:
        errors.append(field.invalid(f"{path}.generation", meta["generation"], NONNEGATIVE))
    for field_name, check in _CHECKS:
        if value := get(field_name):
            errors += check(value, f"{path}.{field_name}")
    return errors


def is_untouched(new: dict[str, Any], old: dict[str, Any]) -> bool:
    """Return whether an update leaves the metadata unchanged, except for fields that the server writes."""
    differ = map(ne, new.values(), map(old.get, new))
    return _WRITTEN.issuperset(compress(new, differ)) and not old.keys() - new.keys() - _WRITTEN


def validate_update(new: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
    """Validate the metadata of an object that replaces another.

    A real server checks this once for every kind, with `validate_metadata` and `names.PATH_SEGMENTS` as naming,
    and once more for the kind itself, so it reports these causes twice.
    """
    errors: list[FieldError] = []
    finalizers, old_finalizers = new.get("finalizers") or (), old.get("finalizers") or ()
    if old.get("deletionTimestamp") is not None and (added := set(finalizers) - set(old_finalizers)):
        text = "no new finalizers can be added if the object is being deleted, found new finalizers"
        errors.append(field.forbidden("metadata.finalizers", f"{text} {gotext.format_strings(sort_texts(added))}"))
    if not new.get("resourceVersion"):
        errors.append(field.invalid("metadata.resourceVersion", "", "must be specified for an update"))
    if new.get("generation", 0) < old.get("generation", 0):
        errors.append(field.invalid("metadata.generation", new.get("generation", 0), "must not be decremented"))
    for name in _IMMUTABLE_FIELDS:
        empty = None if name in _POINTERS else ""
        value = new.get(name, empty)
        if value != old.get(name, empty):
            errors.append(field.invalid(f"metadata.{name}", Named(value) if name == "uid" else value, IMMUTABLE))
    for name, check in _CHECKS:
        if name != "finalizers" and (value := new.get(name)):
            errors += check(value, f"metadata.{name}")
    return errors


def check_labels(items: dict[str, str], path: str) -> list[FieldError]:
    """Validate label keys and values."""
    if len(items) > MAX_UNCHARGED:
        charge(len(items))
    errors: list[FieldError] = []
    if not any(map(_check_label_key, items)) and all(map(names.LABEL_VALUE.accepts, items.values())):
        return errors
    for key, value in items.items():
        if texts := _check_label_key(key):
            errors += field.invalid_details(path, key, texts)
        if faults := names.check_label_value(value):
            errors += field.invalid_details(path, value, faults)
    return errors


def check_annotations(items: dict[str, str], path: str) -> list[FieldError]:
    """Validate annotation keys, whose case is ignored, and the total size."""
    errors: list[FieldError] = []
    size = 0
    if len(items) > MAX_UNCHARGED:
        charge(len(items))
    for key, value in items.items():
        size += len(key) + len(value)
        if texts := _check_label_key(key.lower()):
            errors += field.invalid_details(path, key, texts)
    if size * _LONGEST_CHAR > MAX_ANNOTATIONS:
        size = sum(len(key.encode()) + len(value.encode()) for key, value in each(items).items())
        if size > MAX_ANNOTATIONS:
            errors.append(field.too_long(path, MAX_ANNOTATIONS))
    return errors


def check_owners(references: list[dict[str, Any]], path: str) -> list[FieldError]:
    """Validate owner references. In most releases, their paths have no index."""
    plain = has("OwnersWithoutPlaces")
    errors: list[FieldError] = []
    controller, room = "", _ROOM
    decoded: list[dict[str, Any]] = []
    for index, reference in enumerate(each(references)):
        errors += _validate_owner(reference, path if plain else f"{path}[{index}]", plain)
        if not reference.get("controller"):
            continue
        name = f"{reference['kind']}/{reference['name']}"
        if controller and room > 0:
            text = (
                "Only one reference can have Controller set to true."
                f' Found "true" in references for {controller} and {name}'
            )
            decoded = decoded or [structs.decode_struct(OWNER_REFERENCE, item) for item in each(references)]
            errors.append(field.invalid(path, decoded, text))
            room -= len(decoded)
        controller = controller or name
    return errors


def check_finalizers(items: list[str], path: str) -> list[FieldError]:
    """Validate finalizers."""
    errors = [field.invalid(path, item, text) for item in each(items) for text in _check_label_key(item)]
    if ORPHAN in items and FOREGROUND in items:
        errors.append(field.invalid(path, items, f"finalizer {ORPHAN} and {FOREGROUND} cannot be both set"))
    return errors


def check_qualified(items: list[str], path: str) -> list[FieldError]:
    """Return the faults of finalizers, by the stricter rules for the core group, RBAC and quotas.

    Source: ValidateObjectMeta of pkg/apis/core/validation, which those kinds use instead of apimachinery's.
    """
    text = "name is neither a standard finalizer name nor is it fully qualified"
    return [
        field.invalid(f"{path}[{index}]", item, text)
        for index, item in enumerate(each(items))
        if "/" not in item and item not in STANDARD_FINALIZERS
    ]


def check_managed_fields(entries: list[dict[str, Any]], path: str) -> list[FieldError]:
    """Validate managed fields from a client."""
    errors: list[FieldError] = []
    if len(entries) > MAX_UNCHARGED:
        charge(len(entries))
    for index, entry in enumerate(entries):
        manager = entry.get("manager", "")
        if entry.get("operation") not in ("Apply", "Update"):
            text = "must be `Apply` or `Update`"
            errors.append(field.invalid(f"{path}[{index}].operation", Named(entry.get("operation", "")), text))
        if entry.get("fieldsType", "FieldsV1") != "FieldsV1":
            errors.append(field.invalid(f"{path}[{index}].fieldsType", entry["fieldsType"], "must be `FieldsV1`"))
        if len(manager) > _SURELY_SHORT or not manager.isprintable():
            errors += check_field_manager(manager, f"{path}[{index}].manager")
        if "subresource" in entry and len(entry["subresource"].encode()) > MAX_SUBRESOURCE:
            errors.append(field.too_long(f"{path}[{index}].subresource", MAX_SUBRESOURCE))
    return errors


def check_field_manager(name: str, path: str) -> list[FieldError]:
    """Validate the name of a field manager."""
    errors = [field.too_long(path, MAX_MANAGER)] if len(name.encode()) > MAX_MANAGER else []
    if name.isprintable():
        return errors
    offset, room = 0, _ROOM_MANAGER
    charge(len(name))
    for char in name:
        if not char.isprintable() and room > 0:
            text = f"invalid character U+{ord(char):04X} (at position {offset})"
            errors.append(field.invalid(path, name, text))
            room -= len(name)
        offset += len(char.encode())
    return errors


def list_finalizer_warnings(meta: dict[str, Any], old: dict[str, Any] | None = None) -> list[str]:
    """Return warnings about finalizers that a write adds to a custom object. old: the metadata before it."""
    warnings = []
    for name in each(sort_texts(set(meta.get("finalizers") or ()) - set((old or {}).get("finalizers") or ()))):
        warnings += [f"metadata.finalizers: {gotext.quote(name)}: {text}" for text in _check_label_key(name)]
        if "/" not in name and name not in STANDARD_FINALIZERS:
            advice = _ADVICE.format(path=" including a path (/)" if "." in name and has("PathsOfFinalizers") else "")
            warnings.append(f"metadata.finalizers: {gotext.quote(name)}: {advice}")
    return warnings


def dedupe_owners(meta: dict[str, Any], after_admission: bool = False) -> list[str]:
    """Remove duplicate owner references from the metadata, and return the warnings."""
    references = meta.get("ownerReferences") or []
    owners: list[dict[str, Any]] = []
    seen = set()
    uids = []
    for reference in each(references):
        identity = frozenset(reference.items())
        if identity in seen:
            uids.append(reference["uid"])
        else:
            seen.add(identity)
            owners.append(reference)
    if not uids:
        return []
    meta["ownerReferences"] = owners
    when = " after mutating admission happens" if after_admission else ""
    return [_DUPLICATES.format(when=when, uids=", ".join(uids))]


_CHECKS: Sequence[tuple[str, Callable[[Any, str], list[FieldError]]]] = (
    ("labels", check_labels),
    ("annotations", check_annotations),
    ("ownerReferences", check_owners),
    ("finalizers", check_finalizers),
    ("managedFields", check_managed_fields),
)


@bounded_cache(4096)
def _check_label_key(key: str) -> tuple[str, ...]:
    """Return the faults of a label key. Cached, because few keys are used again and again."""
    return tuple(names.check_qualified_name(key))


def _validate_namespace(namespace: str, namespaced: bool, path: str) -> list[FieldError]:
    if not namespaced:
        return [field.forbidden(path, "not allowed on this type")] if namespace else []
    if not namespace:
        return [field.required(path)]
    return field.invalid_details(path, namespace, names.check_label_name(namespace))


def _validate_owner(reference: dict[str, Any], path: str, plain: bool) -> list[FieldError]:
    """Validate an owner reference. plain: with the errors of releases whose paths have no index."""
    written, errors = reference["apiVersion"], []
    api_version = gvk.parse_api_version(written)
    has_version = api_version is not None and bool(api_version.version)
    if not has_version and (written or plain):
        text = "version must not be empty" if plain else "must be <group>/<version> or <version>"
        errors.append(field.invalid(f"{path}.apiVersion", written, text))
    for name in ("kind", "name", "uid") if plain else ("apiVersion", "kind", "name", "uid"):
        if not reference[name]:
            at, text = f"{path}.{name}", "must not be empty"
            errors.append(field.invalid(at, "", text) if plain else field.required(at, text))
    if api_version == ("", "v1") and reference["kind"] == "Event":
        decoded = structs.decode_struct(OWNER_REFERENCE, reference)
        errors.append(field.invalid(path, decoded, "/v1, Kind=Event is disallowed from being an owner"))
    return errors


_random_uids: list[bytes] = []  # random bytes of the next uids: one system call serves many


def make_uid() -> str:
    """Return a random UUID (RFC 4122, version 4), in a quarter of the time of `str(uuid.uuid4())`."""
    try:
        text = _random_uids.pop().hex()
    except IndexError:
        random_bytes = os.urandom(16 * _TOGETHER)
        _random_uids.extend(random_bytes[start : start + 16] for start in range(16, len(random_bytes), 16))
        text = random_bytes[:16].hex()
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{_VARIANT[int(text[16], 16)]}{text[17:20]}-{text[20:]}"


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_random_uids.clear)  # otherwise a forked process would make the same uids
