"""Validates security contexts of pods and containers. Source: Kubernetes' pkg/apis/core/validation."""

from __future__ import annotations

import re

from podless.apis.podspec import windows
from podless.apis.shared import checks
from podless.codec.gotext import Named
from podless.meta import field
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has
from podless.structs import gostructs
from podless.structs.structfiles import load_struct

_SECCOMP_PROFILE = load_struct("core/v1", "SeccompProfile")
_SECURITY_CONTEXT = load_struct("core/v1", "SecurityContext")

_LOCALHOST = "Localhost"
_PROFILES = (_LOCALHOST, "RuntimeDefault", "Unconfined")
_LONGEST_PROFILE = 4095
_GROUP_CHANGES = ("Always", "OnRootMismatch")
_GROUP_POLICIES = ("Merge", "Strict")
_LABEL_CHANGES = ("MountOption", "Recursive")
_MASKS = ("Default", "Unmasked")
_SEGMENT = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SYSCTL = rf"^({_SEGMENT}[\./])*{_SEGMENT}$"
_SYSCTL_SEGMENT = "[a-z0-9]++(?:[-_]++[a-z0-9]++)*+"
_IS_SYSCTL = re.compile(rf"{_SYSCTL_SEGMENT}(?:[./]{_SYSCTL_SEGMENT})*+")
_MAX_SYSCTL = 253
_IPC = ("kernel.shm", "kernel.msg", "fs.mqueue.")
_SWAPPED = str.maketrans("./", "/.")


def validate_container_context(context: Object | None, path: str, host_users: bool) -> field.Errors:
    """Validate the security context of a container. host_users: the pod uses the host's user namespace."""
    if context is None:
        return
    if context.get("privileged"):
        yield field.forbidden(f"{path}.privileged", "disallowed by cluster policy")
    yield from checks.validate_ids(context, path, "runAsUser", "runAsGroup")
    mask = context.get("procMount")
    yield from field.one_of(f"{path}.procMount", mask, _MASKS)
    if host_users and mask == "Unmasked":
        yield field.invalid(f"{path}.procMount", mask, "`hostUsers` must be false to use `Unmasked`")
    yield from validate_seccomp(context.get("seccompProfile"), f"{path}.seccompProfile")
    if context.get("allowPrivilegeEscalation") is False:
        yield from _validate_escalation(context, path)
    yield from windows.validate_windows_options(context.get("windowsOptions"), f"{path}.windowsOptions")
    yield from validate_app_armor(context.get("appArmorProfile"), f"{path}.appArmorProfile")


def _validate_escalation(context: Object, path: str) -> field.Errors:
    reasons = ["`privileged` to true"] if context.get("privileged") else []
    added = each((context.get("capabilities") or {}).get("add") or ())
    reasons += (f"`capabilities.Add` {capability}" for capability in added if capability == "CAP_SYS_ADMIN")
    for reason in reasons:
        shown_context = gostructs.format_struct(_SECURITY_CONTEXT, context)
        yield field.invalid(path, shown_context, f"cannot set `allowPrivilegeEscalation` to false and {reason}")


def validate_pod_context(spec: Object, path: str, *, host_sysctls: bool = False) -> field.Errors:
    """Validate the security context of a pod. host_sysctls: accept sysctls of host namespaces."""
    context = spec.get("securityContext") or {}
    yield from checks.validate_ids(context, path, "fsGroup", "runAsUser", "runAsGroup")
    yield from checks.validate_group_ids(context, path)
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        reason = "ShareProcessNamespace and HostPID cannot both be enabled"
        yield field.invalid(f"{path}.shareProcessNamespace", True, reason)
    if context.get("sysctls"):
        yield from _validate_sysctls(context, path, spec, host_sysctls)
    yield from field.one_of(f"{path}.fsGroupChangePolicy", context.get("fsGroupChangePolicy"), _GROUP_CHANGES)
    yield from validate_seccomp(context.get("seccompProfile"), f"{path}.seccompProfile")
    yield from windows.validate_windows_options(context.get("windowsOptions"), f"{path}.windowsOptions")
    yield from validate_app_armor(context.get("appArmorProfile"), f"{path}.appArmorProfile")
    groups_policy = context.get("supplementalGroupsPolicy")
    yield from field.one_of(f"{path}.supplementalGroupsPolicy", groups_policy, _GROUP_POLICIES)
    if (label_change := context.get("seLinuxChangePolicy")) is not None:
        mounts = has("SELinuxMount") and not has("RecursiveLabelChanges")
        label_changes = _LABEL_CHANGES if mounts else _LABEL_CHANGES[1:]
        yield from field.one_of(f"{path}.seLinuxChangePolicy", label_change, label_changes)


