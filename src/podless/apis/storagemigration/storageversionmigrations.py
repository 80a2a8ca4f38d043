"""StorageVersionMigration. Source: Kubernetes' pkg/apis/storagemigration/validation."""

from __future__ import annotations

from podless.apis.shared.checks import immutable_error
from podless.apis.shared.typed import KeptMetadataStrategy
from podless.kinds.kind import Version
from podless.kinds.strategy import MetadataPolicy
from podless.meta import field, names
from podless.meta.objectmeta import IMMUTABLE
from podless.meta.validation import find_true, validate_conditions
from podless.runtime.jsonobject import Object
from podless.structs import gostructs

_FINAL_NAMES = {"Succeeded": "Success", "Failed": "Failed"}  # final conditions, and their names in messages
_BOTH_TRUE = "Both success and failed conditions cannot be true at the same time"


class MigrationStrategy(KeptMetadataStrategy):
    """Strategy of StorageVersionMigration. The resource and final conditions are immutable."""

    allow_unconditional_update = False
    metadata = MetadataPolicy(on_update=(0, 1), on_status=(1, 1))

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        spec = obj.get("spec") or {}
        resource = spec.get("resource") or {}
        name, group = resource.get("resource") or "", resource.get("group") or ""
        if not name:
            yield field.required("spec.resource.resource", "resource is required to be set")
        elif faults := names.check_label_1035(name):
            yield field.invalid("spec.resource.resource", name, ",".join(faults))
        if group and (faults := names.check_subdomain(group)):
            yield field.invalid("spec.resource.group", group, ",".join(faults))
        if old is not None and spec != (old.get("spec") or {}):
            text = gostructs.format_struct("storagemigration/v1.StorageVersionMigrationSpec", spec)
            yield immutable_error("spec", text)

    def validate_status(self, version: Version, obj: Object, old: Object) -> field.Errors:
        return _validate_status(obj.get("status") or {}, old.get("status") or {})


def _validate_status(status: Object, old: Object) -> field.Errors:
    revision, before = status.get("resourceVersion") or "", old.get("resourceVersion") or ""
    if revision and (fault := _revision_fault(revision)):
        yield field.invalid("status.resourceVersion", revision, fault)
    conditions = status.get("conditions") or []
    yield from validate_conditions(conditions, "status.conditions")
    if before and before != revision:
        yield field.invalid("status.resourceVersion", revision, IMMUTABLE)
    ended = [type_ for type_ in _FINAL_NAMES if find_true(conditions, type_)]
    shown_text = gostructs.format_structs("meta/v1.Condition", conditions or None)
    if len(ended) == len(_FINAL_NAMES):
        yield field.invalid("status.conditions", shown_text, _BOTH_TRUE)
    for type_, word in _FINAL_NAMES.items():
        if find_true(old.get("conditions"), type_) and type_ not in ended:
            text = f"{word} condition cannot be set to false once it is true"
            yield field.invalid("status.conditions", shown_text, text)


def _revision_fault(revision: str) -> str:
    """Return the fault of a text that is not a resource version, or ""."""
    if revision.isascii() and revision.isdigit() and not revision.startswith("0"):
        return ""
    return f"resource version is not well formed: {revision}"


STRATEGY = MigrationStrategy()
