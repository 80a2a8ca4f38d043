"""What pods and nodes get for the scheduler: priorities, tolerations, what their runtime costs, and taints.

Source: Kubernetes' plugin/pkg/admission (priority, defaulttolerationseconds, runtimeclass, nodetaint).
"""

from __future__ import annotations

import asyncio
from typing import Any

from podless.admission.attributes import CREATE, UPDATE, AdmissionAttributes
from podless.admission.refusals import forbidden
from podless.admission.step import Step
from podless.apis.core.group import NODES, PODS
from podless.apis.node.group import RUNTIME_CLASSES
from podless.apis.scheduling.group import PRIORITY_CLASSES
from podless.codec import quantity
from podless.codec.gotext import quote
from podless.kinds.kind import Kind
from podless.kinds.state import State
from podless.meta import names
from podless.meta.errors import APIError, Internal
from podless.runtime.meter import charge, each

Object = dict[str, Any]

_SECONDS = 300
_STEPS = 8  # that a comparison of two quantities takes
_SLICE = 1 << 14  # taints that are looked at in one go
_NOT_READY, _UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
_LOWER = "PreemptLowerPriority"
_DEFAULT = b"globalDefault"
_NO_CLASS: Object = {"value": 0, "preemptionPolicy": _LOWER}
_MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
_UNASKED = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
_GIVEN = "must not be provided in pod spec; priority admission controller computed {} from the given PriorityClass name"


def is_pod(kind: Kind) -> bool:
    """Whether objects of a kind are pods."""
    return kind.plural == PODS.plural and not kind.group


class NodeTaints(Step):
    """A new node is not ready."""

    builtin = True

    def mutates(self, operation: str, kind: Kind, subresource: str, namespace: str) -> bool:
        """New nodes."""
        return operation == CREATE and kind.plural == NODES.plural and not kind.group and not subresource

    async def mutate(self, attr: AdmissionAttributes) -> None:
        """Adds the taint."""
        assert attr.obj is not None
        spec = attr.obj["spec"]
        taint = {"key": _NOT_READY, "effect": "NoSchedule"}
        taints = spec.get("taints") or []
        for start in range(0, len(taints), _SLICE):
            if start:
                await asyncio.sleep(0)  # others go on
            if any(
                one.get("key") == _NOT_READY and one.get("effect") == "NoSchedule"
                for one in taints[start : start + _SLICE]
            ):
                return
        spec["taints"] = [*taints, taint]


class Priority(Step):
    """The priority of a pod is that of its class; of classes one at the most is the default."""

    builtin = True

    def __init__(self, state: State) -> None:
        self._state = state

    def mutates(self, operation: str, kind: Kind, subresource: str, namespace: str) -> bool:
        """Pods."""
        return is_pod(kind) and not subresource and operation in (CREATE, UPDATE)

    async def mutate(self, attr: AdmissionAttributes) -> None:
        """Fills in number and policy. Raises Forbidden."""
        assert attr.obj is not None
        spec = attr.obj["spec"]
        if attr.old is not None:
            for name in ("priority", "preemptionPolicy"):
                if spec.get(name) is None and attr.old["spec"].get(name) is not None:
                    spec[name] = attr.old["spec"][name]
            return
        known = await self._class(attr, spec.get("priorityClassName") or "")
        for name, wanted, shown in (
            ("priority", known.get("value", 0), "the integer value of priority"),
            ("preemptionPolicy", known.get("preemptionPolicy"), "the string value of PreemptionPolicy"),
        ):
            given = spec.get(name)
            if wanted is None:
                continue
            if given is not None and given != wanted:
                raise forbidden(attr, f"{shown} ({given}) {_GIVEN.format(wanted)}")
            spec[name] = wanted

    async def _class(self, attr: AdmissionAttributes, name: str) -> Object:
        assert attr.obj is not None
        collection = await self._state.loaded(PRIORITY_CLASSES)
        if not name:
            default = await self._default()
            if default is None:
                return _NO_CLASS
            attr.obj["spec"]["priorityClassName"] = default["metadata"]["name"]
            return default
        entry = collection.get(PRIORITY_CLASSES.key("", name))
        if entry is None:
            raise forbidden(attr, f"no PriorityClass with name {name} was found")
        found: Object = entry.decode()
        return found

    async def _default(self) -> Object | None:
        """The default class; of several that with the lowest number."""
        collection = await self._state.loaded(PRIORITY_CLASSES)
        entries = each(collection.under(PRIORITY_CLASSES.prefix)[0])
        every = [entry.decode() for entry in entries if _DEFAULT in entry.body]
        return min(
            (one for one in every if one.get("globalDefault")), key=lambda one: one.get("value", 0), default=None
        )

    def validates(self, operation: str, kind: Kind, subresource: str) -> bool:
        """Classes."""
        classes = kind.plural == PRIORITY_CLASSES.plural and kind.group == PRIORITY_CLASSES.group
        return classes and operation in (CREATE, UPDATE)

    async def validate(self, attr: AdmissionAttributes) -> None:
        """Raises Forbidden for a second default."""
        if attr.obj is None or not attr.obj.get("globalDefault"):
            return
        default = await self._default()
        if default is not None and (attr.operation == CREATE or default["metadata"]["name"] != attr.name):
            name = default["metadata"]["name"]
            raise forbidden(attr, f"PriorityClass {name} is already marked as default. Only one default can exist")


