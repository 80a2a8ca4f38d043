"""Drops new values of PodSpec fields whose feature gate is off.

Objects that already have such a field keep it. Source: Kubernetes' pkg/api/pod (DropDisabledTemplateFields) and its
feature gates.
"""

from __future__ import annotations

from collections.abc import Iterator

from podless.apis.podspec import containers
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has

_PROJECTIONS = ("clusterTrustBundle", "podCertificate")


def drop_disabled(spec: Object, old: Object | None = None) -> None:
    """Drop disabled fields. old: the spec before an update."""
    known = old or {}
    for name in ("schedulingGroup", "workloadRef"):
        if known.get(name) is None:
            spec.pop(name, None)
    for name in _PROJECTIONS:
        if not any(source.get(name) is not None for source in _sources(known)):
            for source in _sources(spec):
                source.pop(name, None)
    if (
        _restarts(spec)
        and has("ContainerRestartPolicies")
        and not has("ContainerRestartRules")
        and not _restarts(known)
    ):
        for container, regular in _restartable(spec):
            container.pop("restartPolicyRules", None)
            if regular:
                container.pop("restartPolicy", None)
    if not any("stopSignal" in hooks for hooks, _ in _hooks(known)):
        for hooks, container in _hooks(spec):
            if hooks.pop("stopSignal", None) is not None and not hooks:
                del container["lifecycle"]


def _restartable(spec: Object) -> Iterator[tuple[Object, bool]]:
    """Yield containers that can have restart rules, and whether each is not an init container."""
    for part in ("containers", "initContainers"):
        for container in each(spec.get(part) or ()):
            yield container, part == "containers"


def _restarts(spec: Object) -> bool:
    return any(
        one.get("restartPolicyRules") or (regular and one.get("restartPolicy") is not None)
        for one, regular in _restartable(spec)
    )


def _sources(spec: Object) -> Iterator[Object]:
    for volume in each(spec.get("volumes") or ()):
        yield from each((volume.get("projected") or {}).get("sources") or ())


def _hooks(spec: Object) -> Iterator[tuple[Object, Object]]:
    for container, _ in containers.visit_containers(spec, ""):
        if container.get("lifecycle") is not None:
            yield container["lifecycle"], container
