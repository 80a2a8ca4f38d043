"""Validates the common parts of devices and claims: names, bounded lists, taints, driver configuration.

Source: Kubernetes' pkg/apis/resource/validation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from podless.apis.podspec.disks import validate_driver_name
from podless.apis.shared import checks
from podless.codec import gotext
from podless.codec.gotext import Named
from podless.kinds.kind import Kind
from podless.kinds.strategy import Strategy, ValidationCost
from podless.meta import field, names
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

_MAX_SELECTORS = MAX_CONFIGS = 32
_MAX_DATA = 10 * 1024  # maximum bytes of a configuration for a driver, or data from it
_MAX_POOL = 253
_MAX_NAME = 32
_SHORTEST_CUT = 16
_MAX_CONDITIONS = 4
_EFFECTS = ("NoExecute", "NoSchedule", "None")
_OPERATORS = ("Equal", "Exists")
_HEX = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_UNDASHED = re.compile(r"[0-9A-Fa-f]{32}")
_NORMAL = (
    "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal "
    "characters"
)

Check = Callable[[Any, str], field.Errors]


def validate_list(value: list[Any] | None, limit: int, path: str, check: Check) -> field.Errors:
    """Validate the items of a list. If it has more than `limit` items (-1: no limit), only that error is reported."""
    items = value or []
    if len(items) > limit >= 0:
        yield field.too_many(path, len(items), limit)
        return
    for index, item in enumerate(each(items)):
        yield from check(item, f"{path}[{index}]")


def validate_set(
    value: list[Any] | None,
    limit: int,
    path: str,
    check: Check,
    key: Callable[[Any], Any],
    show_key: Callable[[Any], Any] | None = None,
) -> field.Errors:
    """Validate a list whose items have unique keys. show_key: maps a key to the value in errors."""
    yield from validate_list(value, limit, path, check)
    items, seen = value or [], set[Hashable]()
    for index, item in enumerate(each(items if len(items) <= limit or limit < 0 else ())):
        item_key = key(item)
        if item_key in seen:
            yield field.duplicate(f"{path}[{index}]", item_key if show_key is None else show_key(item_key))
        seen.add(item_key)


def by_key(
    mapping: Mapping[str, Any] | None, limit: int, longest: int, path: str, key: Check, check: Check
) -> field.Errors:
    """Validate the keys and values of a map. longest: the maximum length of a key in error paths, in bytes."""
    entries = mapping or {}
    if len(entries) > limit >= 0:
        yield field.too_many(path, len(entries), limit)
        return
    for name, item in each(entries).items():
        yield from key(name, path)
        yield from check(item, f"{path}[{_shorten_text(name, longest)}]")


def _shorten_text(text: str, limit: int) -> str:
    """Shorten a long text in the middle."""
    data, limit = text.encode(), max(limit, _SHORTEST_CUT)
    if len(data) <= limit:
        return text
    remaining = limit - 3
    return (data[: (remaining + 1) // 2] + b"..." + data[len(data) - remaining // 2 :]).decode("utf-8", "replace")


def validate_label(value: str, path: str) -> field.Errors:
    """Validate a name that is an RFC 1123 label."""
    yield from field.invalid_details(path, value, names.check_label_name(value))


def validate_pool_name(name: str, path: str) -> field.Errors:
    """Validate the name of a pool: DNS subdomains separated by slashes."""
    if not name:
        yield field.required(path)
        return
    if len(name.encode()) > _MAX_POOL:
        yield field.too_long(path, _MAX_POOL)
    for segment in each(name.split("/")):
        yield from field.invalid_details(path, segment, names.check_subdomain(segment))


def validate_identifier(name: str, path: str) -> field.Errors:
    """Validate a name of letters, digits and underscores."""
    if len(name.encode()) > _MAX_NAME:
        yield field.too_long(path, _MAX_NAME)
    yield from field.invalid_details(path, name, names.check_c_identifier(name))


def validate_qualified_name(name: str, path: str) -> field.Errors:
    """Validate the name of an attribute or capacity, with an optional domain."""
    segments = name.split("/")
    if len(segments) == 1:
        yield from validate_identifier(name, path)
    elif len(segments) == 2:  # kube-apiserver accepts names with more slashes
        domain, word = segments
        yield from (
            validate_driver_name(domain, path) if domain else [field.invalid(path, "", "the domain must not be empty")]
        )
        yield from validate_identifier(word, path) if word else [field.invalid(path, "", "the name must not be empty")]


def fully_qualified(name: str, path: str) -> field.Errors:
    """Validate a qualified name that must have a domain."""
    yield from validate_qualified_name(name, path)
    if "/" not in name:
        detail = "a fully qualified name must be a domain and a name separated by a slash"
        yield field.invalid(path, Named(name), detail)


def validate_uid(value: str, path: str) -> field.Errors:
    """Validate a UUID in canonical form."""
    if wrong := _explain_bad_uuid(value):
        yield field.invalid(path, value, f"error validating uid: {wrong}")
    elif len(value) != 36 or value != value.lower():
        yield field.invalid(path, value, _NORMAL)


def _explain_bad_uuid(value: str) -> str:
    """Return the fault of a text that is not a UUID in any form, or "". Source: github.com/google/uuid."""
    size = len(value.encode())
    if size == 45 and value[:9].lower() != "urn:uuid:":
        return f'invalid urn prefix: "{value[:9]}"'
    if size == 38 and not (value[0] == "{" and value[-1] == "}"):
        return "invalid bracketed UUID format"
    if size not in (32, 36, 38, 45):
        return f"invalid UUID length: {size}"
    text = value.removeprefix(value[:9]) if size == 45 else value[1:-1] if size == 38 else value
    return "" if (_UNDASHED if size == 32 else _HEX).fullmatch(text) else "invalid UUID format"


def validate_raw(value: Any, path: str, *, stored: bool = False) -> field.Errors:
    """Validate a driver's JSON object. stored: the old object has it too, so accept any length."""
    if value is None:
        yield field.required(path)
    elif not stored and len(gotext.format_json(value).encode()) > _MAX_DATA:
        yield field.too_long(path, _MAX_DATA)
    elif not isinstance(value, dict):
        yield field.invalid(path, "<value omitted>", "must be a valid JSON object")


