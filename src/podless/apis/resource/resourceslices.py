"""Strategy of ResourceSlice. Source: Kubernetes' pkg/apis/resource/validation."""

from __future__ import annotations

import math
import re
from functools import partial

from podless.apis.podspec.affinity import validate_node_selector
from podless.apis.podspec.disks import validate_driver_name
from podless.apis.resource import parts
from podless.apis.shared.checks import POSITIVE, validate_immutable_fields
from podless.apis.shared.typed import TypedStrategy
from podless.codec import gotext, quantity
from podless.kinds.kind import Version
from podless.kinds.strategy import MetadataPolicy, ReadPolicy
from podless.meta import field, names
from podless.runtime import clock
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.structs import gostructs

_MAX_DEVICES, _MAX_RICH, _MAX_SETS = 128, 64, 8
_MAX_USES, _MAX_COUNTERS, _MAX_TAINTS = 2, 32, 16
_MAX_ENTRIES, _MAX_ATTRIBUTES, _MAX_VALUE = 32, 48, 64
_MAX_OPTIONS = 10
_LONGEST_LABEL, _LONGEST_NAME = 63, 63 + 1 + 32  # bytes
_EITHER = ("devices", "sharedCounters")
_LISTS = ("ints", "bools", "strings", "versions")  # fields of a disabled feature, like the mappings
_SEMVER = re.compile(
    r"(?:0|[1-9][0-9]*+)\.(?:0|[1-9][0-9]*+)\.(?:0|[1-9][0-9]*+)"
    r"(?:-(?:0|[1-9][0-9]*+(?![0-9A-Za-z-])|[0-9]*+[A-Za-z-][0-9A-Za-z-]*+)"
    r"(?:\.(?:0(?![0-9A-Za-z-])|[1-9][0-9]*+(?![0-9A-Za-z-])|[0-9]*+[A-Za-z-][0-9A-Za-z-]*+))*+)?+"
    r"(?:\+[0-9A-Za-z-]++(?:\.[0-9A-Za-z-]++)*+)?+"
)
_BOTH_POLICIES = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'
_VERSION = "must be a string compatible with semver.org spec 2.0.0"
_NODES = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")
_ONE_PLACE = f"exactly one of {', '.join(f'`{name}`' for name in _NODES)} is required"
_ONE_OF_DEVICE = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true "
    "in the ResourceSlice spec"
)
_NOT_PLACED = (
    "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the "
    "ResourceSlice spec"
)


class ResourceSliceStrategy(TypedStrategy):
    """Strategy of ResourceSlice."""

    has_generation = True
    metadata = MetadataPolicy(on_update=(0, 1))
    reads = ReadPolicy(by_namespace=False)
    selects = frozenset(("spec.driver", "spec.nodeName"))

    def read_selectable_fields(self, version: Version, obj: Object) -> dict[str, str]:
        return {"spec.driver": obj["spec"]["driver"], "spec.nodeName": obj["spec"].get("nodeName") or ""}

    def explain_unselectable(self, name: str) -> str:
        return f"field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: {name}"

    def complete(self, obj: Object, raw: Object) -> None:
        """Keep both of two empty lists that exclude each other, because the error shows them."""
        spec = raw.get("spec") or {}
        if all(spec.get(name) is not None for name in _EITHER):
            for name in _EITHER:
                obj["spec"].setdefault(name, [])

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        for device in each(obj["spec"].get("devices") or ()):
            for taint in each(device.get("taints") or ()):
                taint.setdefault("timeAdded", clock.now())

    def prepare_create(self, version: Version, obj: Object) -> None:
        for device in each(obj["spec"].get("devices") or ()):
            device.pop("nodeAllocatableResourceMappings", None)
            for attribute in each(device.get("attributes") or {}).values():
                for name in _LISTS:
                    attribute.pop(name, None)

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        self.prepare_create(version, obj)

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        return _validate_slice(obj["spec"], old["spec"] if old is not None else None)

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        driver = obj["spec"]["driver"]
        if driver == driver.lower():
            return []
        reason = f"driver names should be lowercase; {gotext.quote(driver)} contains uppercase characters"
        return [f"spec.driver: {reason}"]