class DefaultTolerations(Step):
    """A pod stays on a node that is not ready, or not reachable, for a while."""

    builtin = True

    def mutates(self, operation: str, kind: Kind, subresource: str, namespace: str) -> bool:
        """Pods."""
        return is_pod(kind) and not subresource and operation in (CREATE, UPDATE)

    async def mutate(self, attr: AdmissionAttributes) -> None:
        """Adds what the pod does not tolerate in its own way."""
        assert attr.obj is not None
        spec = attr.obj["spec"]
        given = spec.get("tolerations") or []
        effective = [one.get("key") or "" for one in each(given) if one.get("effect", "NoExecute") == "NoExecute"]
        added = [
            {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _SECONDS}
            for key in (_NOT_READY, _UNREACHABLE)
            if key not in effective and "" not in effective
        ]
        if added:
            spec["tolerations"] = [*given, *added]


class RuntimeClasses(Step):
    """What the runtime of a pod costs, and where it is."""

    builtin = True

    def __init__(self, state: State) -> None:
        self._state = state

    def mutates(self, operation: str, kind: Kind, subresource: str, namespace: str) -> bool:
        """New pods."""
        return is_pod(kind) and not subresource and operation == CREATE

    def validates(self, operation: str, kind: Kind, subresource: str) -> bool:
        """The same."""
        return is_pod(kind) and not subresource and operation == CREATE

    async def mutate(self, attr: AdmissionAttributes) -> None:
        """Takes over overhead and scheduling. Raises Forbidden."""
        known = await self._class(attr)
        if known is None or attr.obj is None:
            return
        spec, fixed = attr.obj["spec"], (known.get("overhead") or {}).get("podFixed")
        if known.get("overhead") is not None:
            if spec.get("overhead") and not _equal(spec["overhead"], fixed):
                raise forbidden(attr, _MISMATCH)
            if fixed:
                spec["overhead"] = dict(fixed)
        if known.get("scheduling") is not None:
            _schedule(attr, spec, known["scheduling"])

    async def validate(self, attr: AdmissionAttributes) -> None:
        """Raises Forbidden where overhead is not that of the class."""
        known = await self._class(attr)
        overhead = (attr.obj or {})["spec"].get("overhead") or {}
        if known is not None and known.get("overhead") is not None:
            if not _equal(overhead, known["overhead"].get("podFixed")):
                raise forbidden(attr, _MISMATCH)
        elif overhead:
            raise forbidden(attr, _UNASKED)

    async def _class(self, attr: AdmissionAttributes) -> Object | None:
        name = (attr.obj or {})["spec"].get("runtimeClassName")
        if name is None:
            return None
        entry = (await self._state.loaded(RUNTIME_CLASSES)).get(RUNTIME_CLASSES.key("", name))
        if entry is None:
            raise _unknown(attr, name)
        found: Object = entry.decode()
        return found


def _unknown(attr: AdmissionAttributes, name: str) -> APIError:
    """A real server asks itself about a class that it has not heard of, by a path that some names cannot be in."""
    if not name:
        return Internal("resource name may not be empty")
    if faults := names.path_segment(name):
        return Internal(f"invalid resource name {quote(name)}: [{' '.join(faults)}]")
    return forbidden(attr, f"pod rejected: RuntimeClass {quote(name)} not found")


def _equal(one: dict[str, str], other: dict[str, str] | None) -> bool:
    other = other or {}
    if one == other:  # as they are written, as nearly always
        return True
    if one.keys() != other.keys():
        return False
    for name, text in one.items():
        charge(_STEPS)
        if quantity.parse_nanos(text) != quantity.parse_nanos(other[name]):
            return False
    return True


def _schedule(attr: AdmissionAttributes, spec: Object, scheduling: Object) -> None:
    selector = dict(spec.get("nodeSelector") or {})
    for key, value in each(scheduling.get("nodeSelector") or {}).items():
        if selector.get(key, value) != value:
            both = (
                f"runtimeClass.scheduling.nodeSelector[{key}] = {value}; pod.spec.nodeSelector[{key}] = {selector[key]}"
            )
            raise forbidden(attr, f"conflict: {both}")
        selector[key] = value
    if selector:
        spec["nodeSelector"] = dict(sorted(selector.items()))
    given = spec.get("tolerations") or []
    charge(len(given))
    known = {tuple(sorted(one.items())) for one in given}
    added = [one for one in each(scheduling.get("tolerations") or ()) if tuple(sorted(one.items())) not in known]
    if added:
        spec["tolerations"] = [*given, *added]
