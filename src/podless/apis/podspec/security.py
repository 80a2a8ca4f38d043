"""Validates security contexts of pods and containers. Source: Kubernetes' pkg/apis/core/validation."""

from __future__ import annotations

import re

from podless.apis.podspec import windows
from podless.apis.shared import checks
from podless.codec.gotext import Named
from podless.meta import field
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has
from podless.structs import gostructs
from podless.structs.structfiles import load_struct

SECCOMP_PROFILE = load_struct("core/v1", "SeccompProfile")
SECURITY_CONTEXT = load_struct("core/v1", "SecurityContext")

_PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")
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
_SYSTEM_ADMIN = "CAP_SYS_ADMIN"
_NO_ESCALATION = "cannot set `allowPrivilegeEscalation` to false and "


def validate_container_context(container_context: Object | None, path: str, host_users: bool) -> field.Errors:
    """Validate the security context of a container. host_users: the pod uses the host's user namespace."""
    if container_context is None:
        return
    if container_context.get("privileged"):
        yield field.forbidden(f"{path}.privileged", "disallowed by cluster policy")
    yield from checks.validate_ids(container_context, path, "runAsUser", "runAsGroup")
    mask = container_context.get("procMount")
    yield from field.one_of(f"{path}.procMount", mask, _MASKS)
    if host_users and mask == "Unmasked":
        yield field.invalid(f"{path}.procMount", mask, "`hostUsers` must be false to use `Unmasked`")
    yield from validate_seccomp(container_context.get("seccompProfile"), f"{path}.seccompProfile")
    if container_context.get("allowPrivilegeEscalation") is False:
        yield from _validate_escalation(container_context, path)
    yield from windows.validate_windows_options(container_context.get("windowsOptions"), f"{path}.windowsOptions")
    yield from app_armor(container_context.get("appArmorProfile"), f"{path}.appArmorProfile")


def _validate_escalation(escalation: Object, path: str) -> field.Errors:
    if escalation.get("privileged"):
        reason = f"{_NO_ESCALATION}`privileged` to true"
        yield field.invalid(path, gostructs.format_struct(SECURITY_CONTEXT, escalation), reason)
    for capability in each((escalation.get("capabilities") or {}).get("add") or ()):
        if capability == _SYSTEM_ADMIN:
            reason = f"{_NO_ESCALATION}`capabilities.Add` {_SYSTEM_ADMIN}"
            yield field.invalid(path, gostructs.format_struct(SECURITY_CONTEXT, escalation), reason)


def validate_pod_context(spec: Object, path: str, *, host_sysctls: bool = False) -> field.Errors:
    """Validate the security context of a pod. host_sysctls: accept sysctls of host namespaces."""
    security_context = spec.get("securityContext") or {}
    yield from checks.validate_ids(security_context, path, "fsGroup", "runAsUser", "runAsGroup")
    yield from checks.validate_group_ids(security_context, path)
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        reason = "ShareProcessNamespace and HostPID cannot both be enabled"
        yield field.invalid(f"{path}.shareProcessNamespace", True, reason)
    if security_context.get("sysctls"):
        yield from _validate_sysctls(security_context["sysctls"], f"{path}.sysctls", spec, host_sysctls)
    yield from field.one_of(f"{path}.fsGroupChangePolicy", security_context.get("fsGroupChangePolicy"), _GROUP_CHANGES)
    yield from validate_seccomp(security_context.get("seccompProfile"), f"{path}.seccompProfile")
    yield from windows.validate_windows_options(security_context.get("windowsOptions"), f"{path}.windowsOptions")
    yield from app_armor(security_context.get("appArmorProfile"), f"{path}.appArmorProfile")
    groups_policy, label_change = (
        security_context.get(name) for name in ("supplementalGroupsPolicy", "seLinuxChangePolicy")
    )
    yield from field.one_of(f"{path}.supplementalGroupsPolicy", groups_policy, _GROUP_POLICIES)
    label_changes = _LABEL_CHANGES if has("SELinuxMount") and not has("RecursiveLabelChanges") else _LABEL_CHANGES[1:]
    yield from field.one_of(f"{path}.seLinuxChangePolicy", label_change, label_changes)


