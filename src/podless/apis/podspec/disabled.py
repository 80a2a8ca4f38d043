"""Drops new values of PodSpec fields whose feature gate is off.

Objects that already have such a field keep it. Source: Kubernetes' pkg/api/pod (DropDisabledTemplateFields) and its
feature gates.
"""

from __future__ import annotations

from collections.abc import Iterator

from podless.apis.podspec import containers
from podless.apis.shared.typed import put_part
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has

_PROC_MOUNT = "Default"
_PROJECTIONS = ("clusterTrustBundle", "podCertificate")


def drop_disabled(spec: Object, old: Object | None = None) -> None:
    """Drop disabled fields. old: the spec before an update.

    A spec without such a field asks for no gate, so that `podless check` judges it once for all releases.
    """
    old_spec = old or {}
    for name in ("schedulingGroup", "workloadRef"):
        if old_spec.get(name) is None:
            spec.pop(name, None)
    for name in _PROJECTIONS:
        if not any(source.get(name) is not None for source in _projected_sources(old_spec)):
            for source in _projected_sources(spec):
                source.pop(name, None)
    if _image_volumes(spec) and not has("ImageVolume") and not _image_volumes(old_spec):
        _drop_image_volumes(spec)
    if _has_proc_mount(spec) and not has("ProcMountType") and not _has_proc_mount(old_spec):
        for context in _proc_mounts(spec):
            context["procMount"] = _PROC_MOUNT
    has_new_rules = _has_restart_rules(spec) and not _has_restart_rules(old_spec)
    if has_new_rules and has("ContainerRestartPolicies") and not has("ContainerRestartRules"):
        for container, regular in _restartable_containers(spec):
            container.pop("restartPolicyRules", None)
            if regular:
                container.pop("restartPolicy", None)
    if not any("stopSignal" in hooks for hooks, _ in _lifecycle_hooks(old_spec)):
        for hooks, container in _lifecycle_hooks(spec):
            if hooks.pop("stopSignal", None) is not None and not hooks:
                del container["lifecycle"]


def _proc_mounts(spec: Object) -> Iterator[Object]:
    """Yield the security contexts of containers with a procMount."""
    for container, _ in containers.visit_containers(spec, ""):
        context = container.get("securityContext") or {}
        if context.get("procMount") is not None:
            yield context


def _has_proc_mount(spec: Object) -> bool:
    return any(context["procMount"] != _PROC_MOUNT for context in _proc_mounts(spec))


def _image_volumes(spec: Object) -> list[str]:
    """Return the names of the image volumes."""
    return [volume.get("name") or "" for volume in each(spec.get("volumes") or ()) if volume.get("image") is not None]


def _drop_image_volumes(spec: Object) -> None:
    """Drop image volumes and their mounts."""
    dropped = _image_volumes(spec)
    put_part(spec, "volumes", [volume for volume in each(spec["volumes"]) if volume.get("image") is None])
    for container, _ in containers.visit_containers(spec, ""):
        mounts = container.get("volumeMounts") or ()
        put_part(container, "volumeMounts", [mount for mount in each(mounts) if mount.get("name") not in dropped])


def _restartable_containers(spec: Object) -> Iterator[tuple[Object, bool]]:
    """Yield containers that can have restart rules, and whether each is not an init container."""
    for field_name in ("containers", "initContainers"):
        for container in each(spec.get(field_name) or ()):
            yield container, field_name == "containers"


def _has_restart_rules(spec: Object) -> bool:
    return any(
        container.get("restartPolicyRules") or (regular and container.get("restartPolicy") is not None)
        for container, regular in _restartable_containers(spec)
    )


def _projected_sources(spec: Object) -> Iterator[Object]:
    for volume in each(spec.get("volumes") or ()):
        yield from each((volume.get("projected") or {}).get("sources") or ())


def _lifecycle_hooks(spec: Object) -> Iterator[tuple[Object, Object]]:
    for container, _ in containers.visit_containers(spec, ""):
        if container.get("lifecycle") is not None:
            yield container["lifecycle"], container
