"""Strategy of Namespace."""

from __future__ import annotations

from podless.apis.shared.checks import list_items
from podless.apis.shared.typed import TypedStrategy, keep_parts
from podless.codec.gotext import Named
from podless.kinds.kind import Version
from podless.kinds.strategy import DeletionPolicy, ReadPolicy
from podless.meta import field, names, objectmeta
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

_LABEL = "kubernetes.io/metadata.name"
_FINALIZER = "kubernetes"


class NamespaceStrategy(TypedStrategy):
    """Strategy of Namespace. A deleted one is emptied, then finalized."""

    deletion = DeletionPolicy(graceful=False, marks_first=True)
    reads = ReadPolicy(by_namespace=False)
    naming = names.LABELS
    selects = frozenset({"status.phase"})

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        """Set the label kubernetes.io/metadata.name, which always equals the name."""
        metadata = obj["metadata"]
        if metadata.get("name"):
            metadata["labels"] = {**(metadata.get("labels") or {}), _LABEL: metadata["name"]}
        status = obj.get("status") or {}
        if not status.get("phase"):
            obj["status"] = {"phase": "Active", **{name: item for name, item in status.items() if name != "phase"}}

    def prepare_create(self, version: Version, obj: Object) -> None:
        """Set phase and finalizer, and the label for a generated name."""
        self.fill_computed_defaults(version, obj)
        finalizers = (obj.get("spec") or {}).get("finalizers") or []
        obj["spec"] = {"finalizers": finalizers if _FINALIZER in finalizers else [*finalizers, _FINALIZER]}
        obj["status"] = {"phase": "Active"}

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        keep_parts(obj, old, "spec", "status")

    def prepare_status(self, version: Version, obj: Object, old: Object) -> None:
        keep_parts(obj, old, "spec")

    def prepare_finalize(self, version: Version, obj: Object, old: Object) -> None:
        finalizers = (obj.get("spec") or {}).get("finalizers")
        keep_parts(obj, old, "status")
        obj["spec"] = {"finalizers": finalizers} if finalizers else {}

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        for name in each((obj.get("spec") or {}).get("finalizers") or []) if old is None else ():
            yield from _validate_finalizer(name, "spec.finalizers")

    def validate_finalize(self, version: Version, obj: Object, old: Object) -> field.Errors:
        for name, path in list_items(obj["spec"], "finalizers", "spec"):
            yield from _validate_finalizer(name, path)

    def validate_status(self, version: Version, obj: Object, old: Object) -> field.Errors:
        phase, needed, state = (obj.get("status") or {}).get("phase", ""), "Active", "empty"
        if "deletionTimestamp" in obj["metadata"]:
            needed, state = "Terminating", "not empty"
        if phase != needed:
            detail = f"may only be '{needed}' if `deletionTimestamp` is {state}"
            yield field.invalid("status.Phase", Named(phase), detail)

    def prepare_delete(self, obj: Object) -> None:
        obj["status"] = {**(obj.get("status") or {}), "phase": "Terminating"}

    def is_finalizing(self, obj: Object) -> bool:
        return bool((obj.get("spec") or {}).get("finalizers"))

    def read_selectable_fields(self, version: Version, obj: Object) -> dict[str, str]:
        return {"status.phase": (obj.get("status") or {}).get("phase", "")}


def _validate_finalizer(name: str, path: str) -> field.Errors:
    yield from field.invalid_details(path, name, names.check_qualified_name(name))
    if "/" not in name and name not in objectmeta.STANDARD_FINALIZERS:
        yield field.invalid(path, name, "name is neither a standard finalizer name nor is it fully qualified")


STRATEGY = NamespaceStrategy()