def _validate_sysctls(sysctls: list[Object], path: str, spec: Object, host: bool) -> field.Errors:
    seen: set[str] = set()
    for index, sysctl in enumerate(each(sysctls)):
        name, at = sysctl.get("name", ""), f"{path}[{index}].name"
        if not name:
            yield field.required(at)
        elif len(name) > _MAX_SYSCTL or not _IS_SYSCTL.fullmatch(name):
            yield field.invalid(at, name, f"must have at most {_MAX_SYSCTL} characters and match regex {_SYSCTL}")
        elif name in seen:
            yield field.duplicate(at, name)
        if not host and (reason := _read_host(name, spec)):
            yield field.invalid(at, name, reason)
        seen.add(name)


def _read_host(name: str, spec: Object) -> str:
    """Return why a sysctl is rejected, or "": the pod uses the host's namespace."""
    first = next((char for char in each(name) if char in "./"), ".")
    dotted = (name if first == "." else name.translate(_SWAPPED)).partition("*")[0]
    if spec.get("hostNetwork") and dotted.startswith("net."):
        return "may not be specified when 'hostNetwork' is true"
    if spec.get("hostIPC") and (dotted == "kernel.sem" or dotted.startswith(_IPC)):
        return "may not be specified when 'hostIPC' is true"
    return ""


def host_sysctls(spec: Object) -> bool:
    """Return whether a pod has sysctls of host namespaces."""
    sysctls = (spec.get("securityContext") or {}).get("sysctls") or ()
    return any(_read_host(sysctl.get("name", ""), spec) for sysctl in each(sysctls))


def validate_seccomp(profile: Object | None, path: str) -> field.Errors:
    """Validate a seccomp profile."""
    if profile is None:
        return
    kind, local = profile.get("type", ""), profile.get("localhostProfile")
    if not kind:
        yield field.required(f"{path}.type", "type is required when seccompProfile is set")
    elif kind not in _PROFILES:
        yield field.not_supported(f"{path}.type", kind, _PROFILES)
    localhost_profile_path = f"{path}.localhostProfile"
    if kind != "Localhost":
        if local is not None:
            text = gostructs.format_struct(SECCOMP_PROFILE, profile)
            yield field.invalid(localhost_profile_path, text, "can only be set when seccomp type is Localhost")
    elif local is None:
        yield field.required(localhost_profile_path, "must be set when seccomp type is Localhost")
    else:
        yield from checks.validate_descending(localhost_profile_path, local)


def app_armor(profile: Object | None, path: str) -> field.Errors:
    """Validate the AppArmor profile."""
    if profile is None:
        return
    kind, local = profile.get("type", ""), profile.get("localhostProfile")
    localhost_profile_path = f"{path}.localhostProfile"
    if kind == "Localhost":
        yield from _validate_local_profile(local, localhost_profile_path)
    elif kind in _PROFILES:
        if local is not None:
            yield field.invalid(localhost_profile_path, Named(local), "can only be set when AppArmor type is Localhost")
    elif not kind:
        yield field.required(f"{path}.type", "type is required when appArmorProfile is set")
    else:
        yield field.not_supported(f"{path}.type", kind, _PROFILES)


def _validate_local_profile(profile: str | None, path: str) -> field.Errors:
    if not profile:
        yield field.required(path, "must be set when AppArmor type is Localhost")
        return
    if profile.strip() != profile:
        yield field.invalid(path, profile, "must not be padded with whitespace")
    if len(profile.encode()) > _LONGEST_PROFILE:
        yield field.too_long(path, _LONGEST_PROFILE)
