"""Admission plugins for the scheduler: pod priorities, default tolerations and node taints.

Source: Kubernetes' plugin/pkg/admission (priority, defaulttolerationseconds, nodetaint).
"""

from __future__ import annotations

import asyncio

from podless.admission.attributes import CREATE, UPDATE, AdmissionAttributes
from podless.admission.plugin import Plugin
from podless.admission.refusals import forbid_write
from podless.apis.core.group import NODES, PODS
from podless.apis.scheduling.group import PRIORITY_CLASSES
from podless.kinds.kind import Kind
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

_SECONDS = 300
_SLICE = 1 << 14  # taints to search in one go
_NOT_READY, _UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
_LOWER = "PreemptLowerPriority"
_DEFAULT = b"globalDefault"
_NO_CLASS: Object = {"value": 0, "preemptionPolicy": _LOWER}
_DIFFERS = (
    "must not be provided in pod spec; priority admission controller computed {} from the given PriorityClass name"
)


class TaintNodesByCondition(Plugin):
    """Adds the not-ready taint to new nodes."""

    def mutates(self, operation: str, kind: Kind, subresource: str, namespace: str) -> bool:
        return operation == CREATE and kind.is_same_as(NODES) and not subresource

    async def mutate(self, attr: AdmissionAttributes) -> None:
        assert attr.obj is not None
        spec = attr.obj["spec"]
        taint = {"key": _NOT_READY, "effect": "NoSchedule"}
        taints = spec.get("taints") or []
        for start in range(0, len(taints), _SLICE):
            if start:
                await asyncio.sleep(0)  # let other requests run
            if any(
                entry.get("key") == _NOT_READY and entry.get("effect") == "NoSchedule"
                for entry in taints[start : start + _SLICE]
            ):
                return
        spec["taints"] = [*taints, taint]


class Priority(Plugin):
    """Sets the priority of a pod from its class, and allows at most one default class."""

    def mutates(self, operation: str, kind: Kind, subresource: str, namespace: str) -> bool:
        return kind.is_same_as(PODS) and not subresource and operation in (CREATE, UPDATE)

    async def mutate(self, attr: AdmissionAttributes) -> None:
        """Set priority and preemptionPolicy. Raise Forbidden."""
        assert attr.obj is not None
        spec = attr.obj["spec"]
        if attr.old is not None:
            for name in ("priority", "preemptionPolicy"):
                if spec.get(name) is None and attr.old["spec"].get(name) is not None:
                    spec[name] = attr.old["spec"][name]
            return
        priority_class = await self._find_class(attr, spec.get("priorityClassName") or "")
        for name, class_value, described in (
            ("priority", priority_class.get("value", 0), "the integer value of priority"),
            ("preemptionPolicy", priority_class.get("preemptionPolicy"), "the string value of PreemptionPolicy"),
        ):
            pod_value = spec.get(name)
            if class_value is None:
                continue
            if pod_value is not None and pod_value != class_value:
                raise forbid_write(attr, f"{described} ({pod_value}) {_DIFFERS.format(class_value)}")
            spec[name] = class_value

    async def _find_class(self, attr: AdmissionAttributes, name: str) -> Object:
        assert attr.obj is not None
        collection = await self._state.load_collection(PRIORITY_CLASSES)
        if not name:
            default = await self._find_default()
            if default is None:
                return _NO_CLASS
            attr.obj["spec"]["priorityClassName"] = default["metadata"]["name"]
            return default
        entry = collection.get(PRIORITY_CLASSES.key("", name))
        if entry is None:
            raise forbid_write(attr, f"no PriorityClass with name {name} was found")
        result: Object = entry.decode()
        return result

    async def _find_default(self) -> Object | None:
        """Return the default class; of several, that with the lowest value."""
        collection = await self._state.load_collection(PRIORITY_CLASSES)
        entries = each(collection.list_entries())
        classes = [entry.decode() for entry in entries if _DEFAULT in entry.body]
        return min(
            (item for item in classes if item.get("globalDefault")), key=lambda item: item.get("value", 0), default=None
        )

    def validates(self, operation: str, kind: Kind, subresource: str) -> bool:
        return kind.is_same_as(PRIORITY_CLASSES) and operation in (CREATE, UPDATE)

    async def validate(self, attr: AdmissionAttributes) -> None:
        """Raise Forbidden for a second global default."""
        if attr.obj is None or not attr.obj.get("globalDefault"):
            return
        default = await self._find_default()
        if default is not None and (attr.operation == CREATE or default["metadata"]["name"] != attr.name):
            name = default["metadata"]["name"]
            raise forbid_write(attr, f"PriorityClass {name} is already marked as default. Only one default can exist")


class DefaultTolerationSeconds(Plugin):
    """Adds tolerations for nodes that are not ready or unreachable, for 300 seconds."""

    def mutates(self, operation: str, kind: Kind, subresource: str, namespace: str) -> bool:
        return kind.is_same_as(PODS) and not subresource and operation in (CREATE, UPDATE)

    async def mutate(self, attr: AdmissionAttributes) -> None:
        assert attr.obj is not None
        spec = attr.obj["spec"]
        tolerations = spec.get("tolerations") or []
        effective = [
            item.get("key") or "" for item in each(tolerations) if item.get("effect", "NoExecute") == "NoExecute"
        ]
        added = [
            {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _SECONDS}
            for key in (_NOT_READY, _UNREACHABLE)
            if key not in effective and "" not in effective
        ]
        if added:
            spec["tolerations"] = [*tolerations, *added]
