"""Resizes of pods that their node cannot carry out.

Source: Kubernetes' plugin/pkg/admission/nodedeclaredfeatures and podresize, and component-helpers/nodedeclaredfeatures.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from podless.admission.attributes import UPDATE, AdmissionAttributes
from podless.admission.plugin import Plugin
from podless.admission.refusals import forbid_write
from podless.apis.core.group import NODES, PODS
from podless.apis.core.usage import total_resources
from podless.apis.podspec.amounts import is_sidecar
from podless.codec import quantity
from podless.kinds.kind import Kind
from podless.runtime.jsonobject import Object
from podless.runtime.release import has

_OS = "kubernetes.io/os"
# resources that a node must have, and the unit in which errors show them, in billionths
_COMPARED = (("cpu", quantity.NANO // 1000), ("memory", quantity.NANO))


class _ResizeCheck(Plugin):
    """Looks at resizes of bound pods that change their spec, and at their nodes."""

    def validates(self, operation: str, kind: Kind, subresource: str) -> bool:
        return subresource == "resize" and operation == UPDATE and kind.is_same_as(PODS)

    async def validate(self, attr: AdmissionAttributes) -> None:
        """Raise Forbidden if the node does not exist or the check fails."""
        pod, old = attr.obj, attr.old
        if pod is None or old is None or pod["metadata"].get("generation") == old["metadata"].get("generation"):
            return
        name = pod["spec"].get("nodeName")
        if not name or not self._is_relevant(pod["spec"], old["spec"]):
            return
        entry = (await self._state.load_collection(NODES)).get(NODES.key("", name))
        if entry is None:
            raise forbid_write(attr, f'node "{name}" not found')
        self._check_node(attr, pod["spec"], old["spec"], entry.decode())

    def _is_relevant(self, spec: Object, old: Object) -> bool:
        raise NotImplementedError

    def _check_node(self, attr: AdmissionAttributes, spec: Object, old: Object, node: Object) -> None:
        raise NotImplementedError


class NodeDeclaredFeatureValidator(_ResizeCheck):
    """Rejects resizes for which a node declares no feature."""

    def _is_relevant(self, spec: Object, old: Object) -> bool:
        return has("NodeDeclaredFeatures") and any(_needed_features(spec, old))

    def _check_node(self, attr: AdmissionAttributes, spec: Object, old: Object, node: Object) -> None:
        declared = (node.get("status") or {}).get("declaredFeatures") or ()
        missing = [name for name in _needed_features(spec, old) if name not in declared]
        if missing:
            name = node["metadata"]["name"]
            reason = f'pod update requires features {", ".join(missing)} which are not available on node "{name}"'
            raise forbid_write(attr, reason)


class PodResizeValidator(_ResizeCheck):
    """Rejects resizes on nodes that do not run Linux, and beyond what a node has."""

    def _is_relevant(self, spec: Object, old: Object) -> bool:
        return has("PodResizeValidator")

    def _check_node(self, attr: AdmissionAttributes, spec: Object, old: Object, node: Object) -> None:
        name, system = node["metadata"]["name"], (node["metadata"].get("labels") or {}).get(_OS, "linux")
        if system != "linux":
            reason = f'pod resize is only supported on linux nodes, node "{name}" is "{system}"'
            raise forbid_write(attr, reason, causes=[{"reason": "UnsupportedPlatform"}])
        requests, room = total_resources(spec, "requests"), (node.get("status") or {}).get("allocatable") or {}
        beyond = []
        for resource, unit in _COMPARED:
            requested, limit = (quantity.parse_nanos(amounts.get(resource) or "0") for amounts in (requests, room))
            if requested > limit:
                beyond.append(f"{resource}, requested: {-(-requested // unit)}, allocatable: {-(-limit // unit)}")
        if beyond:
            reason = f"node didn't have enough allocatable resources: {'; '.join(beyond)}"
            raise forbid_write(attr, reason, causes=[{"reason": "NodeCapacity"}])


def _needed_features(spec: Object, old: Object) -> Iterator[str]:
    """Yield the features that a node needs for a resize, in alphabetical order."""
    if spec.get("resources") != old.get("resources"):
        yield "InPlacePodLevelResourcesVerticalScaling"
    pairs: Iterator[tuple[Object, Object]] = zip_longest(
        old.get("initContainers") or (), spec.get("initContainers") or (), fillvalue={}
    )
    if any(not is_sidecar(before) and before.get("resources") != after.get("resources") for before, after in pairs):
        yield "InPlacePodVerticalScalingInitContainers"
