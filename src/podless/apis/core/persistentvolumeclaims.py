"""PersistentVolumeClaim. Source: Kubernetes' pkg/registry/core/persistentvolumeclaim and pkg/apis/core/validation."""

from __future__ import annotations

from typing import ClassVar

from podless.apis.podspec import claims
from podless.apis.shared import checks
from podless.apis.shared.checks import immutable_error
from podless.apis.shared.typed import StatusStrategy, keep_parts
from podless.codec import quantity
from podless.kinds.kind import Version
from podless.kinds.strategy import Faults, ValidationCost
from podless.meta import field, names
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has
from podless.structs import gostructs
from podless.structs.structfiles import load_struct

PERSISTENT_VOLUME_CLAIM_SPEC = load_struct("core/v1", "PersistentVolumeClaimSpec")

CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
_CLAIM = ("", "PersistentVolumeClaim")
_SOURCES = (_CLAIM, ("snapshot.storage.k8s.io", "VolumeSnapshot"))
_FIXED = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
_STORAGE = "spec.resources.requests.storage"
_RESIZES = (
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
)


class ClaimStrategy(StatusStrategy):
    """Strategy of PersistentVolumeClaim. A bound claim can only grow."""

    blank: ClassVar[Object] = {"phase": "Pending"}
    checking = ValidationCost(once="UpdatesOnce")

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        resources, status = obj["spec"].get("resources") or {}, obj.get("status") or {}
        for amounts in (resources.get("limits"), resources.get("requests"), status.get("capacity")):
            quantity.round_quantities(amounts)
        quantity.round_quantities(status.get("allocatedResources"))

    def prepare_create(self, version: Version, obj: Object) -> None:
        super().prepare_create(version, obj)
        _tell_source(obj["spec"], {})

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        super().prepare_update(version, obj, old)
        _tell_source(obj["spec"], old["spec"])

    def validate_create(self, version: Version, obj: Object) -> Faults:
        return [*claims.validate_claim_spec(obj["spec"], "spec")]

    def validate_update(self, version: Version, obj: Object, old: Object) -> Faults:
        return [*claims.validate_claim_spec(obj["spec"], "spec", old["spec"]), *_validate_changes(obj, old)]

    def validate_status(self, version: Version, obj: Object, old: Object) -> Faults:
        status = obj.get("status") or {}
        errors = [*_validate_amounts(status.get("capacity") or {}, "status.capacity")]
        path = f"status.allocatedResourceStatus{'es' if has('ClaimStatusPaths') else ''}"
        for name, state in each(status.get("allocatedResourceStatuses") or {}).items():
            errors += _validate_resource(name, path)
            if state not in _RESIZES:
                errors.append(field.not_supported(path, name, _RESIZES))
        for name, text in each(status.get("allocatedResources") or {}).items():
            path = "status.allocatedResources"
            errors += [*_validate_resource(name, path)] or [*_validate_amounts({name: text}, path)]
        return errors

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        warnings = []
        if CLASS_ANNOTATION in (obj["metadata"].get("annotations") or {}):
            text = 'deprecated since v1.8; use "storageClassName" attribute instead'
            warnings.append(f"metadata.annotations[{CLASS_ANNOTATION}]: {text}")
        resources = obj["spec"].get("resources") or {}
        for name in ("requests", "limits"):
            amount = (resources.get(name) or {}).get("storage")
            if amount is not None and not quantity.is_whole(amount):
                path = f"spec.resources.{name}[storage]"
                warnings.append(f'{path}: fractional byte value "{amount}" is invalid, must be an integer')
        return warnings


def _tell_source(spec: Object, old: Object) -> None:
    """Drop an unsupported data source, and copy between dataSource and dataSourceRef."""
    reference = spec.get("dataSourceRef")
    elsewhere = reference is not None and bool(reference.get("namespace"))
    if elsewhere and old.get("dataSourceRef") is None:  # references to other namespaces are an alpha feature
        del spec["dataSourceRef"]
        reference = None
    source = spec.get("dataSource")
    stays = reference is not None or old.get("dataSource") is not None
    if source is not None and not stays and (source.get("apiGroup") or "", source.get("kind") or "") not in _SOURCES:
        del spec["dataSource"]
        source = None
    if source is not None and reference is None:
        spec["dataSourceRef"] = dict(source)
    elif reference is not None and source is None and not elsewhere:
        spec["dataSource"] = dict(reference)


