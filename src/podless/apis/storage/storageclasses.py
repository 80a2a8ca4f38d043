"""Strategy of StorageClass. Source: Kubernetes' pkg/apis/storage/validation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from podless.apis.shared import checks, nodelabels
from podless.apis.shared.checks import validate_immutable_fields
from podless.apis.shared.typed import TypedStrategy
from podless.kinds.kind import Version
from podless.meta import field, names
from podless.runtime.jsonobject import Object
from podless.runtime.meter import charge, each
from podless.runtime.release import has

_MAX_BYTES = 256 * 1024
_MAX_PARAMETERS = 512
_MODES = ("Immediate", "WaitForFirstConsumer")
_RECLAIMING = ("Delete", "Retain")


def validate_provisioner(name: str, path: str) -> field.Errors:
    """Validate the name of a provisioner."""
    if not name:
        yield field.required(path)
        return
    yield from field.invalid_details(path, name.lower(), names.check_qualified_name(name.lower()))


def validate_parameters(parameters: dict[str, str]) -> field.Errors:
    """Validate the parameters of a StorageClass or VolumeAttributesClass."""
    path = "parameters"
    if len(parameters) > _MAX_PARAMETERS:
        yield field.too_long(path, _MAX_PARAMETERS)
        return
    if "" in parameters:
        yield field.invalid(path, "", "field can not be empty.")
    yield from validate_size(parameters, path)


def validate_size(size: dict[str, str], path: str) -> field.Errors:
    """Reject a map whose keys and values are too large together."""
    if sum(len(key.encode()) + len(value.encode()) for key, value in each(size).items()) > _MAX_BYTES:
        yield field.too_long(path, _MAX_BYTES)


def forbid_changes(obj: Object, old: Object, *names: str) -> field.Errors:
    """Reject changes of these fields."""
    for name in names:
        if obj.get(name) != old.get(name):
            yield field.forbidden(name, f"updates to {name} are forbidden.")


class StorageClassStrategy(TypedStrategy):
    """Strategy of StorageClass, most of whose fields are immutable."""

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        yield from validate_provisioner(obj["provisioner"], "provisioner")
        yield from validate_parameters(obj.get("parameters") or {})
        if policy := obj.get("reclaimPolicy"):
            yield from field.one_of("reclaimPolicy", policy, _RECLAIMING)
        mode = obj.get("volumeBindingMode")
        if mode is None:
            yield field.required("volumeBindingMode")
        yield from field.one_of("volumeBindingMode", mode, _MODES)
        yield from _validate_topologies(obj.get("allowedTopologies") or [])
        if old is not None:
            yield from _validate_changes(obj, old)

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        return [*nodelabels.list_topology_warnings(obj.get("allowedTopologies") or [], "allowedTopologies")]


def _validate_changes(obj: Object, old: Object) -> field.Errors:
    if has("ImmutableStorageClasses"):
        yield from validate_immutable_fields(obj, old, "parameters", blank={})
        yield from validate_immutable_fields(obj, old, "provisioner")
        yield from validate_immutable_fields(obj, old, "reclaimPolicy", named=True)
    else:
        yield from forbid_changes(obj, old, "parameters", "provisioner", "reclaimPolicy")
    yield from validate_immutable_fields(obj, old, "volumeBindingMode", named=True)


def _validate_topologies(terms: Sequence[Object]) -> field.Errors:
    # kube-apiserver reports a term once for each equal one before it, and an empty one once more for each term
    seen: Counter[frozenset[tuple[str, frozenset[str]]]] = Counter({frozenset(): len(terms)})
    repeated = 0
    for position, term in enumerate(each(terms)):
        path = f"allowedTopologies[{position}]"
        values_by_key: dict[str, frozenset[str]] = {}
        for index, expression in enumerate(each(term.get("matchLabelExpressions") or [])):
            yield from _validate_expression(expression, values_by_key, f"{path}.matchLabelExpressions[{index}]")
        topology = frozenset(values_by_key.items())
        for _ in range(min(seen[topology], field.MAX - repeated)):
            charge(1)
            repeated += 1
            yield field.duplicate(f"{path}.matchLabelExpressions", "")
        seen[topology] += 1


def _validate_expression(expression: Object, values_by_key: dict[str, frozenset[str]], path: str) -> field.Errors:
    values, seen = expression.get("values") or [], set[str]()
    if not values:
        yield field.required(f"{path}.values")
    for index, value in enumerate(each(values)):
        yield from checks.validate_unique(f"{path}.values[{index}]", value, seen)
    key = expression.get("key") or ""
    yield from field.invalid_details(f"{path}.key", key, names.check_qualified_name(key))
    if key in values_by_key:
        yield field.duplicate(f"{path}.key", key)
    values_by_key[key] = frozenset(seen)


STRATEGY = StorageClassStrategy()
