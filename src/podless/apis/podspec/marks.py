"""Validates annotations that configure pods. Source: Kubernetes' pkg/apis/core/validation."""

from __future__ import annotations

from podless.apis.podspec import containers, scheduling
from podless.apis.podspec.options import DELETION_COST, PodOptions, deletion_cost_fault
from podless.apis.shared import annotated, checks
from podless.codec import gotext
from podless.meta import field
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

MIRROR = "kubernetes.io/config.mirror"
APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP = "container.seccomp.security.alpha.kubernetes.io/"
_TOLERATIONS = "scheduler.alpha.kubernetes.io/tolerations"
_RUNTIME, _DOCKER, _FREE, _LOCAL = "runtime/default", "docker/default", "unconfined", "localhost/"


def validate_annotations(annotations: dict[str, str], spec: Object, path: str, options: PodOptions) -> field.Errors:
    """Validate the annotations of a pod, or of a template."""
    if not annotations:
        return
    if MIRROR in annotations and not spec.get("nodeName"):
        reason = "must set spec.nodeName if mirror pod annotation is set"
        yield field.invalid(f"{path}[{MIRROR}]", annotations[MIRROR], reason)
    if annotations.get(_TOLERATIONS):
        yield from _validate_tolerations(annotations[_TOLERATIONS], path)
    if not options.deletion_cost and deletion_cost_fault(annotations) is not None:
        yield field.invalid(f"{path}[{DELETION_COST}]", annotations[DELETION_COST], "must be a 32bit integer")
    if SECCOMP_POD in annotations:
        yield from _validate_seccomp(annotations[SECCOMP_POD], f"{path}.{SECCOMP_POD}")
    for key, profile in each(annotations).items():
        if key.startswith(SECCOMP):
            yield from _validate_seccomp(profile, f"{path}.{key}")
    yield from _app_armor(annotations, spec, path)


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
    found_names = (
        {container.get("name", "") for container, _ in containers.visit_containers(spec, "")} if keys else set()
    )
    for key in keys:
        name, profile = key.removeprefix(APP_ARMOR), annotations[key]
        if name not in found_names:
            yield field.invalid(f"{path}[{key}]", name, "container not found")
        if profile not in ("", _RUNTIME, _FREE) and not profile.startswith(_LOCAL):
            reason = f"invalid AppArmor profile name: {gotext.quote(profile)}"
            yield field.invalid(f"{path}[{key}]", profile, reason)


def validate_annotation_changes(annotations: dict[str, str], old: dict[str, str], path: str) -> field.Errors:
    """Reject changes of AppArmor and mirror pod annotations."""
    changed = [(key, "remove or update") for key, value in each(old).items() if annotations.get(key) != value]
    for key, change in [*changed, *((key, "add") for key in each(annotations) if key not in old)]:
        if key == MIRROR or key.startswith(APP_ARMOR):
            noun = "mirror pod annotation" if key == MIRROR else "AppArmor annotations"
            yield field.forbidden(f"{path}[{key}]", f"may not {change} {noun}")


def validate_agreement(annotations: dict[str, str], spec: Object, path: str) -> field.Errors:
    """Require seccomp and AppArmor annotations to agree with the fields."""
    if not annotations:
        return
    context = spec.get("securityContext") or {}
    visited = containers.visit_containers(spec, path)
    if context.get("seccompProfile") is not None and SECCOMP_POD in annotations:
        at = f"{path}.securityContext.seccompProfile"
        yield from _validate_same_profile(annotations[SECCOMP_POD], context["seccompProfile"], at, "seccomp")
    for container, at in visited:
        profile = (container.get("securityContext") or {}).get("seccompProfile")
        annotation = annotations.get(SECCOMP + container.get("name", ""))
        if profile is not None and annotation is not None:
            yield from _validate_same_profile(annotation, profile, f"{at}.securityContext.seccompProfile", "seccomp")
    if (spec.get("os") or {}).get("name") == "windows":
        return
    for container, at in visited:
        container_profile = (container.get("securityContext") or {}).get("appArmorProfile")
        profile = context.get("appArmorProfile") if container_profile is None else container_profile
        annotation = annotations.get(APP_ARMOR + container.get("name", ""))
        if profile is not None and annotation is not None:
            yield from _validate_same_profile(annotation, profile, f"{at}.securityContext.appArmorProfile", "apparmor")


def _validate_same_profile(same_profile: str, profile: Object, path: str, noun: str) -> field.Errors:
    kind, local = profile.get("type", ""), profile.get("localhostProfile")
    runtime = (_RUNTIME, _DOCKER) if noun == "seccomp" else (_RUNTIME,)
    matches = {
        "Unconfined": same_profile == _FREE,
        "RuntimeDefault": same_profile in runtime,
        "Localhost": same_profile.startswith(_LOCAL),
    }
    if not matches.get(kind, True):
        yield field.forbidden(f"{path}.type", f"{noun} type in annotation and field must match")
    elif kind == "Localhost" and same_profile.removeprefix(_LOCAL) != local:
        yield field.forbidden(f"{path}.localhostProfile", f"{noun} profile in annotation and field must match")


def annotation_of(profile: Object) -> str:
    """Return the annotation value for an AppArmor profile; "" if there is none."""
    kind, local = profile.get("type"), profile.get("localhostProfile")
    if kind == "Localhost":
        return f"{_LOCAL}{local}" if local else ""
    return {"Unconfined": _FREE, "RuntimeDefault": _RUNTIME}.get(kind or "", "")


def profile_of(annotation: str) -> Object | None:
    """Return the AppArmor profile that an annotation of a container names, or None."""
    kinds = {_FREE: "Unconfined", _RUNTIME: "RuntimeDefault"}
    if annotation in kinds:
        return {"type": kinds[annotation]}
    local = annotation.removeprefix(_LOCAL)
    return {"type": "Localhost", "localhostProfile": local} if local and local != annotation else None
