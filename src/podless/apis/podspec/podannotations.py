"""Annotations that configure pods: their validation, and AppArmor profiles as annotations and as fields.

Source: Kubernetes' pkg/apis/core/validation and pkg/registry/core/pod (strategy.go).
"""

from __future__ import annotations

from collections.abc import Iterator

from podless.apis.podspec import containers, scheduling, security
from podless.apis.podspec.options import PodOptions
from podless.apis.shared import annotated, checks
from podless.codec import gotext
from podless.meta import field
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

MIRROR = "kubernetes.io/config.mirror"
APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP = "container.seccomp.security.alpha.kubernetes.io/"
_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_TOLERATIONS = "scheduler.alpha.kubernetes.io/tolerations"
_RUNTIME, _DOCKER, _FREE, _LOCAL = "runtime/default", "docker/default", "unconfined", "localhost/"
_TYPES = {_FREE: "Unconfined", _RUNTIME: "RuntimeDefault"}  # annotation value: type of the AppArmor profile


def validate_annotations(annotations: dict[str, str], spec: Object, path: str, options: PodOptions) -> field.Errors:
    """Validate the annotations of a pod, or of a template."""
    if not annotations:
        return
    if MIRROR in annotations and not spec.get("nodeName"):
        reason = "must set spec.nodeName if mirror pod annotation is set"
        yield field.invalid(f"{path}[{MIRROR}]", annotations[MIRROR], reason)
    if annotations.get(_TOLERATIONS):
        yield from _validate_tolerations(annotations[_TOLERATIONS], path)
    if not options.allow_invalid_deletion_cost and has_invalid_deletion_cost(annotations):
        yield field.invalid(f"{path}[{_DELETION_COST}]", annotations[_DELETION_COST], "must be a 32bit integer")
    if SECCOMP_POD in annotations:
        yield from _validate_seccomp(annotations[SECCOMP_POD], f"{path}.{SECCOMP_POD}")
    for key, profile in each(annotations).items():
        if key.startswith(SECCOMP):
            yield from _validate_seccomp(profile, f"{path}.{key}")
    yield from _app_armor(annotations, spec, path)


def has_invalid_deletion_cost(annotations: dict[str, str]) -> bool:
    """Return whether the annotation pod-deletion-cost is not a 32-bit number in its shortest form."""
    cost = annotations.get(_DELETION_COST)
    if cost is None:
        return False
    try:
        gotext.parse_int(cost, 32)
    except (ValueError, IndexError):
        return True
    return cost != "0" and cost[0] not in "-123456789"


def _validate_tolerations(tolerations: str, path: str) -> field.Errors:
    decoded, fault = annotated.read_structs(tolerations, "Toleration")
    if fault:
        yield field.invalid(path, _TOLERATIONS, fault)
    yield from scheduling.validate_tolerations(decoded, f"{path}.{_TOLERATIONS}")


def _validate_seccomp(profile: str, path: str) -> field.Errors:
    if profile in (_RUNTIME, _DOCKER, _FREE):
        return
    if profile.startswith(_LOCAL):
        yield from checks.validate_descending(path, profile.removeprefix(_LOCAL))
    else:
        yield field.invalid(path, profile, "must be a valid seccomp profile")


def _app_armor(annotations: dict[str, str], spec: Object, path: str) -> field.Errors:
    keys = [key for key in annotations if key.startswith(APP_ARMOR)]
    visited = containers.visit_containers(spec, "") if keys else []
    container_names = {container.get("name", "") for container, _ in visited}
    for key in keys:
        name, profile = key.removeprefix(APP_ARMOR), annotations[key]
        if name not in container_names:
            yield field.invalid(f"{path}[{key}]", name, "container not found")
        if profile not in ("", _RUNTIME, _FREE) and not profile.startswith(_LOCAL):
            reason = f"invalid AppArmor profile name: {gotext.quote(profile)}"
            yield field.invalid(f"{path}[{key}]", profile, reason)


def validate_annotation_changes(annotations: dict[str, str], old: dict[str, str]) -> field.Errors:
    """Reject changes of AppArmor and mirror pod annotations."""
    changed = [(key, "remove or update") for key, value in each(old).items() if annotations.get(key) != value]
    for key, change in [*changed, *((key, "add") for key in each(annotations) if key not in old)]:
        if key == MIRROR or key.startswith(APP_ARMOR):
            noun = "mirror pod annotation" if key == MIRROR else "AppArmor annotations"
            yield field.forbidden(f"metadata.annotations[{key}]", f"may not {change} {noun}")


