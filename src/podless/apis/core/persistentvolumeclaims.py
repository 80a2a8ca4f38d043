"""PersistentVolumeClaim. Source: Kubernetes' pkg/registry/core/persistentvolumeclaim and pkg/apis/core/validation."""

from __future__ import annotations

from typing import ClassVar

from podless.apis.podspec import claims
from podless.apis.podspec.warnings import warn_of_claim_spec
from podless.apis.shared import checks
from podless.apis.shared.checks import immutable_error
from podless.apis.shared.typed import TypedStrategy, keep_parts
from podless.codec import quantity
from podless.kinds.kind import Version
from podless.kinds.strategy import ValidationCost
from podless.meta import field, names
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has
from podless.structs import gostructs
from podless.structs.structfiles import load_struct

_CLAIM_SPEC = load_struct("core/v1", "PersistentVolumeClaimSpec")

CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
_SOURCES = (("", "PersistentVolumeClaim"), ("snapshot.storage.k8s.io", "VolumeSnapshot"))
_FIXED = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
_STORAGE = "spec.resources.requests.storage"
_RESIZES = (
    "ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible",
    "NodeResizePending",
)  # fmt: skip


class ClaimStrategy(TypedStrategy):
    """Strategy of PersistentVolumeClaim. A bound claim can only grow."""

    blank: ClassVar[Object] = {"phase": "Pending"}
    checking = ValidationCost(once="UpdatesOnce")

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        resources, status = obj["spec"].get("resources") or {}, obj.get("status") or {}
        for name in ("limits", "requests"):
            quantity.round_quantities(resources.get(name))
        for name in ("capacity", "allocatedResources"):
            quantity.round_quantities(status.get(name))

    def prepare_create(self, version: Version, obj: Object) -> None:
        super().prepare_create(version, obj)
        _complete_source(obj["spec"], {})

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        super().prepare_update(version, obj, old)
        _complete_source(obj["spec"], old["spec"])

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        yield from claims.validate_claim_spec(obj["spec"], "spec", old["spec"] if old is not None else None)
        if old is not None:
            yield from _validate_changes(obj, old)

    def validate_status(self, version: Version, obj: Object, old: Object) -> field.Errors:
        status = obj.get("status") or {}
        for name, text in each(status.get("capacity") or {}).items():
            yield from checks.validate_amount(f"status.capacity[{name}]", text)
        path = f"status.allocatedResourceStatus{'es' if has('ClaimStatusPaths') else ''}"
        for name, state in each(status.get("allocatedResourceStatuses") or {}).items():
            yield from _validate_resource(name, path)
            if state not in _RESIZES:
                yield field.not_supported(path, name, _RESIZES)
        path = "status.allocatedResources"
        for name, text in each(status.get("allocatedResources") or {}).items():
            yield from [*_validate_resource(name, path)] or checks.validate_amount(f"{path}[{name}]", text)

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        warnings = []
        if CLASS_ANNOTATION in (obj["metadata"].get("annotations") or {}):
            text = 'deprecated since v1.8; use "storageClassName" attribute instead'
            warnings.append(f"metadata.annotations[{CLASS_ANNOTATION}]: {text}")
        return [*warnings, *warn_of_claim_spec(obj["spec"], "spec")]


def _complete_source(spec: Object, old: Object) -> None:
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
    spec, before, status = obj["spec"], old["spec"], old.get("status") or {}
    yield from _validate_class_annotation(obj, old)
    new_spec, old_spec = _comparable_specs(obj, old)
    if new_spec != old_spec:
        difference = gostructs.diff_structs(_CLAIM_SPEC, old_spec, new_spec)
        yield field.forbidden("spec", f"{_FIXED}\n{difference}")
    size, minimum = (quantity.parse_nanos(_requested_storage(state) or "0") for state in (spec, before))
    capacity = (status.get("capacity") or {}).get("storage", "0")
    if size < minimum and not has("RecoverVolumeExpansionFailure"):
        yield field.forbidden(_STORAGE, "field can not be less than previous value")
    elif size < minimum and size <= quantity.parse_nanos(capacity):
        yield field.forbidden(_STORAGE, "field can not be less than status.capacity")
    if spec.get("volumeMode") != before.get("volumeMode"):
        yield immutable_error("volumeMode", spec.get("volumeMode"), named=True)
    name, had_class = spec.get("volumeAttributesClassName"), status.get("currentVolumeAttributesClassName") is not None
    if had_class and not name and name != before.get("volumeAttributesClassName"):
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
        requests, storage = (spec.get("resources") or {}).get("requests"), _requested_storage(before)
        if requests is not None and storage is not None:
            spec["resources"] = {**spec["resources"], "requests": {**requests, "storage": storage}}
        keep_parts(spec, before, "volumeAttributesClassName")
    return spec, before


def _validate_class_annotation(obj: Object, old: Object) -> field.Errors:
    """Reject changes of the storage class annotation, except its replacement by storageClassName."""
    now, annotation = _get_annotation(obj), _get_annotation(old)
    name = obj["spec"].get("storageClassName")
    upgraded = annotation is not None and old["spec"].get("storageClassName") is None and name == annotation
    if now != annotation and not (upgraded and now is None):
        yield immutable_error(f"metadata.annotations[{CLASS_ANNOTATION}]", now or "")


def _get_annotation(obj: Object) -> str | None:
    result: str | None = (obj["metadata"].get("annotations") or {}).get(CLASS_ANNOTATION)
    return result


def _requested_storage(spec: Object) -> str | None:
    storage: str | None = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    return storage


def _validate_resource(name: str, path: str) -> field.Errors:
    faults = names.check_qualified_name(name)
    yield from field.invalid_details(path, name, faults)
    if not faults and ("/" not in name or "kubernetes.io/" in name) and name != "storage":
        yield field.not_supported(path, name, ["storage"])


STRATEGY = ClaimStrategy()
