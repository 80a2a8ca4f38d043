"""Strategy of Node.

Source: Kubernetes' pkg/registry/core/node and ValidateNode of pkg/apis/core/validation.
"""

from __future__ import annotations

import re
from typing import Any

from podless.apis.podspec.resources import validate_quantity
from podless.apis.podspec.scheduling import validate_taint_effect
from podless.apis.shared import annotated
from podless.apis.shared.checks import POSITIVE, list_items, validate_label_key
from podless.apis.shared.typed import TypedStrategy
from podless.codec import gotext, quantity, serializer
from podless.kinds.kind import Version
from podless.kinds.strategy import ReadPolicy
from podless.meta import addresses, names
from podless.meta.field import Errors, FieldError, duplicate, forbidden, internal, invalid, invalid_details, required
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has
from podless.runtime.sorting import sort_keys
from podless.structs import gostructs
from podless.structs.structfiles import load_struct

_NODE_ADDRESS = load_struct("core/v1", "NodeAddress")
_TAINT = load_struct("core/v1", "Taint")

_FIXED_ONCE_SET = 'node updates may not change {} except from "" to valid'
_MAX_FEATURE = 253  # bytes
_FEATURE = re.compile("[A-Z][a-zA-Z0-9]*(?:/[a-zA-Z][a-zA-Z0-9]*)*")
_NO_FEATURE = (
    "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or "
    "MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
)
_TAINTS, _AVOIDED = "scheduler.alpha.kubernetes.io/taints", "scheduler.alpha.kubernetes.io/preferAvoidPods"


class NodeStrategy(TypedStrategy):
    """Strategy of Node. A create can set the status. podCIDRs and providerID are immutable once set."""

    reads = ReadPolicy(by_namespace=False)
    selects = frozenset({"spec.unschedulable"})

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        spec, status = obj["spec"], obj["status"]
        cidr, cidrs = spec.get("podCIDR"), spec.get("podCIDRs")
        if cidr and (not cidrs or cidrs[0] != cidr):
            spec["podCIDRs"] = [cidr]
        elif cidrs:
            spec["podCIDR"] = cidrs[0]
        if status.get("allocatable") is None and status.get("capacity"):
            status["allocatable"] = dict(status["capacity"])
        for name in ("capacity", "allocatable"):
            quantity.round_quantities(status.get(name))

    def prepare_create(self, version: Version, obj: Object) -> None:
        obj["spec"].pop("configSource", None)
        obj["status"].pop("config", None)
        if not has("NodeDeclaredFeatures"):
            obj["status"].pop("declaredFeatures", None)

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        super().prepare_update(version, obj, old)
        if "configSource" not in old["spec"]:
            obj["spec"].pop("configSource", None)

    def prepare_status(self, version: Version, obj: Object, old: Object) -> None:
        super().prepare_status(version, obj, old)
        if "config" not in old["status"]:
            obj["status"].pop("config", None)
        if not has("NodeDeclaredFeatures") and "declaredFeatures" not in old["status"]:
            obj["status"].pop("declaredFeatures", None)

    def validate(self, version: Version, obj: Object, old: Object | None) -> Errors:
        yield from _validate_node(obj)
        if old is not None:
            yield from _validate_change(obj, old)

    def validate_status(self, version: Version, obj: Object, old: Object) -> Errors:
        return _validate_change(obj, old)

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        spec = obj["spec"]
        warnings = ["spec.configSource: the feature is removed"] if spec.get("configSource") is not None else []
        if spec.get("externalID"):
            warnings.append("spec.externalID: this field is deprecated, and is unused by Kubernetes")
        for text, path in list_items(spec, "podCIDRs", "spec"):
            warnings += addresses.list_range_warnings(path, text)
        return warnings

    def read_selectable_fields(self, version: Version, obj: Object) -> dict[str, str]:
        return {"spec.unschedulable": "true" if obj["spec"].get("unschedulable") else "false"}


def _validate_node(obj: Object) -> Errors:
    spec = obj["spec"]
    yield from _validate_annotations(obj)
    yield from _validate_taints(spec, "metadata")
    yield from _validate_amounts(obj["status"])
    swap = ((obj["status"].get("nodeInfo") or {}).get("swap") or {}).get("capacity")
    if swap is not None and swap <= 0:
        yield invalid("metadata.nodeSwapStatus.capacity", swap, POSITIVE)
    yield from _validate_features(obj["status"].get("declaredFeatures") or [])
    ranges: list[str] = spec.get("podCIDRs") or []
    for text, path in list_items(spec, "podCIDRs", "spec"):
        yield from invalid_details(path, text, addresses.find_range_faults(text))
    if len(ranges) > 1:
        wrong = next((index for index, text in enumerate(each(ranges)) if addresses.parse_range(text) is None), None)
        if wrong is not None:
            fault = f"invalid CIDR[{wrong}]: <nil> (invalid CIDR address: {ranges[wrong]})"
            reason = f"invalid PodCIDRs. failed to check with dual stack with error:{fault}"
            yield internal("spec.podCIDRs", reason)
        if wrong is not None or len(ranges) > 2 or not addresses.is_dual_stack(ranges):
            yield invalid("spec.podCIDRs", ranges, "may specify no more than one CIDR for each IP family")