def validate_taint(taint: Object, path: str) -> field.Errors:
    """Validate the taint of a device."""
    yield from checks.validate_label_key(f"{path}.key", taint["key"])
    if value := taint.get("value"):
        yield from field.invalid_details(f"{path}.value", value, names.check_label_value(value))
    yield from checks.validate_enum(f"{path}.effect", taint["effect"], _EFFECTS)


def validate_toleration(toleration: Object, path: str) -> field.Errors:
    """Validate the toleration of a device taint."""
    key, operator, value = (toleration.get(name) or "" for name in ("key", "operator", "value"))
    if key:
        yield from checks.validate_label_key(f"{path}.key", key)
    if operator == "Exists" and value:
        yield field.invalid(f"{path}.value", value, "must be empty for operator `Exists`")
    elif operator == "Equal":
        yield from field.invalid_details(f"{path}.value", value, names.check_label_value(value))
    yield from checks.validate_enum(f"{path}.operator", operator, _OPERATORS)
    if effect := toleration.get("effect"):
        yield from checks.validate_enum(f"{path}.effect", effect, _EFFECTS)


def validate_binding(binding: Object, path: str) -> field.Errors:
    """Validate bindingConditions and bindingFailureConditions."""
    sorts = ("bindingConditions", "bindingFailureConditions")
    binding_conditions, failure_conditions = (binding.get(name) or [] for name in each(sorts))
    for name, conditions in zip(each(sorts), (binding_conditions, failure_conditions), strict=True):
        yield from validate_list(conditions, _MAX_CONDITIONS, f"{path}.{name}", _validate_condition)
    binding_names, seen = set[str](), set[str]()
    for index, condition in enumerate(each(binding_conditions)):
        yield from checks.validate_unique(f"{path}.{sorts[0]}[{index}]", condition, binding_names)
    for index, condition in enumerate(each(failure_conditions)):
        condition_path = f"{path}.{sorts[1]}[{index}]"
        yield from checks.validate_unique(condition_path, condition, seen)
        if condition in binding_names:
            reason = "bindingFailureConditions must not overlap with bindingConditions"
            yield field.invalid(condition_path, condition, reason)
    if bool(binding_conditions) != bool(failure_conditions):
        missing, used = sorts if failure_conditions else reversed(sorts)
        yield field.invalid(f"{path}.{missing}", binding.get(missing), f"{missing} are required to use {used}")


def _validate_condition(name: str, path: str) -> field.Errors:
    yield from checks.validate_label_key(path, name)


def validate_configuration(configuration: Object, path: str, *, stored: bool = False) -> field.Errors:
    """Validate the opaque configuration of a driver. stored: as for `validate_raw`."""
    opaque = configuration.get("opaque")
    if opaque is None:
        yield field.required(f"{path}.opaque")
        return
    yield from validate_driver_name(opaque["driver"], f"{path}.opaque.driver")
    yield from validate_raw(opaque.get("parameters"), f"{path}.opaque.parameters", stored=stored)


class SelectorStrategy(Strategy[Kind]):
    """Strategy of kinds with device selectors in CEL."""

    checking = ValidationCost(preload=True, cost=16)  # because selectors take 30 ms for each KiB to compile

    def load_rules(self) -> None:
        from podless.cel import devices

        devices.validate_device_selector('device.driver == ""', "")


def _validate_selector(selector: Object, path: str) -> field.Errors:
    if (cel := selector.get("cel")) is None:
        yield field.required(f"{path}.cel")
        return
    from podless.cel import devices

    yield from devices.validate_device_selector(cel["expression"], f"{path}.cel.expression")


def validate_selectors(device_selectors: list[Object] | None, path: str) -> field.Errors:
    """Validate a list of device selectors."""
    yield from validate_list(device_selectors, _MAX_SELECTORS, path, _validate_selector)
