"""Validates resizes of pods, which change only CPU and memory of containers, and of the whole pod.

Source: Kubernetes' pkg/apis/core/validation (ValidatePodResize).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from podless.apis.podspec import amounts, containers, podannotations
from podless.apis.podspec.template import validate_pod
from podless.codec import quantity
from podless.meta import field
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has

_COMPUTE = ("cpu", "memory")
_CONTAINERS = ("containers", "initContainers")
_BY_GATE = (
    "resize of pods with pod-level resources is forbidden when InPlacePodLevelResourcesVerticalScalingEnabled feature "
    "gate is disabled"
)
_ONLY = "only cpu and memory resources are mutable"


def validate_resize(obj: Object, old: Object) -> list[FieldError]:
    """Validate a resize of a pod."""
    spec, before = obj["spec"], old["spec"]
    fixed = not has("InPlacePodLevelResourcesVerticalScaling") and any(
        any((state.get("resources") or {}).values()) for state in (spec, before)
    )
    if fixed and not has("ResizesOfPodsByGate"):
        return [field.forbidden("[]", "pods with pod-level resources cannot be resized")]
    if podannotations.MIRROR in (old["metadata"].get("annotations") or {}):
        return [field.forbidden("[]", "static pods cannot be resized")]
    if (before.get("os") or {}).get("name") == "windows":
        return [field.forbidden("[]", "windows pods cannot be resized")]
    errors = [*validate_pod(obj, old)]
    kind = old["status"].get("qosClass") or amounts.compute_qos_class(before)
    if kind != amounts.compute_qos_class(spec):
        qos_class = (obj.get("status") or {}).get("qosClass") or ""
        errors.append(field.invalid("spec", qos_class, "Pod QOS Class may not change as a result of resizing"))
    statuses = each(old["status"].get("containerStatuses") or ())
    running = next((status for status in statuses if (status.get("state") or {}).get("running")), None)
    if running is not None and running.get("resources") is None:
        errors.append(field.forbidden("spec", "Pod running on node without support for resize"))
    if fixed:
        return [*errors, field.forbidden("[]", _BY_GATE)]
    errors += _validate_pod_resources(spec, before)
    errors_of_containers = list(_validate_order(spec, before)) or list(_validate_resized(spec, before))
    if not errors and not errors_of_containers and _changes_other_fields(spec, before):
        errors.append(field.forbidden("spec", _ONLY))
    return errors + errors_of_containers


def _validate_pod_resources(spec: Object, old: Object) -> field.Errors:
    """Reject changes of pod-level resources, except CPU and memory."""
    resources, before = spec.get("resources"), old.get("resources")
    if before is not None and resources is None and any(before.values()):
        yield field.forbidden("spec.resources", "pod-level resources cannot be removed")
        return
    for field_name in ("requests", "limits"):
        if _is_removed(resources, before, field_name):
            yield field.forbidden(f"spec.resources.{field_name}", f"pod-level resource {field_name} cannot be removed")
    if not _is_same(_without_compute(resources), _without_compute(before)):
        yield field.forbidden("spec", f"{_ONLY} at pod-level")


def _validate_order(spec: Object, old: Object) -> field.Errors:
    for field_name in _CONTAINERS:
        listed, before = spec.get(field_name) or [], old.get(field_name) or []
        if len(listed) != len(before):
            yield field.forbidden(f"spec.{field_name}", f"{field_name} may not be added or removed on resize")
            continue
        for index, container in enumerate(each(before)):
            if listed[index].get("name") != container.get("name"):
                text = f"{field_name} may not be renamed or reordered on resize"
                yield field.forbidden(f"spec.{field_name}[{index}].name", text)


def _validate_resized(spec: Object, old: Object) -> field.Errors:
    """Validate the resources of the containers, which are those of the old spec."""
    for container, before, path in _list_pairs(spec, old, *reversed(_CONTAINERS)):
        is_resizable = has("InPlacePodVerticalScalingInitContainers") or amounts.is_sidecar(before)
        if path.startswith("spec.initContainers") and not is_resizable:
            continue
        for kind in ("requests", "limits"):
            if _is_removed(container.get("resources"), before.get("resources"), kind):
                yield field.forbidden(f"{path}.resources.{kind}", f"resource {kind} cannot be removed")
        if not has("ShrinkingMemoryLimits"):
            yield from _validate_memory_limit(container, before, path)
    for container, before, path in _list_pairs(spec, old, *_CONTAINERS):
        yield from _validate_changed_resources(container, before, path)


def _list_pairs(spec: Object, old: Object, *keys: str) -> Iterator[tuple[Object, Object, str]]:
    """Yield the containers in some fields, each before and after the update, with their paths."""
    for key in keys:
        for index, (container, before) in enumerate(zip(each(spec.get(key) or ()), old.get(key) or (), strict=True)):
            yield container, before, f"spec.{key}[{index}]"


def _changes_other_fields(spec: Object, old: Object) -> bool:
    rest, before = (
        {name: value for name, value in each(item).items() if name not in (*_CONTAINERS, "resources")}
        for item in (spec, old)
    )
    return rest != before


def _validate_memory_limit(container: Object, before: Object, path: str) -> field.Errors:
    """Reject a lower or first memory limit, unless the container is restarted for it."""
    for policy in each(container.get("resizePolicy") or ()):
        if (policy.get("resourceName"), policy.get("restartPolicy")) == ("memory", "RestartContainer"):
            return
    now, then = (((value.get("resources") or {}).get("limits") or {}).get("memory") for value in (container, before))
    if now is None or (then is not None and quantity.parse_nanos(now) >= quantity.parse_nanos(then)):
        return
    verb = "added" if then is None else "decreased"
    text = f"memory limits cannot be {verb} unless resizePolicy is RestartContainer"
    yield field.forbidden(f"{path}.resources.limits[memory]", text)


def _validate_changed_resources(container: Object, before: Object, path: str) -> field.Errors:
    """Reject changes of a container except CPU and memory, and of all resources of most init containers."""
    amounts_now = {key: texts for key, texts in each(container.get("resources") or {}).items() if key != "claims"}
    now = {**container, "resources": _without_compute(amounts_now)}
    equal = _is_same(now, {**before, "resources": _without_compute(before.get("resources"))})
    sidecar = amounts.is_sidecar(container)
    if path.startswith("spec.containers"):
        if not equal:
            yield field.forbidden("spec", _ONLY)
    elif has("InPlacePodVerticalScalingInitContainers"):
        if not equal:
            yield field.forbidden(path, "only cpu and memory resources for init or sidecar containers are mutable")
        if not sidecar and not _is_same(container, before):
            for _ in containers.list_restarting_policies(container, path):
                text = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"
                yield field.forbidden(path, text)
    elif sidecar and not equal:
        yield field.forbidden("spec", "only cpu and memory resources for sidecar containers are mutable")
    elif not sidecar and not _is_same(container, before):
        yield field.forbidden("spec", "resources for non-sidecar init containers are immutable")


def _is_removed(resources: Object | None, before: Object | None, field_name: str) -> bool:
    return not ((before or {}).get(field_name) or {}).keys() <= ((resources or {}).get(field_name) or {}).keys()


def _without_compute(resources: Object | None) -> Object:
    """Return resources without CPU and memory, which are mutable."""
    return {
        field_name: {name: text for name, text in each(amounts).items() if name not in _COMPUTE}
        if isinstance(amounts, dict)
        else amounts
        for field_name, amounts in each(resources or {}).items()
    }


def _is_same(first: Any, second: Any) -> bool:
    """Return whether two values are semantically equal: empty equals absent."""
    return bool(first == second or _drop_empty(first) == _drop_empty(second))


def _drop_empty(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: kept_item
            for name, item in each(value).items()
            if (kept_item := _drop_empty(item)) not in ([], {}, "", None)
        }
    return [_drop_empty(item) for item in each(value)] if isinstance(value, list) else value
