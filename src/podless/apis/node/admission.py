"""RuntimeClass: adds the overhead and scheduling of a pod's RuntimeClass.

Source: Kubernetes' plugin/pkg/admission/runtimeclass.
"""

from __future__ import annotations

from podless.admission.attributes import CREATE, AdmissionAttributes
from podless.admission.plugin import Plugin
from podless.admission.refusals import forbid_write
from podless.apis.core.group import PODS
from podless.apis.node.group import RUNTIME_CLASSES
from podless.codec import quantity
from podless.codec.gotext import quote
from podless.kinds.kind import Kind
from podless.meta import names
from podless.meta.errors import APIError, Internal
from podless.runtime.jsonobject import Object
from podless.runtime.meter import charge, each

_STEPS = 8  # steps to compare two quantities
_MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
_UNASKED = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"


class RuntimeClass(Plugin):
    """Sets a pod's overhead, node selector and tolerations from its RuntimeClass."""

    def mutates(self, operation: str, kind: Kind, subresource: str, namespace: str) -> bool:
        return kind.is_same_as(PODS) and not subresource and operation == CREATE

    def validates(self, operation: str, kind: Kind, subresource: str) -> bool:
        return kind.is_same_as(PODS) and not subresource and operation == CREATE

    async def mutate(self, attr: AdmissionAttributes) -> None:
        """Set overhead and scheduling from the class. Raise Forbidden."""
        runtime_class = await self._find_class(attr)
        if runtime_class is None or attr.obj is None:
            return
        spec, fixed = attr.obj["spec"], (runtime_class.get("overhead") or {}).get("podFixed")
        if runtime_class.get("overhead") is not None:
            if spec.get("overhead") and not _is_equal(spec["overhead"], fixed):
                raise forbid_write(attr, _MISMATCH)
            if fixed:
                spec["overhead"] = dict(fixed)
        if runtime_class.get("scheduling") is not None:
            _merge_scheduling(attr, spec, runtime_class["scheduling"])

    async def validate(self, attr: AdmissionAttributes) -> None:
        """Raise Forbidden if the overhead is not the class's."""
        runtime_class = await self._find_class(attr)
        overhead = (attr.obj or {})["spec"].get("overhead") or {}
        if runtime_class is not None and runtime_class.get("overhead") is not None:
            if not _is_equal(overhead, runtime_class["overhead"].get("podFixed")):
                raise forbid_write(attr, _MISMATCH)
        elif overhead:
            raise forbid_write(attr, _UNASKED)

    async def _find_class(self, attr: AdmissionAttributes) -> Object | None:
        name = (attr.obj or {})["spec"].get("runtimeClassName")
        if name is None:
            return None
        entry = (await self._state.load_collection(RUNTIME_CLASSES)).get(RUNTIME_CLASSES.key("", name))
        if entry is None:
            raise _make_unknown_error(attr, name)
        result: Object = entry.decode()
        return result


def _make_unknown_error(attr: AdmissionAttributes, name: str) -> APIError:
    """Return the error for an unknown RuntimeClass.

    kube-apiserver requests the class from itself, and fails with 500 if the name does not fit into a path.
    """
    if not name:
        return Internal("resource name may not be empty")
    if faults := names.check_path_segment(name):
        return Internal(f"invalid resource name {quote(name)}: [{' '.join(faults)}]")
    return forbid_write(attr, f"pod rejected: RuntimeClass {quote(name)} not found")


def _is_equal(first: dict[str, str], second: dict[str, str] | None) -> bool:
    second = second or {}
    if first == second:  # usually the texts are equal
        return True
    if first.keys() != second.keys():
        return False
    for name, text in first.items():
        charge(_STEPS)
        if quantity.parse_nanos(text) != quantity.parse_nanos(second[name]):
            return False
    return True


def _merge_scheduling(attr: AdmissionAttributes, spec: Object, scheduling: Object) -> None:
    selector = dict(spec.get("nodeSelector") or {})
    for key, value in each(scheduling.get("nodeSelector") or {}).items():
        if selector.get(key, value) != value:
            texts = (
                f"runtimeClass.scheduling.nodeSelector[{key}] = {value}; pod.spec.nodeSelector[{key}] = {selector[key]}"
            )
            raise forbid_write(attr, f"conflict: {texts}")
        selector[key] = value
    if selector:
        spec["nodeSelector"] = dict(sorted(selector.items()))
    tolerations = spec.get("tolerations") or []
    charge(len(tolerations))
    keys = {tuple(sorted(item.items())) for item in tolerations}
    added = [item for item in each(scheduling.get("tolerations") or ()) if tuple(sorted(item.items())) not in keys]
    if added:
        spec["tolerations"] = [*tolerations, *added]
