"""Strategy of LimitRange: default and maximum resources of pods, containers and claims in a namespace.

Source: Kubernetes' pkg/apis/core/validation and pkg/apis/core/v1/defaults.
"""

from __future__ import annotations

from podless.apis.podspec import resources
from podless.apis.shared import checks
from podless.apis.shared.typed import TypedStrategy
from podless.codec import quantity
from podless.codec.gotext import Named
from podless.kinds.kind import Version
from podless.kinds.strategy import MetadataPolicy
from podless.meta import field, names, objectmeta
from podless.runtime.jsonobject import Object
from podless.runtime.meter import charge, each
from podless.runtime.sorting import sort_keys

_CONTAINER, _POD, _CLAIM = "Container", "Pod", "PersistentVolumeClaim"
_TYPES = (_CONTAINER, _POD, _CLAIM)
_AMOUNTS = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
_STEPS = 32  # steps to validate one resource
# the smaller and the larger amount, the one that the error shows, its field, and both names in the text
_PAIRS = (
    ("min", "max", "min", "min", ("min", "max")),
    ("min", "defaultRequest", "defaultRequest", "defaultRequest", ("min", "default request")),
    ("defaultRequest", "max", "defaultRequest", "defaultRequest", ("default request", "max")),
    ("defaultRequest", "default", "defaultRequest", "defaultRequest", ("default request", "default limit")),
    ("min", "default", "min", "default", ("min", "default")),
    ("default", "max", "max", "default", ("default", "max")),
)


class LimitRangeStrategy(TypedStrategy):
    """Strategy of LimitRange."""

    allow_create_on_update = True
    metadata = MetadataPolicy(on_update=(1, 0))

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        for item in each(obj["spec"].get("limits") or []):
            if item["type"] == _CONTAINER:
                limits = {**(item.get("max") or {}), **(item.get("default") or {})}
                requests = {**(item.get("min") or {}), **limits, **(item.get("defaultRequest") or {})}
                _set_amounts(item, "default", limits)
                _set_amounts(item, "defaultRequest", requests)
            for name in _AMOUNTS:
                quantity.round_quantities(item.get(name))

    def prepare_create(self, version: Version, obj: Object) -> None:
        metadata = obj["metadata"]
        if not metadata.get("name"):
            kept_metadata = {name: value for name, value in each(metadata).items() if name != "name"}
            metadata.clear()
            metadata.update({"name": objectmeta.make_uid(), **kept_metadata})

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        seen: set[str] = set()
        for item, path in checks.list_items(obj["spec"], "limits", "spec"):
            name, type_path = Named(item["type"]), f"{path}.type"
            faults = names.check_qualified_name(name)
            yield from field.invalid_details(type_path, name, faults)
            if not faults and "/" not in name and name not in _TYPES:
                yield field.invalid(type_path, name, "must be a standard limit type or fully qualified")
            yield from checks.validate_unique(type_path, name, seen)
            yield from _validate_item(item, path)


def _set_amounts(item: Object, name: str, amounts: dict[str, str]) -> None:
    """Set amounts, sorted, with the fields of the item in the order of the struct."""
    if amounts:
        item[name] = sort_keys(amounts)
        ordered = {key: item[key] for key in ("type", *_AMOUNTS) if key in item}
        item.clear()
        item.update(ordered)


def _validate_item(item: Object, path: str) -> field.Errors:
    kind = item["type"]
    named = resources.validate_container_resource if kind in (_CONTAINER, _POD) else resources.validate_resource_name
    for field_name in _AMOUNTS:
        amounts = item.get(field_name) or {}
        if kind == _POD and field_name.startswith("default"):
            if amounts:
                yield field.forbidden(f"{path}.{field_name}", "may not be specified when `type` is 'Pod'")
            continue
        for name in each(amounts):
            yield from named(name, f"{path}.{field_name}[{name}]")
    if kind == _CLAIM and not any("storage" in (item.get(name) or {}) for name in ("min", "max")):
        reason = "either minimum or maximum storage value is required, but neither was provided"
        yield field.required(f"{path}.limits", reason)
    keys = {name: None for field_name in _AMOUNTS for name in each(item.get(field_name) or {})}
    for name in keys:
        charge(_STEPS)
        yield from _validate_amounts(item, name, path)


def _validate_amounts(item: Object, name: str, path: str) -> field.Errors:
    """Validate the amounts of one resource against each other."""
    texts = {field_name: (item.get(field_name) or {}).get(name) for field_name in _AMOUNTS}
    if item["type"] == _POD:
        texts["default"] = texts["defaultRequest"] = None
    amounts = {field_name: quantity.parse_nanos(text) for field_name, text in each(texts).items() if text is not None}
    for smaller, larger, shown, of, (smaller_label, larger_label) in _PAIRS:
        if smaller in amounts and larger in amounts and amounts[smaller] > amounts[larger]:
            text = f"{smaller_label} value {texts[smaller]} is greater than {larger_label} value {texts[larger]}"
            yield field.invalid(f"{path}.{of}[{name}]", texts[shown], text)
    yield from _validate_ratio(texts, amounts, f"{path}.maxLimitRequestRatio[{name}]")
    requested = amounts.get("defaultRequest")
    if "default" in amounts and requested not in (None, amounts["default"]) and not resources.may_overcommit(name):
        request = texts["defaultRequest"]
        text = f"default value {texts['default']} must equal to defaultRequest value {request} in {name}"
        yield field.invalid(f"{path}.defaultRequest[{name}]", request, text)


def _validate_ratio(texts: dict[str, str | None], amounts: dict[str, int], path: str) -> field.Errors:
    ratio, text = amounts.get("maxLimitRequestRatio"), texts["maxLimitRequestRatio"]
    if ratio is None:
        return
    if ratio < quantity.NANO:
        yield field.invalid(path, text, f"ratio {text} is less than 1")
    minimum, maximum = amounts.get("min"), amounts.get("max")
    if minimum and maximum is not None and ratio * minimum**2 > maximum * minimum * quantity.NANO:
        yield field.invalid(path, text, f"ratio {text} is greater than max/min = {maximum / minimum:f}")


STRATEGY = LimitRangeStrategy()
