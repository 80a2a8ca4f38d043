"""Strategy of Namespace."""

from __future__ import annotations

from podless.apis.shared.typed import TypedStrategy
from podless.codec.gotext import Named
from podless.kinds.kind import Version
from podless.kinds.strategy import DeletionPolicy, Faults, ReadPolicy
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
        spec = obj.pop("spec", None) or {}
        obj.pop("status", None)
        finalizers = [*(spec.get("finalizers") or [])]
        if _FINALIZER not in finalizers:
            finalizers.append(_FINALIZER)
        obj["spec"] = {"finalizers": finalizers}
        obj["status"] = {"phase": "Active"}

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        _restore_parts(obj, old, "spec", "status")

    def prepare_status(self, version: Version, obj: Object, old: Object) -> None:
        status = obj.pop("status", None)
        _restore_parts(obj, old, "spec")
        if status is not None:
            obj["status"] = status

    def prepare_finalize(self, version: Version, obj: Object, old: Object) -> None:
        spec = obj.pop("spec", None) or {}
        _restore_parts(obj, old, "spec", "status")
        obj["spec"] = {"finalizers": spec["finalizers"]} if spec.get("finalizers") else {}

    def validate_create(self, version: Version, obj: Object) -> Faults:
        finalizers = (obj.get("spec") or {}).get("finalizers") or []
        return [error for name in each(finalizers) for error in _check_finalizer(name, "spec.finalizers")]

    def validate_update(self, version: Version, obj: Object, old: Object) -> Faults:
        return ()

    def validate_finalize(self, version: Version, obj: Object, old: Object) -> Faults:
        finalizers = enumerate(each(obj["spec"].get("finalizers") or []))
        return [error for index, name in finalizers for error in _check_finalizer(name, f"spec.finalizers[{index}]")]

    def validate_status(self, version: Version, obj: Object, old: Object) -> Faults:
        ending = "deletionTimestamp" in obj["metadata"]
        phase, wrong = (obj.get("status") or {}).get("phase", ""), "Active" if not ending else "Terminating"
        if phase == wrong:
            return []
        detail = f"may only be '{wrong}' if `deletionTimestamp` is {'not ' if ending else ''}empty"
        return [field.invalid("status.Phase", Named(phase), detail)]

    def prepare_delete(self, obj: Object) -> None:
        obj["status"] = {**(obj.get("status") or {}), "phase": "Terminating"}

    def is_finalizing(self, obj: Object) -> bool:
        return bool((obj.get("spec") or {}).get("finalizers"))

    def read_selectable_fields(self, version: Version, obj: Object) -> dict[str, str]:
        return {"status.phase": (obj.get("status") or {}).get("phase", "")}


def _check_finalizer(name: str, path: str) -> field.Errors:
    yield from field.invalid_details(path, name, names.check_qualified_name(name))
    if "/" not in name and name not in objectmeta.STANDARD_FINALIZERS:
        yield field.invalid(path, name, "name is neither a standard finalizer name nor is it fully qualified")


def _restore_parts(obj: Object, old: Object, *names: str) -> None:
    """Restore parts of the old object, in order."""
    for name in names:
        obj.pop(name, None)
    for name in names:
        if name in old:
            obj[name] = old[name]


STRATEGY = NamespaceStrategy()