def _validate_annotations(obj: Object) -> Errors:
    """Validate the annotations in which older servers kept taints, and controllers whose pods a node avoids."""
    notes, path = obj["metadata"].get("annotations") or {}, "metadata.annotations"
    if notes.get(_TAINTS):
        taints, fault = annotated.read_structs(notes[_TAINTS], "Taint")
        if fault:
            yield invalid(path, _TAINTS, fault)
        yield from _validate_taints({_TAINTS: taints}, path, _TAINTS)
    if notes.get(_AVOIDED):
        yield from _validate_avoided_pods(notes[_AVOIDED], path)


def _validate_avoided_pods(text: str, path: str) -> Errors:
    try:
        decoded = serializer.decode_json(text.encode())
    except serializer.JSONError as error:
        yield invalid(f"{path}.AvoidPods", _AVOIDED, str(error))
        return
    if decoded is not None and not isinstance(decoded, dict):
        reason = f"json: cannot unmarshal {annotated.describe_json(decoded)} into Go value of type v1.AvoidPods"
        yield invalid(f"{path}.AvoidPods", _AVOIDED, reason)
        return
    entries = (decoded or {}).get("preferAvoidPods")
    for index, entry in enumerate(each(entries) if isinstance(entries, list) else ()):
        pod_signature_path = f"{path}.{_AVOIDED}[{index}].PodSignature"
        signature = entry.get("podSignature") if isinstance(entry, dict) else None
        controller = signature.get("podController") if isinstance(signature, dict) else None
        if not isinstance(controller, dict):
            yield required(pod_signature_path)
        elif controller.get("controller") is False:
            yield invalid(f"{pod_signature_path}.PodController.Controller", False, "must point to a controller")


def _validate_taints(holder: Object, holder_path: str, name: str = "taints") -> Errors:
    pairs: set[tuple[str, str]] = set()
    for taint, path in list_items(holder, name, holder_path):
        key, value, effect = (taint.get(field) or "" for field in ("key", "value", "effect"))
        yield from validate_label_key(f"{path}.key", key)
        if faults := names.check_label_value(value):
            yield invalid(f"{path}.value", value, ";".join(faults))
        yield from validate_taint_effect(effect, f"{path}.effect")
        if (key, effect) in pairs:
            text = "taints must be unique by key and effect pair"
            yield FieldError("FieldValueDuplicate", path, gostructs.format_struct(_TAINT, taint), text)
        pairs.add((key, effect))


def _validate_amounts(status: Object) -> Errors:
    for field_name in ("capacity", "allocatable"):
        for name, amount in each(sort_keys(status.get(field_name) or {})).items():
            yield from validate_quantity(name, amount, f"status.{field_name}.{name}")


def _validate_features(features: list[str]) -> Errors:
    """Validate the names and the order of declared features."""
    path = "status.declaredFeatures"
    for index, name in enumerate(each(features)):
        if len(name.encode()) > _MAX_FEATURE:
            reason = f"invalid feature name {gotext.quote(name)}: must be no more than {_MAX_FEATURE} characters"
            yield invalid(f"{path}[{index}]", name, reason)
        elif not _FEATURE.fullmatch(name):
            yield invalid(f"{path}[{index}]", name, f"invalid feature name {gotext.quote(name)}: {_NO_FEATURE}")
        if index and features[index - 1] == name:
            yield duplicate(f"{path}[{index}]", name)
        elif index and features[index - 1].encode() > name.encode():
            yield invalid(f"{path}[{index}]", name, "list must be sorted alphabetically")


def _validate_change(obj: Object, old: Object) -> Errors:
    spec, before = obj["spec"], old["spec"]
    yield from _validate_annotations(obj)
    yield from _validate_amounts(obj["status"])
    yield from _validate_features(obj["status"].get("declaredFeatures") or [])
    pairs: set[tuple[Any, Any]] = set()
    for address, path in list_items(obj["status"], "addresses", "status"):
        pair = address.get("type", ""), address.get("address", "")
        if pair in pairs:
            yield duplicate(path, gostructs.format_struct(_NODE_ADDRESS, address))
        pairs.add(pair)
    ranges: list[str] = spec.get("podCIDRs") or []
    cidrs_before: list[str] = before.get("podCIDRs") or []
    if cidrs_before:
        moved = sum(cidr != cidr_before for cidr, cidr_before in zip(each(ranges), cidrs_before, strict=False))
        for _ in range(moved if len(ranges) == len(cidrs_before) else 1):
            yield forbidden("spec.podCIDRs", _FIXED_ONCE_SET.format("podCIDR"))
    if before.get("providerID") and before["providerID"] != spec.get("providerID"):
        yield forbidden("spec.providerID", _FIXED_ONCE_SET.format("providerID"))
    yield from _validate_taints(spec, "metadata")
    if (spec.get("externalID") or "") != (before.get("externalID") or ""):
        yield forbidden("spec.externalID", "may not be updated")


STRATEGY = NodeStrategy()