def _validate_sysctls(context: Object, path: str, spec: Object, host: bool) -> field.Errors:
    seen: set[str] = set()
    for sysctl, item_path in checks.list_items(context, "sysctls", path):
        name, at = sysctl.get("name", ""), f"{item_path}.name"
        if not name:
            yield field.required(at)
        elif len(name) > _MAX_SYSCTL or not _IS_SYSCTL.fullmatch(name):
            yield field.invalid(at, name, f"must have at most {_MAX_SYSCTL} characters and match regex {_SYSCTL}")
        elif name in seen:
            yield field.duplicate(at, name)
        if not host and (reason := _find_sysctl_fault(name, spec)):
            yield field.invalid(at, name, reason)
        seen.add(name)


def _find_sysctl_fault(name: str, spec: Object) -> str:
    """Return why a sysctl is rejected, or "": the pod uses the host's namespace."""
    first = next((char for char in each(name) if char in "./"), ".")
    dotted = (name if first == "." else name.translate(_SWAPPED)).partition("*")[0]
    if spec.get("hostNetwork") and dotted.startswith("net."):
        return "may not be specified when 'hostNetwork' is true"
    if spec.get("hostIPC") and (dotted == "kernel.sem" or dotted.startswith(_IPC)):
        return "may not be specified when 'hostIPC' is true"
    return ""


def has_host_sysctls(spec: Object) -> bool:
    """Return whether a pod has sysctls of host namespaces."""
    sysctls = (spec.get("securityContext") or {}).get("sysctls") or ()
    return any(_find_sysctl_fault(sysctl.get("name", ""), spec) for sysctl in each(sysctls))


def validate_seccomp(profile: Object | None, path: str) -> field.Errors:
    """Validate a seccomp profile."""
    if profile is None:
        return
    yield from _validate_type(profile, path, "seccompProfile")
    local, local_path = profile.get("localhostProfile"), f"{path}.localhostProfile"
    if profile.get("type") != _LOCALHOST:
        if local is not None:
            shown_profile = gostructs.format_struct(_SECCOMP_PROFILE, profile)
            yield field.invalid(local_path, shown_profile, "can only be set when seccomp type is Localhost")
    elif local is None:
        yield field.required(local_path, "must be set when seccomp type is Localhost")
    else:
        yield from checks.validate_descending(local_path, local)


def validate_app_armor(profile: Object | None, path: str) -> field.Errors:
    """Validate an AppArmor profile. An invalid type is the only error."""
    if profile is None:
        return
    local, local_path = profile.get("localhostProfile"), f"{path}.localhostProfile"
    if errors := _validate_type(profile, path, "appArmorProfile"):
        yield from errors
    elif profile["type"] != _LOCALHOST:
        if local is not None:
            yield field.invalid(local_path, Named(local), "can only be set when AppArmor type is Localhost")
    elif not local:
        yield field.required(local_path, "must be set when AppArmor type is Localhost")
    else:
        if local.strip() != local:
            yield field.invalid(local_path, local, "must not be padded with whitespace")
        if len(local.encode()) > _LONGEST_PROFILE:
            yield field.too_long(local_path, _LONGEST_PROFILE)


def _validate_type(profile: Object, path: str, field_name: str) -> list[FieldError]:
    if not profile.get("type"):
        return [field.required(f"{path}.type", f"type is required when {field_name} is set")]
    return field.one_of(f"{path}.type", profile["type"], _PROFILES)
