"""Small checks for fields of many kinds.

Source: Kubernetes' pkg/apis/core/validation, pkg/apis/apps/validation and k8s.io/apimachinery's util/validation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from podless.codec import gotext, quantity
from podless.codec.gotext import Named
from podless.meta import field, names, objectmeta
from podless.meta.field import At, FieldError
from podless.meta.objectmeta import IMMUTABLE, NONNEGATIVE
from podless.runtime.jsonobject import Object
from podless.runtime.lazy import compile_late
from podless.runtime.meter import each

POSITIVE = "must be greater than zero"
_MODES = "must be a number between 0 and 0777 (octal), both inclusive"
_MAX_MODE = 0o777
_MAX_ID = (1 << 31) - 1
_MIN_TOKEN, _MAX_TOKEN = 600, 1 << 32  # seconds
_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_PATH_SCAN = compile_late(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]++")
_IN_TEMPLATES = ("annotations", "labels")
_NO_DOMAIN = 'must be a domain-prefixed path (such as "acme.io/foo")'


def list_items(obj: Object, key: str, path: str) -> Iterable[tuple[Any, str]]:
    """Return the items of a list in a field of an object, with their paths. path: of the object, "" for the whole."""
    items = obj.get(key)
    if not items:
        return ()
    at = f"{path}.{key}" if path else key
    return ((item, f"{at}[{index}]") for index, item in enumerate(each(items)))


def validate_enum(path: str, value: str | None, supported: Sequence[str]) -> list[FieldError]:
    """Validate a required value of an enum. An optional one has `field.one_of`."""
    if value in supported:
        return []
    return [field.not_supported(path, value, supported) if value else field.required(path)]


def validate_name(
    path: str, value: str | None, check: Callable[[str], list[str]] = names.check_label_name, missing: str = ""
) -> list[FieldError]:
    """Validate a required name. missing: the error text for an absent one."""
    return field.invalid_details(path, value, check(value)) if value else [field.required(path, missing)]


def validate_string(obj: Object, path: str, key: str, check: Callable[[str], list[str]]) -> list[FieldError]:
    """Validate a field with a string, unless it is missing or empty. check: returns the faults of a string."""
    value = obj.get(key)
    return field.invalid_details(f"{path}.{key}", value, check(value)) if value else []


def validate_pointer(obj: Object, path: str, key: str, check: Callable[[str], list[str]]) -> list[FieldError]:
    """Validate a field with a pointer to a string, unless it is missing. check: returns the faults of a string."""
    value = obj.get(key)
    return [] if value is None else field.invalid_details(f"{path}.{key}", value, check(value))


def require_fields(obj: Object, path: str, *keys: str) -> list[FieldError]:
    """Require fields to be set and not empty."""
    return [field.required(f"{path}.{key}") for key in keys if not obj.get(key)]


def validate_nonnegative(path: str, value: int | None) -> list[FieldError]:
    """Reject a negative number. None is valid."""
    return [field.invalid(path, value, NONNEGATIVE)] if value is not None and value < 0 else []


def validate_nonnegatives(obj: Object, path: str, keys: Iterable[str]) -> list[FieldError]:
    """Reject negative numbers in these fields."""
    return [error for key in keys for error in validate_nonnegative(f"{path}.{key}", obj.get(key))]


def validate_range(path: str, value: int | None, low: int, high: int) -> list[FieldError]:
    """Require low <= value <= high. None is valid."""
    if value is None or low <= value <= high:
        return []
    return [field.invalid(path, value, f"must be between {low} and {high}, inclusive")]


def validate_int_or_percent(path: str, value: int | str | None) -> list[FieldError]:
    """Validate a nonnegative number or a percentage."""
    if isinstance(value, str):
        return field.invalid_details(path, Named(value), names.check_percent(value))
    return validate_nonnegative(path, value)


def validate_at_most_all(path: str, value: int | str | None) -> list[FieldError]:
    """Reject a percentage above 100%."""
    share = _parse_percent(value)
    return [field.invalid(path, value, "must not be greater than 100%")] if share is not None and share > 100 else []


def read_int_or_percent(value: int | str | None) -> int:
    """Return the number in a number or percentage; 0 for anything else."""
    percent = _parse_percent(value)
    if percent is not None:
        return percent
    try:
        return gotext.parse_int(value) if isinstance(value, str) else int(value or 0)
    except ValueError:
        return 0


def _parse_percent(value: int | str | None) -> int | None:
    if not isinstance(value, str) or names.check_percent(value):
        return None
    return min(gotext.parse_natural(value[:-1]), gotext.MAX_INT64)


def validate_unique(path: str, value: Any, seen: set[Any]) -> list[FieldError]:
    """Reject a value that was seen before, and add it to `seen`."""
    if value in seen:
        return [field.duplicate(path, value)]
    seen.add(value)
    return []


def validate_amount(path: str, amount: str) -> field.Errors:
    """Reject a negative quantity. The error shows it in whole units."""
    if amount.startswith("-"):
        yield field.invalid(path, quantity.parse_units(amount), "must be a valid resource quantity")


def validate_port_number(path: str, value: int) -> list[FieldError]:
    """Validate the number of a port."""
    return validate_range(path, value, 1, 65535)


def validate_port(path: str, value: int | str | None) -> field.Errors:
    """Validate a port number or a port name."""
    if isinstance(value, str):
        yield from field.invalid_details(path, value, names.check_port_name(value))
    else:
        yield from validate_port_number(path, value or 0)


def validate_ids(obj: Object, path: str, *keys: str) -> field.Errors:
    """Validate user and group IDs."""
    for key in keys:
        if (value := obj.get(key)) is not None:
            yield from validate_range(f"{path}.{key}", value, 0, _MAX_ID)


def validate_group_ids(obj: Object, path: str) -> field.Errors:
    """Validate supplemental group IDs."""
    for group, at in list_items(obj, "supplementalGroups", path):
        yield from validate_range(at, group, 0, _MAX_ID)


def validate_mode(obj: Object, path: str, key: str = "defaultMode") -> field.Errors:
    """Validate a file mode."""
    value = obj.get(key)
    if value is not None and not 0 <= value <= _MAX_MODE:
        yield field.invalid(f"{path}.{key}", value, _MODES)


def reject_backsteps(path: str, value: str) -> field.Errors:
    """Reject a path with ".."."""
    if ".." in value and ".." in value.split("/"):
        yield field.invalid(path, value, "must not contain '..'")


def validate_descending(path: str, value: str) -> field.Errors:
    """Validate a relative path without ".."."""
    if value.startswith("/"):
        yield field.invalid(path, value, "must be a relative path")
    yield from reject_backsteps(path, value)


def validate_local_path(path: str, value: str) -> field.Errors:
    """Validate a relative path that has no ".." and does not start with ".."."""
    yield from validate_descending(path, value)
    if value.startswith("..") and not value.startswith("../"):
        yield field.invalid(path, value, "must not start with '..'")


def validate_token_lifetime(path: str, seconds: int) -> field.Errors:
    """Validate the lifetime of a service account token."""
    if seconds < _MIN_TOKEN:
        yield field.invalid(path, seconds, "may not specify a duration less than 10 minutes")
    if seconds > _MAX_TOKEN:
        yield field.invalid(path, seconds, "may not specify a duration larger than 2^32 seconds")


def validate_label_key(path: str, value: str) -> field.Errors:
    """Validate the key of a label."""
    yield from field.invalid_details(path, value, names.check_qualified_name(value))


def validate_immutable_fields(
    obj: Object, old: Object, *names: str, path: str = "", blank: Any = None, named: bool = False
) -> field.Errors:
    """Yield an error for each field that differs. path: of the object. blank: shown for a removed field.

    named: as for `immutable_error`.
    """
    for name in names:
        if obj.get(name) != old.get(name):
            yield immutable_error(f"{path}.{name}" if path else name, obj.get(name, blank), named=named)


def validate_sealed(obj: Object, old: Object, *keys: str) -> field.Errors:
    """Reject changes of these fields, and of the mark, if the old object is marked as immutable."""
    changed = [] if obj.get("immutable") else ["immutable"]
    changed += (key for key in keys if obj.get(key) != old.get(key))
    for key in changed if old.get("immutable") else ():
        yield field.forbidden(key, "field is immutable when `immutable` is set")


def immutable_error(at: At, value: Any, *, named: bool = False) -> FieldError:
    """Return the error for a changed immutable field. named: a string has a named Go type, or is behind a pointer."""
    return field.invalid(at, Named(value) if named and isinstance(value, str) else value, IMMUTABLE)


def validate_immutable(at: At, value: Any, old: Any, shown_value: Any = None) -> list[FieldError]:
    """Require a value to equal the old one. shown_value: the value in errors, if it differs."""
    return [] if value == old else [immutable_error(at, value if shown_value is None else shown_value)]


def validate_template_metadata(metadata: Object, path: str) -> field.Errors:
    """Validate the metadata of a template, which may have only labels and annotations."""
    yield from objectmeta.check_annotations(metadata.get("annotations") or {}, f"{path}.annotations")
    yield from objectmeta.check_labels(metadata.get("labels") or {}, f"{path}.labels")
    for name, value in each(metadata).items():
        if value is not None and name not in _IN_TEMPLATES:
            yield field.forbidden(f"{path}.{'uID' if name == 'uid' else name}", "cannot be set")


def validate_domain_path(value: str, path: str) -> list[FieldError]:
    """Validate a domain-prefixed path, such as example.com/controller."""
    if not value:
        return [field.required(path)]
    host, _, url_path = value.partition("/")
    if not host or not url_path:
        return [field.invalid(path, value, _NO_DOMAIN)]
    errors = field.invalid_details(path, host, names.check_subdomain(host))
    if not _PATH_SCAN.fullmatch(url_path):
        errors.append(field.invalid(path, url_path, f"Invalid path (regex used for validation is '{_PATH}')"))
    return errors


def validate_local_reference(reference: Object, path: str) -> list[FieldError]:
    """Validate a reference with apiGroup, kind and name."""
    group = reference.get("apiGroup")
    errors = field.invalid_details(f"{path}.apiGroup", group, names.check_subdomain(group)) if group is not None else []
    for name in ("kind", "name"):
        errors += validate_name(f"{path}.{name}", reference.get(name), names.check_path_segment)
    return errors