def _validate_changes(obj: Object, old: Object) -> field.Errors:
    spec, before = obj["spec"], old["spec"]
    yield from _class_annotation(obj, old)
    new_spec, old_spec = _comparable_specs(obj, old)
    if new_spec != old_spec:
        structs = gostructs.diff_structs(PERSISTENT_VOLUME_CLAIM_SPEC, old_spec, new_spec)
        yield field.forbidden("spec", f"{_FIXED}\n{structs}")
    size, minimum = _requested_size(spec), _requested_size(before)
    storage = ((old.get("status") or {}).get("capacity") or {}).get("storage")
    if size < minimum and not has("RecoverVolumeExpansionFailure"):
        yield field.forbidden(_STORAGE, "field can not be less than previous value")
    elif size < minimum and size <= (quantity.parse_nanos(storage) if storage is not None else 0):
        yield field.forbidden(_STORAGE, "field can not be less than status.capacity")
    if spec.get("volumeMode") != before.get("volumeMode"):
        yield immutable_error("volumeMode", spec.get("volumeMode"), named=True)
    yield from _attributes_class(spec, before, (old.get("status") or {}).get("currentVolumeAttributesClassName"))


def _attributes_class(spec: Object, before: Object, applied: str | None) -> field.Errors:
    """Reject the removal of volumeAttributesClassName once a class is applied. applied: its name."""
    name = spec.get("volumeAttributesClassName")
    if applied is not None and not name and name != before.get("volumeAttributesClassName"):
        to = "nil" if name is None else "empty string"
        reason = f"update to {to} is forbidden when status.currentVolumeAttributesClassName is not nil"
        yield field.forbidden("spec.volumeAttributesClassName", reason)


def _comparable_specs(obj: Object, old: Object) -> tuple[Object, Object]:
    """Return the new and the old spec without the mutable fields."""
    spec, before = dict(obj["spec"]), dict(old["spec"])
    if not before.get("volumeName"):
        keep_parts(before, spec, "volumeName")
    name, noted = spec.get("storageClassName"), _get_annotation(old)
    if name is not None and before.get("storageClassName") is None and noted in (None, name):
        spec.pop("storageClassName")
    if (obj.get("status") or {}).get("phase") == "Bound":
        _same_request(spec, before)
        keep_parts(spec, before, "volumeAttributesClassName")
    return spec, before


def _same_request(spec: Object, before: Object) -> None:
    requests = (spec.get("resources") or {}).get("requests")
    storage = ((before.get("resources") or {}).get("requests") or {}).get("storage")
    if requests is not None and storage is not None:
        spec["resources"] = {**spec["resources"], "requests": {**requests, "storage": storage}}


def _class_annotation(obj: Object, old: Object) -> field.Errors:
    """Reject changes of the storage class annotation, except its replacement by storageClassName."""
    now, annotation = _get_annotation(obj), _get_annotation(old)
    name = obj["spec"].get("storageClassName")
    upgraded = annotation is not None and old["spec"].get("storageClassName") is None and name == annotation
    if now != annotation and not (upgraded and now is None):
        yield immutable_error(f"metadata.annotations[{CLASS_ANNOTATION}]", now or "")


def _get_annotation(obj: Object) -> str | None:
    result: str | None = (obj["metadata"].get("annotations") or {}).get(CLASS_ANNOTATION)
    return result


def _requested_size(spec: Object) -> int:
    text = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    return quantity.parse_nanos(text) if text is not None else 0


def _validate_resource(name: str, path: str) -> field.Errors:
    faults = names.check_qualified_name(name)
    yield from field.invalid_details(path, name, faults)
    if not faults and ("/" not in name or "kubernetes.io/" in name) and name != "storage":
        yield field.not_supported(path, name, ["storage"])


def _validate_amounts(amounts: dict[str, str], path: str) -> field.Errors:
    for name, text in each(amounts).items():
        yield from checks.validate_amount(f"{path}[{name}]", text)


STRATEGY = ClaimStrategy()
