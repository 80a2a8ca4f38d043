"""The Pod Security Standards: checks of each level, by version of the standard.

Source: Kubernetes' pod-security-admission/policy. A check returns (reason, detail) for a violation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from podless.codec.gotext import quote
from podless.runtime.jsonobject import Object

Finding = tuple[str, str] | None

_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
_SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP = "container.seccomp.security.alpha.kubernetes.io/"
_PROFILES = frozenset({"RuntimeDefault", "Localhost"})
_CAPABILITIES = frozenset(
    (
        *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP"),
        *("SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
    )
)
_SYSCTLS: tuple[tuple[int, tuple[str, ...]], ...] = (
    (0, ("kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies")),
    (0, ("net.ipv4.ping_group_range", "net.ipv4.ip_unprivileged_port_start")),
    (27, ("net.ipv4.ip_local_reserved_ports",)),
    (29, ("net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout")),
    (29, ("net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes")),
    (32, ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem")),
)
_HARMLESS = (
    *("configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected"),
    "secret",
)
_VOLUMES = (
    *("hostPath", "gcePersistentDisk", "awsElasticBlockStore", "gitRepo", "nfs", "iscsi", "glusterfs", "rbd"),
    *("flexVolume", "cinder", "cephfs", "flocker", "fc", "azureFile", "vsphereVolume", "quobyte", "azureDisk"),
    *("photonPersistentDisk", "portworxVolume", "scaleIO", "storageos"),
)


class _Pod:
    """A pod for the checks. minor: the version of the standard."""

    def __init__(self, metadata: Object, spec: Object, minor: int) -> None:
        self.spec = spec
        self.minor = minor
        self.annotations: dict[str, str] = metadata.get("annotations") or {}
        self.context: Object = spec.get("securityContext") or {}
        self.containers: list[Object] = [
            item for name in ("initContainers", "containers", "ephemeralContainers") for item in spec.get(name) or []
        ]
        self.windows = minor >= 25 and (spec.get("os") or {}).get("name") == "windows"
        self.in_user_namespace = minor >= 35 and spec.get("hostUsers") is False

    def contexts(self) -> Iterator[tuple[str, Object]]:
        """Yield the names and security contexts of all containers."""
        for container in self.containers:
            yield container["name"], container.get("securityContext") or {}


def _pluralize(noun: str, count: int) -> str:
    return noun if count == 1 else f"{noun}s"


def _quote_texts(texts: Iterable[str]) -> str:
    """Join texts in double quotes, without escaping."""
    return ", ".join(f'"{text}"' for text in texts)


def _describe_containers(names: list[str]) -> str:
    return f"{_pluralize('container', len(names))} {_quote_texts(names)}"


def _describe_setters(pod: bool, names: list[str]) -> str:
    return " and ".join([*(["pod"] if pod else []), *([_describe_containers(names)] if names else [])])


def _app_armor(pod: _Pod) -> Finding:
    def forbidden_profile(context: Object) -> str | None:
        profile = context.get("appArmorProfile")
        kind: str | None = profile.get("type", "") if profile is not None else None
        return kind if kind is not None and kind not in _PROFILES else None

    profiles = [(name, forbidden_profile(context)) for name, context in pod.contexts()]
    names = [name for name, kind in profiles if kind is not None]
    of_pod = forbidden_profile(pod.context)
    kinds = sorted({kind for kind in (of_pod, *(kind for _, kind in profiles)) if kind is not None})
    noted = sorted(
        f"{key}={quote(value)}"
        for key, value in pod.annotations.items()
        if key.startswith(_ARMOR) and value and value != "runtime/default" and not value.startswith("localhost/")
    )
    setters = [_describe_setters(of_pod is not None, names)] if of_pod is not None or names else []
    if noted:
        setters.append(_pluralize("annotation", len(noted)))
    if not setters:
        return None
    kinds += noted
    reason = _pluralize("forbidden AppArmor profile", len(kinds))
    return reason, f"{' and '.join(setters)} must not set AppArmor profile type to {_quote_texts(kinds)}"


def _list_added(pod: _Pod, allowed: frozenset[str]) -> str:
    names = []
    forbidden: set[str] = set()
    for name, context in pod.contexts():
        added = set((context.get("capabilities") or {}).get("add") or ()) - allowed
        if added:
            names.append(name)
            forbidden |= added
    if not names:
        return ""
    capabilities = _quote_texts(sorted(forbidden))
    return f"{_describe_containers(names)} must not include {capabilities} in securityContext.capabilities.add"


def _check_capabilities(pod: _Pod) -> Finding:
    detail = _list_added(pod, _CAPABILITIES)
    return ("non-default capabilities", detail) if detail else None


def _capabilities_restricted(pod: _Pod) -> Finding:
    if pod.windows:
        return None
    names = [
        name for name, context in pod.contexts() if "ALL" not in ((context.get("capabilities") or {}).get("drop") or ())
    ]
    details = [f'{_describe_containers(names)} must set securityContext.capabilities.drop=["ALL"]'] if names else []
    added = _list_added(pod, frozenset({"NET_BIND_SERVICE"}))
    details += [added] if added else []
    return ("unrestricted capabilities", "; ".join(details)) if details else None


def _host_namespaces(pod: _Pod) -> Finding:
    shared = [f"{name}=true" for name in ("hostNetwork", "hostPID", "hostIPC") if pod.spec.get(name)]
    return ("host namespaces", ", ".join(shared)) if shared else None


def _host_paths(pod: _Pod) -> Finding:
    names = [volume["name"] for volume in pod.spec.get("volumes") or [] if volume.get("hostPath") is not None]
    return ("hostPath volumes", f"{_pluralize('volume', len(names))} {_quote_texts(names)}") if names else None


def _host_ports(pod: _Pod) -> Finding:
    names = []
    ports: set[str] = set()
    for container in pod.containers:
        host_ports = {str(port["hostPort"]) for port in container.get("ports") or [] if port.get("hostPort")}
        if host_ports:
            names.append(container["name"])
            ports |= host_ports
    if not names:
        return None
    uses = "uses" if len(names) == 1 else "use"
    return (
        "hostPort",
        f"{_describe_containers(names)} {uses} {_pluralize('hostPort', len(ports))} {', '.join(sorted(ports))}",
    )


def _check_hosts(pod: _Pod) -> Finding:
    names: set[str] = set()
    hosts: set[str] = set()
    for container in pod.containers:
        lifecycle = container.get("lifecycle") or {}
        probes = [container.get(name) for name in ("livenessProbe", "readinessProbe", "startupProbe")]
        for handler in (*probes, lifecycle.get("postStart"), lifecycle.get("preStop")):
            texts = (((handler or {}).get(field_name) or {}).get("host", "") for field_name in ("httpGet", "tcpSocket"))
            named = {host for host in texts if host}
            if named:
                names.add(container["name"])
                hosts |= named
    if not names:
        return None
    uses = "uses" if len(names) == 1 else "use"
    hosts_noun = _pluralize("probe or lifecycle host", len(hosts))
    return (
        "probe or lifecycle host",
        f"{_describe_containers(sorted(names))} {uses} {hosts_noun} {_quote_texts(sorted(hosts))}",
    )


def _check_privileged(pod: _Pod) -> Finding:
    names = [name for name, context in pod.contexts() if context.get("privileged")]
    return (
        ("privileged", f"{_describe_containers(names)} must not set securityContext.privileged=true") if names else None
    )


def _proc_mount(pod: _Pod) -> Finding:
    return None if pod.in_user_namespace else _proc_mount_restricted(pod)


def _proc_mount_restricted(pod: _Pod) -> Finding:
    mounts = [(name, context.get("procMount")) for name, context in pod.contexts()]
    mounts = [(name, kind) for name, kind in mounts if kind is not None and kind != "Default"]
    if not mounts:
        return None
    kinds = _quote_texts(sorted({kind for _, kind in mounts if kind is not None}))
    return (
        "procMount",
        f"{_describe_containers([name for name, _ in mounts])} must not set securityContext.procMount to {kinds}",
    )


def _se_linux(pod: _Pod) -> Finding:
    allowed = {"", "container_t", "container_init_t", "container_kvm_t"}
    if pod.minor >= 31:
        allowed.add("container_engine_t")

    def read_forbidden(context: Object) -> Object | None:
        options = context.get("seLinuxOptions") or {}
        wrong = options.get("type", "") not in allowed or options.get("user") or options.get("role")
        return options if wrong else None

    pairs = [(name, read_forbidden(context)) for name, context in pod.contexts()]
    of_pod = read_forbidden(pod.context)
    options_set = [item for item in (of_pod, *(item for _, item in pairs)) if item is not None]
    if not options_set:
        return None
    kinds = sorted({item.get("type", "") for item in options_set} - allowed)
    details = [f"{_pluralize('type', len(kinds))} {_quote_texts(kinds)}"] if kinds else []
    details += [f"{name} may not be set" for name in ("user", "role") if any(item.get(name) for item in options_set)]
    setters = _describe_setters(of_pod is not None, [name for name, item in pairs if item is not None])
    return "seLinuxOptions", f"{setters} set forbidden securityContext.seLinuxOptions: {'; '.join(details)}"


def _check_seccomp(pod: _Pod) -> Finding:
    return _seccomp_noted(pod) if pod.minor < 19 else _seccomp_set(pod)


def _seccomp_noted(pod: _Pod) -> Finding:
    keys = [_SECCOMP_POD, *(_SECCOMP + container["name"] for container in pod.containers)]
    noted = {key: pod.annotations[key] for key in keys if key in pod.annotations}
    wrong = sorted(
        f"{key}={quote(value)}"
        for key, value in noted.items()
        if value not in ("runtime/default", "docker/default") and not value.startswith("localhost/")
    )
    return ("seccompProfile", f"forbidden {_pluralize('annotation', len(wrong))} {', '.join(wrong)}") if wrong else None


def _read_profile(context: Object) -> str | None:
    profile = context.get("seccompProfile")
    return profile.get("type", "") if profile is not None else None


def _seccomp_set(pod: _Pod) -> Finding:
    of_pod = _read_profile(pod.context)
    wrong = of_pod is not None and of_pod not in _PROFILES
    pairs = [(name, _read_profile(context)) for name, context in pod.contexts()]
    pairs = [(name, kind) for name, kind in pairs if kind is not None and kind not in _PROFILES]
    if not wrong and not pairs:
        return None
    kinds = {kind for _, kind in pairs if kind is not None} | ({of_pod} if wrong and of_pod is not None else set())
    setters = _describe_setters(wrong, [name for name, _ in pairs])
    return (
        "seccompProfile",
        f"{setters} must not set securityContext.seccompProfile.type to {_quote_texts(sorted(kinds))}",
    )


def _seccomp_restricted(pod: _Pod) -> Finding:
    if pod.windows:
        return None
    result = _seccomp_set(pod)
    if result is not None or _read_profile(pod.context) in _PROFILES:
        return result
    names = [name for name, context in pod.contexts() if context.get("seccompProfile") is None]
    must = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
    return ("seccompProfile", f"pod or {_describe_containers(names)} {must}") if names else None


def _check_sysctls(pod: _Pod) -> Finding:
    allowed = {name for since, names in _SYSCTLS if pod.minor >= since for name in names}
    sysctls = [sysctl.get("name", "") for sysctl in pod.context.get("sysctls") or []]
    sysctls = [name for name in sysctls if name not in allowed]
    return ("forbidden sysctls", ", ".join(sysctls)) if sysctls else None


def _host_process(pod: _Pod) -> Finding:
    def is_set(context: Object) -> bool:
        return bool((context.get("windowsOptions") or {}).get("hostProcess"))

    setters = _describe_setters(is_set(pod.context), [name for name, context in pod.contexts() if is_set(context)])
    return (
        ("hostProcess", f"{setters} must not set securityContext.windowsOptions.hostProcess=true") if setters else None
    )


def _check_escalation(pod: _Pod) -> Finding:
    if pod.windows:
        return None
    names = [name for name, context in pod.contexts() if context.get("allowPrivilegeEscalation") is not False]
    detail = f"{_describe_containers(names)} must set securityContext.allowPrivilegeEscalation=false"
    return ("allowPrivilegeEscalation != false", detail) if names else None


def _check_volumes(pod: _Pod) -> Finding:
    names = []
    kinds = set()
    for volume in pod.spec.get("volumes") or []:
        if any(volume.get(kind) is not None for kind in _HARMLESS):
            continue
        names.append(volume["name"])
        kinds.add(next((kind for kind in _VOLUMES if volume.get(kind) is not None), "unknown"))
    if not names:
        return None
    uses = "uses" if len(names) == 1 else "use"
    types_noun = f"{_pluralize('restricted volume type', len(kinds))} {_quote_texts(sorted(kinds))}"
    return "restricted volume types", f"{_pluralize('volume', len(names))} {_quote_texts(names)} {uses} {types_noun}"


def _non_root(pod: _Pod) -> Finding:
    if pod.in_user_namespace:
        return None
    reason = "runAsNonRoot != true"
    run_as_non_root = pod.context.get("runAsNonRoot")
    setters = _describe_setters(
        run_as_non_root is False, [name for name, context in pod.contexts() if context.get("runAsNonRoot") is False]
    )
    if setters:
        return reason, f"{setters} must not set securityContext.runAsNonRoot=false"
    names = [name for name, context in pod.contexts() if context.get("runAsNonRoot") is None and not run_as_non_root]
    return (
        (reason, f"pod or {_describe_containers(names)} must set securityContext.runAsNonRoot=true") if names else None
    )


def _check_user(pod: _Pod) -> Finding:
    if pod.in_user_namespace:
        return None
    setters = _describe_setters(
        pod.context.get("runAsUser") == 0, [name for name, context in pod.contexts() if context.get("runAsUser") == 0]
    )
    return ("runAsUser=0", f"{setters} must not set runAsUser=0") if setters else None


class _Check(NamedTuple):
    """A check. since: the first version of the standard with it. instead: the baseline check that it replaces."""

    find: Callable[[_Pod], Finding]
    since: int = 0
    instead: Callable[[_Pod], Finding] | None = None


_BASELINE = (
    *map(_Check, (_app_armor, _check_capabilities, _host_namespaces, _host_paths, _host_ports)),
    _Check(_check_hosts, 34),
    *map(_Check, (_check_privileged, _proc_mount, _se_linux, _check_seccomp, _check_sysctls, _host_process)),
)
_RESTRICTED = (
    _Check(_check_escalation, 8),
    _Check(_capabilities_restricted, 22, _check_capabilities),
    _Check(_proc_mount_restricted, 35, _proc_mount),
    _Check(_check_volumes, 0, _host_paths),
    _Check(_non_root),
    _Check(_check_user, 23),
    _Check(_seccomp_restricted, 19, _check_seccomp),
)


def find_violations(level: str, minor: int, metadata: Object, spec: Object) -> list[tuple[str, str]]:
    """Return reasons and details of a pod's violations of a level: "privileged", "baseline" or "restricted"."""
    if level == "privileged":
        return []
    pod = _Pod(metadata, spec, minor)
    checks = [check for check in _BASELINE if minor >= check.since]
    if level == "restricted":
        restricted = [check for check in _RESTRICTED if minor >= check.since]
        replaced = {check.instead for check in restricted}
        checks = [check for check in checks if check.find not in replaced] + restricted
    return [violation for check in checks if (violation := check.find(pod)) is not None]