def validate_agreement(annotations: dict[str, str], spec: Object, path: str) -> field.Errors:
    """Require seccomp and AppArmor annotations to agree with the fields."""
    if not annotations:
        return
    context = spec.get("securityContext") or {}
    visited = containers.visit_containers(spec, path)
    yield from _validate_profile(annotations.get(SECCOMP_POD), context, "seccompProfile", path)
    for container, at in visited:
        annotation, own_context = annotations.get(SECCOMP + container.get("name", "")), _context_of(container)
        yield from _validate_profile(annotation, own_context, "seccompProfile", at)
    if _is_windows(spec):
        return
    for container, at in visited:
        annotation, own_context = annotations.get(APP_ARMOR + container.get("name", "")), _context_of(container)
        used_context = context if own_context.get("appArmorProfile") is None else own_context
        yield from _validate_profile(annotation, used_context, "appArmorProfile", at)


def _validate_profile(annotation: str | None, context: Object, key: str, path: str) -> field.Errors:
    """Require an annotation to agree with the profile in a security context, if both are set."""
    profile, at, noun = context.get(key), f"{path}.securityContext.{key}", key.removesuffix("Profile").lower()
    if profile is None or annotation is None:
        return
    kind = profile.get("type", "")
    matches = {
        "Unconfined": annotation == _FREE,
        "RuntimeDefault": annotation == _RUNTIME or (noun == "seccomp" and annotation == _DOCKER),
        "Localhost": annotation.startswith(_LOCAL),
    }
    if not matches.get(kind, True):
        yield field.forbidden(f"{at}.type", f"{noun} type in annotation and field must match")
    elif kind == "Localhost" and annotation.removeprefix(_LOCAL) != profile.get("localhostProfile"):
        yield field.forbidden(f"{at}.localhostProfile", f"{noun} profile in annotation and field must match")


def _context_of(container: Object) -> Object:
    return container.get("securityContext") or {}


def _is_windows(spec: Object) -> bool:
    return (spec.get("os") or {}).get("name") == "windows"


def profile_of(annotation: str) -> Object | None:
    """Return the AppArmor profile that an annotation of a container names, or None."""
    if annotation in _TYPES:
        return {"type": _TYPES[annotation]}
    local = annotation.removeprefix(_LOCAL)
    return {"type": "Localhost", "localhostProfile": local} if local and local != annotation else None


def set_apparmor_fields(obj: Object) -> None:
    """Set appArmorProfile of containers from the annotations."""
    for container, _, profile in _list_unconfined(obj):
        if profile is not None:
            container["securityContext"] = {**_context_of(container), "appArmorProfile": profile}


def set_apparmor_annotations(obj: Object) -> None:
    """Set the AppArmor annotations from the fields."""
    spec = obj["spec"]
    of_pod = _context_of(spec).get("appArmorProfile")
    added = {}
    for container, _ in containers.visit_containers(spec, "") if not _is_windows(spec) else ():
        profile = _context_of(container).get("appArmorProfile") or of_pod
        if profile and (annotation := _annotation_of(profile)):
            added[APP_ARMOR + container.get("name", "")] = annotation
    if added:
        obj["metadata"]["annotations"] = {**added, **(obj["metadata"].get("annotations") or {})}


def _annotation_of(profile: Object) -> str:
    """Return the annotation value for an AppArmor profile; "" if there is none."""
    if profile.get("type") == "Localhost":
        return f"{_LOCAL}{profile['localhostProfile']}" if profile.get("localhostProfile") else ""
    return next((annotation for annotation, kind in _TYPES.items() if kind == profile.get("type")), "")


def list_apparmor_annotations(obj: Object) -> list[str]:
    """Return the annotations with AppArmor profiles of containers that lack the field."""
    return [key for _, key, _ in _list_unconfined(obj)]


def _list_unconfined(obj: Object) -> Iterator[tuple[Object, str, Object | None]]:
    """Yield containers with an AppArmor annotation and no profile: container, annotation, and profile or None."""
    annotations, spec = obj["metadata"].get("annotations") or {}, obj["spec"]
    if _is_windows(spec) or not any(key.startswith(APP_ARMOR) for key in each(annotations)):
        return
    of_pod = _context_of(spec).get("appArmorProfile")
    for container, _ in containers.visit_containers(spec, ""):
        key = APP_ARMOR + container.get("name", "")
        annotation = annotations.get(key)
        if annotation is None or _context_of(container).get("appArmorProfile") is not None:
            continue
        profile = profile_of(annotation)
        if profile is not None and any(True for _ in security.validate_app_armor(profile, "")):
            profile = None
        if profile is None or profile != of_pod:
            yield container, key, profile