def _validate_slice(spec: Object, before: Object | None) -> field.Errors:
    yield from validate_driver_name(spec["driver"], "spec.driver")
    yield from _validate_pool(spec["pool"], "spec.pool")
    if before is not None:
        yield from validate_immutable_fields(spec["pool"], before["pool"], "name", path="spec.pool")
        yield from validate_immutable_fields(spec, before, "driver", path="spec")
        yield from validate_immutable_fields(spec, before, "nodeName", path="spec", named=True)
    yield from _validate_node_selection(spec, "spec", _NODES, _ONE_PLACE, f"{_ONE_PLACE}, but multiple fields are set")
    devices, counters = spec.get("devices"), spec.get("sharedCounters")
    if devices is not None and counters is not None:
        yield field.invalid("spec", "", "only one of `sharedCounters` or `devices` is allowed")
    rich = any(device.get("taints") or device.get("consumesCounters") for device in each(devices or ()))
    old_devices = {device["name"]: device for device in reversed(each((before or {}).get("devices") or ()))}
    check = partial(_validate_device, old_devices, bool(spec.get("perDeviceNodeSelection")))
    maximum = _MAX_RICH if rich else _MAX_DEVICES
    yield from parts.validate_set(devices, maximum, "spec.devices", check, lambda item: item["name"])
    check_set = partial(_validate_counters, "name")
    yield from parts.validate_set(counters, _MAX_SETS, "spec.sharedCounters", check_set, lambda item: item["name"])


def _validate_pool(pool: Object, path: str) -> field.Errors:
    yield from parts.validate_pool_name(pool["name"], f"{path}.name")
    count, generation = pool["resourceSliceCount"], pool["generation"]
    if count <= 0:
        yield field.invalid(f"{path}.resourceSliceCount", count, POSITIVE)
    if generation < 0:
        yield field.invalid(f"{path}.generation", generation, "must be greater than or equal to zero")


def _validate_node_selection(
    node_selection: Object, path: str, sorts: tuple[str, ...], missing: str, several: str
) -> field.Errors:
    """Require exactly one of the fields that select nodes."""
    set_fields = []
    for name in each(sorts):
        field_path, value = f"{path}.{name}", node_selection.get(name)
        if value is None:
            continue
        if name == "nodeSelector":
            yield from _validate_selector(value, field_path, single=path == "spec")
        elif not value:
            yield field.invalid(field_path, value, _unset_text(name, path))
            continue
        elif name == "nodeName":
            yield from field.invalid_details(field_path, value, names.check_subdomain(value))
        set_fields.append(f"`{name}`")
    if not set_fields:
        yield field.required(path, missing)
    elif len(set_fields) > 1:
        yield field.invalid(path, f"{{{', '.join(set_fields)}}}", several)


def _unset_text(name: str, path: str) -> str:
    """Return the error text for a field that is set to its empty value."""
    if name != "nodeName":
        return "must be either unset or set to true"
    return "must be either unset or set to a non-empty string" if path == "spec" else "must not be empty"


def _validate_selector(selector: Object, path: str, *, single: bool) -> field.Errors:
    yield from validate_node_selector(selector, path)
    terms = selector.get("nodeSelectorTerms")
    if single and len(terms or ()) != 1:
        shown_terms = gostructs.format_struct("core/v1.NodeSelector", selector)["NodeSelectorTerms"]
        yield field.invalid(f"{path}.nodeSelectorTerms", shown_terms, "must have exactly one node selector term")


def _validate_counters(key: str, value: Object, path: str) -> field.Errors:
    """Validate a counter set. key: the field of its name."""
    field_path, name = f"{path}.{key}", value[key]
    yield from parts.validate_label(name, field_path) if name else [field.required(field_path)]
    counters, field_path = value.get("counters"), f"{path}.counters"
    if not counters:
        yield field.required(field_path)
    yield from parts.by_key(counters, _MAX_COUNTERS, _LONGEST_LABEL, field_path, parts.validate_label, _accept_any)


def _accept_any(value: Object, path: str) -> field.Errors:
    return iter(())


def _validate_device(old_devices: dict[str, Object], placed: bool, device: Object, path: str) -> field.Errors:
    """Validate a device. old_devices: the old devices by name. placed: whether each device selects its nodes."""
    attributes, capacity = device.get("attributes") or {}, device.get("capacity") or {}
    yield from parts.validate_label(device["name"], f"{path}.name")
    if (count := len(attributes) + len(capacity)) > _MAX_ENTRIES:
        reason = f"the total number of attributes and capacities must not exceed {_MAX_ENTRIES}"
        yield field.invalid(path, count, reason)
    if len(attributes) > _MAX_ATTRIBUTES:
        reason = f"the total number of attribute values must not exceed {_MAX_ATTRIBUTES}"
        yield field.invalid(path, len(attributes), reason)
    yield from parts.by_key(
        attributes, -1, _LONGEST_NAME, f"{path}.attributes", parts.validate_qualified_name, _validate_attribute
    )
    amount = partial(_validate_capacity, shared=bool(device.get("allowMultipleAllocations")))
    yield from parts.by_key(capacity, -1, _LONGEST_NAME, f"{path}.capacity", parts.validate_qualified_name, amount)
    before = old_devices.get(device["name"])
    if before is None or (before.get("taints") or []) != (device.get("taints") or []):
        yield from parts.validate_list(device.get("taints"), _MAX_TAINTS, f"{path}.taints", parts.validate_taint)
    uses, check = device.get("consumesCounters"), partial(_validate_counters, "counterSet")
    yield from parts.validate_set(uses, _MAX_USES, f"{path}.consumesCounters", check, lambda use: use["counterSet"])
    if placed:
        yield from _validate_node_selection(device, path, _NODES[:3], _ONE_OF_DEVICE, _ONE_OF_DEVICE)
    elif any(device.get(name) is not None for name in _NODES[:3]):
        yield field.invalid(path, None, _NOT_PLACED)
    yield from parts.validate_binding(device, path)


