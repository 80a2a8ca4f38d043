"""Validates fields that Windows pods require or forbid. Source: Kubernetes' pkg/apis/core/validation."""

from __future__ import annotations

import re

from podless.codec.gotext import Named
from podless.meta import field, names
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

_SYSTEMS = ("linux", "windows")
_NOT_WINDOWS = "cannot be set for a windows pod"
_NOT_LINUX = "windows options cannot be set for a linux pod"
_MAX_SPEC = 64  # KiB
_MAX_DOMAIN = 256
_MAX_USER = 104
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_NETBIOS = re.compile(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}')
_DNS_LABEL = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?")
_ONLY_DOTS = re.compile(r"[. ]++")
_NOT_IN_USERS = re.compile(r'["/\\:;|=,+*?<>@\[\]]')
_USERS = "runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]"

# fields that a pod's security context must not have, in the order of errors; a leading dot marks a field of the spec
_OF_POD = (
    "appArmorProfile", "seLinuxOptions", ".hostUsers", ".hostPID", ".hostIPC", "seccompProfile", "fsGroup",
    "fsGroupChangePolicy", "sysctls", ".shareProcessNamespace", "runAsUser", "runAsGroup", "supplementalGroups",
    "supplementalGroupsPolicy", "seLinuxChangePolicy",
)  # fmt: skip
_OF_CONTAINER = (
    "appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem", "privileged",
    "allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup",
)  # fmt: skip


def validate_windows_options(windows_options: Object | None, path: str) -> field.Errors:
    """Validate windowsOptions of a security context."""
    if windows_options is None:
        return
    keys = ("gmsaCredentialSpecName", "gmsaCredentialSpec", "runAsUserName")
    name, spec, user = (windows_options.get(key) for key in keys)
    if name is not None:
        yield from field.invalid_details(f"{path}.gmsaCredentialSpecName", Named(name), names.check_subdomain(name))
    if spec is not None:
        spec_path = f"{path}.gmsaCredentialSpec"
        if not spec:
            yield field.invalid(spec_path, Named(spec), "gmsaCredentialSpec cannot be an empty string")
        elif len(spec.encode()) > _MAX_SPEC << 10:
            yield field.invalid(spec_path, Named(spec), f"gmsaCredentialSpec size must be under {_MAX_SPEC} KiB")
    if user is not None:
        yield from field.invalid_details(f"{path}.runAsUserName", Named(user), _find_user_faults(user))


def _find_user_faults(text: str) -> list[str]:
    """Return the faults of runAsUserName, which can have a domain."""
    segments = text.split("\\")
    if not text:
        return ["runAsUserName cannot be an empty string"]
    if _CONTROL.search(text):
        return ["runAsUserName cannot contain control characters"]
    if len(segments) > 2:
        return ["runAsUserName cannot contain more than one backslash"]
    user, user_faults = segments[-1], []
    if len(segments) == 2:
        user_faults += _find_domain_faults(segments[0])
    if not user:
        user_faults.append("runAsUserName's User cannot be empty")
    elif len(user.encode()) > _MAX_USER:
        user_faults.append(f"runAsUserName's User length must not be longer than {_MAX_USER} characters")
    if _ONLY_DOTS.fullmatch(user):
        user_faults.append("runAsUserName's User cannot contain only periods or spaces")
    if _NOT_IN_USERS.search(user):
        user_faults.append(_USERS)
    return user_faults


def _find_domain_faults(domain: str) -> list[str]:
    domain_faults = []
    if len(domain.encode()) >= _MAX_DOMAIN:
        domain_faults.append(f"runAsUserName's Domain length must be under {_MAX_DOMAIN} characters")
    if not _NETBIOS.fullmatch(domain) and not all(_DNS_LABEL.fullmatch(segment) for segment in each(domain.split("."))):
        domain_faults.append("runAsUserName's Domain doesn't match the NetBios nor the DNS format")
    return domain_faults


def validate_host_processes(spec: Object, path: str, containers: list[tuple[Object, str]]) -> field.Errors:
    """Require that all containers or none are host processes."""
    of_pod = _get_host_process(spec)
    count = 0
    for container, container_path in each(containers):
        of_container = _get_host_process(container)
        if of_pod is not None and of_container is not None and of_pod != of_container:
            pod_value = "true" if of_pod else "false"
            reason = f"pod hostProcess value must be identical if both are specified, was {pod_value}"
            yield field.invalid(f"{container_path}.securityContext.windowsOptions.hostProcess", of_container, reason)
        count += bool(of_pod if of_container is None else of_container)
    if not count:
        return
    if count != len(containers):
        reason = "If pod contains any hostProcess containers then all containers must be HostProcess containers"
        yield field.invalid(path, "", reason)
    if not spec.get("hostNetwork"):
        reason = "hostNetwork must be true if pod contains any hostProcess containers"
        yield field.invalid(f"{path}.hostNetwork", False, reason)
    yield field.forbidden(path, "hostProcess containers are disallowed by cluster policy")


def _get_host_process(holder: Object) -> bool | None:
    value: bool | None = ((holder.get("securityContext") or {}).get("windowsOptions") or {}).get("hostProcess")
    return value


def validate_os(spec: Object, path: str, containers: list[tuple[Object, str]]) -> field.Errors:
    """Validate spec.os, and reject fields that the operating system does not support."""
    system = spec.get("os")
    if system is None:
        return
    name = system.get("name", "")
    if not name:
        yield field.required(f"{path}.os.name")
    elif name not in _SYSTEMS:
        yield field.not_supported(f"{path}.os", name, _SYSTEMS)
    elif name == "linux":
        for holder, holder_path in each(((spec, path), *containers)):
            context = holder.get("securityContext") or {}
            if context.get("windowsOptions") is not None:
                yield field.forbidden(f"{holder_path}.securityContext.windowsOptions", _NOT_LINUX)
    else:
        yield from _validate_windows(spec, path, containers)


def _validate_windows(spec: Object, path: str, containers: list[tuple[Object, str]]) -> field.Errors:
    context = spec.get("securityContext") or {}
    for name in _OF_POD:
        if name[0] == ".":
            pod_value = spec.get(name[1:])
            if pod_value or (pod_value is not None and name in (".hostUsers", ".shareProcessNamespace")):
                yield field.forbidden(f"{path}{name}", _NOT_WINDOWS)
        elif context.get(name) is not None:
            yield field.forbidden(f"{path}.securityContext.{name}", _NOT_WINDOWS)
    for container, container_path in each(containers):
        container_context = container.get("securityContext") or {}
        for name in _OF_CONTAINER:
            if container_context.get(name) is not None:
                yield field.forbidden(f"{container_path}.securityContext.{name}", _NOT_WINDOWS)