def _validate_attribute(attribute: Object, path: str) -> field.Errors:
    for name in ("string", "version"):
        field_path, text = f"{path}.{name}", attribute.get(name)
        if text is None:
            continue
        if name == "version" and not _SEMVER.fullmatch(text):
            yield field.invalid(field_path, text, _VERSION)
        if len(text.encode()) > _MAX_VALUE:
            yield field.too_long(field_path, _MAX_VALUE)
    set_types = [name for name in ("int", "bool", "string", "version") if attribute.get(name) is not None]
    if len(set_types) != 1:
        shown_value = gostructs.format_struct("resource/v1.DeviceAttribute", attribute) if set_types else ""
        yield field.invalid(path, shown_value, "exactly one value must be specified")


def _validate_capacity(capacity: Object, path: str, *, shared: bool) -> field.Errors:
    """Validate the policy for requests of a capacity. shared: the device allows multiple allocations."""
    policy, path = capacity.get("requestPolicy"), f"{path}.requestPolicy"
    if policy is None:
        return
    if not shared:
        yield field.forbidden(path, "allowMultipleAllocations must be true")
        return
    values, bounds, usual = policy.get("validValues") or [], policy.get("validRange"), policy.get("default")
    if values and bounds is not None:
        yield field.forbidden(path, _BOTH_POLICIES)
    elif usual is None and (values or bounds is not None):
        name = "validValues" if values else "validRange"
        yield field.required(f"{path}.default", f"required when {name} is defined")
    elif values:
        yield from _validate_values(values, usual, capacity["value"], f"{path}.validValues")
    elif bounds is not None:
        yield from _validate_range(bounds, usual, capacity["value"], f"{path}.validRange")


def _validate_values(values: list[str], usual: str, maximum: str, path: str) -> field.Errors:
    amounts = [quantity.parse_nanos(text) for text in each(values)]
    for index in range(1, len(values)):
        if amounts[index - 1] > amounts[index]:
            yield field.invalid(f"{path}[{index}]", values[index], "values must be sorted in ascending order")
    check = partial(_validate_value, maximum)
    yield from parts.validate_set(values, _MAX_OPTIONS, path, check, lambda text: str(quantity.parse_units(text)))
    # surplus values are not compared
    if len(values) > _MAX_OPTIONS or quantity.parse_nanos(usual) not in amounts:
        yield field.invalid(path, usual, "default value is not valid according to the requestPolicy")


def _validate_value(maximum: str, text: str, path: str) -> field.Errors:
    if quantity.parse_nanos(text) > quantity.parse_nanos(maximum):
        yield field.invalid(path, text, f"option is larger than capacity value: {maximum}")


def _validate_range(bounds: Object, usual: str, maximum: str, path: str) -> field.Errors:
    low, high, step = (bounds.get(name) for name in ("min", "max", "step"))
    if low is None:
        yield field.required(f"{path}.min", "required when validRange is defined")
        return
    minimum, default, limit = (quantity.parse_nanos(text) for text in (low, usual, maximum))
    if minimum > limit:
        yield field.invalid(f"{path}.min", low, f"min is larger than capacity value: {maximum}")
    if default < minimum:
        yield field.invalid(f"{path}.min", usual, f"default is less than min: {low}")
    if high is not None:
        end = quantity.parse_nanos(high)
        if minimum > end:
            yield field.invalid(f"{path}.max", low, f"min is larger than max: {high}")
        if end > limit:
            yield field.invalid(f"{path}.max", high, f"max is larger than capacity value: {maximum}")
        if default > end:
            yield field.invalid(f"{path}.max", usual, f"default is more than max: {high}")
    if step is not None:
        if minimum + quantity.parse_nanos(step) > limit:
            reason = f"one step {quantity.add_quantities((low, step))} is larger than capacity value: {maximum}"
            yield field.invalid(f"{path}.step", step, reason)
        for text in filter(None, (usual, high)):
            yield from _validate_step(text, low, step, f"{path}.step")


def _validate_step(text: str, low: str, step: str, path: str) -> field.Errors:
    step_units, distance = quantity.parse_units(step), quantity.parse_units(text) - quantity.parse_units(low)
    if not step_units or math.fmod(distance, step_units):  # kube-apiserver fails if the step is zero
        yield field.invalid(path, text, f"value is not a multiple of a given step ({step}) from ({low})")


STRATEGY = ResourceSliceStrategy()
