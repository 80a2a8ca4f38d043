"""The Pod Security Standards: checks of each level, by version of the standard.

Source: Kubernetes' pod-security-admission/policy. A check returns (reason, detail) for a violation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
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

    def describe_containers(self, applies: Callable[[Object], object]) -> str:
        """Return the containers with such a security context, as details name them; "" if there are none."""
        return _describe_containers([name for name, context in self.contexts() if applies(context)])

    def describe_setters(self, applies: Callable[[Object], object]) -> str:
        """Return the pod and the containers with such a security context, as details name them."""
        return " and ".join(filter(None, ("pod" if applies(self.context) else "", self.describe_containers(applies))))


def _pluralize(noun: str, count: int) -> str:
    return noun if count == 1 else f"{noun}s"


def _use(names: Sized) -> str:
    return "uses" if len(names) == 1 else "use"


def _quote_texts(texts: Iterable[str]) -> str:
    """Join texts in double quotes, without escaping."""
    return ", ".join(f'"{text}"' for text in texts)


def _describe_containers(names: list[str]) -> str:
    return f"{_pluralize('container', len(names))} {_quote_texts(names)}" if names else ""


def _report(reason: str, culprits: str, detail: str) -> Finding:
    return (reason, f"{culprits} {detail}") if culprits else None


def _find_forbidden(context: Object, name: str) -> list[str]:
    """Return the type of a profile in a security context if it is forbidden."""
    profile = context.get(name)
    return [profile.get("type", "")] if profile is not None and profile.get("type", "") not in _PROFILES else []


def _list_forbidden(pod: _Pod, name: str) -> list[str]:
    """Return the forbidden types of a profile, sorted."""
    contexts = (pod.context, *(context for _, context in pod.contexts()))
    return sorted({kind for context in contexts for kind in _find_forbidden(context, name)})


def _app_armor(pod: _Pod) -> Finding:
    kinds = _list_forbidden(pod, "appArmorProfile")
    setters = [pod.describe_setters(lambda context: _find_forbidden(context, "appArmorProfile"))] if kinds else []
    noted = sorted(
        f"{key}={quote(value)}"
        for key, value in pod.annotations.items()
        if key.startswith(_ARMOR) and value and value != "runtime/default" and not value.startswith("localhost/")
    )
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
    kept = pod.describe_containers(lambda of: "ALL" not in ((of.get("capabilities") or {}).get("drop") or ()))
    details = [f'{kept} must set securityContext.capabilities.drop=["ALL"]'] if kept else []
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
    used = f"{_pluralize('hostPort', len(ports))} {', '.join(sorted(ports))}"
    return "hostPort", f"{_describe_containers(names)} {_use(names)} {used}"


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
    used = f"{_pluralize('probe or lifecycle host', len(hosts))} {_quote_texts(sorted(hosts))}"
    return "probe or lifecycle host", f"{_describe_containers(sorted(names))} {_use(names)} {used}"


def _check_privileged(pod: _Pod) -> Finding:
    culprits = pod.describe_containers(lambda context: context.get("privileged"))
    return _report("privileged", culprits, "must not set securityContext.privileged=true")


def _proc_mount(pod: _Pod) -> Finding:
    return None if pod.in_user_namespace else _proc_mount_restricted(pod)


def _proc_mount_restricted(pod: _Pod) -> Finding:
    mounts: set[str] = {context.get("procMount", "Default") for _, context in pod.contexts()} - {"Default"}
    culprits = pod.describe_containers(lambda context: context.get("procMount") in mounts)
    return _report("procMount", culprits, f"must not set securityContext.procMount to {_quote_texts(sorted(mounts))}")


def _se_linux(pod: _Pod) -> Finding:
    allowed = {"", "container_t", "container_init_t", "container_kvm_t"}
    if pod.minor >= 31:
        allowed.add("container_engine_t")

    def read_forbidden(context: Object) -> Object:
        options: Object = context.get("seLinuxOptions") or {}
        return options if options.get("type", "") not in allowed or options.get("user") or options.get("role") else {}

    contexts = (pod.context, *(context for _, context in pod.contexts()))
    options_set = [options for context in contexts if (options := read_forbidden(context))]
    kinds = sorted({item.get("type", "") for item in options_set} - allowed)
    details = [f"{_pluralize('type', len(kinds))} {_quote_texts(kinds)}"] if kinds else []
    details += [f"{name} may not be set" for name in ("user", "role") if any(item.get(name) for item in options_set)]
    detail = f"set forbidden securityContext.seLinuxOptions: {'; '.join(details)}"
    return _report("seLinuxOptions", pod.describe_setters(read_forbidden), detail)


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


def _seccomp_set(pod: _Pod) -> Finding:
    setters = pod.describe_setters(lambda context: _find_forbidden(context, "seccompProfile"))
    kinds = _quote_texts(_list_forbidden(pod, "seccompProfile"))
    return _report("seccompProfile", setters, f"must not set securityContext.seccompProfile.type to {kinds}")


def _seccomp_restricted(pod: _Pod) -> Finding:
    if pod.windows:
        return None
    result = _seccomp_set(pod)
    if result is not None or pod.context.get("seccompProfile") is not None:
        return result
    culprits = pod.describe_containers(lambda context: context.get("seccompProfile") is None)
    must = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
    return _report("seccompProfile", culprits and f"pod or {culprits}", must)


def _check_sysctls(pod: _Pod) -> Finding:
    allowed = {name for since, names in _SYSCTLS if pod.minor >= since for name in names}
    sysctls = [sysctl.get("name", "") for sysctl in pod.context.get("sysctls") or []]
    sysctls = [name for name in sysctls if name not in allowed]
    return ("forbidden sysctls", ", ".join(sysctls)) if sysctls else None


def _host_process(pod: _Pod) -> Finding:
    setters = pod.describe_setters(lambda context: (context.get("windowsOptions") or {}).get("hostProcess"))
    return _report("hostProcess", setters, "must not set securityContext.windowsOptions.hostProcess=true")


def _check_escalation(pod: _Pod) -> Finding:
    if pod.windows:
        return None
    culprits = pod.describe_containers(lambda context: context.get("allowPrivilegeEscalation") is not False)
    detail = "must set securityContext.allowPrivilegeEscalation=false"
    return _report("allowPrivilegeEscalation != false", culprits, detail)


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
    used = f"{_pluralize('restricted volume type', len(kinds))} {_quote_texts(sorted(kinds))}"
    return "restricted volume types", f"{_pluralize('volume', len(names))} {_quote_texts(names)} {_use(names)} {used}"


def _non_root(pod: _Pod) -> Finding:
    if pod.in_user_namespace:
        return None
    reason = "runAsNonRoot != true"
    setters = pod.describe_setters(lambda context: context.get("runAsNonRoot") is False)
    if setters or pod.context.get("runAsNonRoot"):
        return _report(reason, setters, "must not set securityContext.runAsNonRoot=false")
    culprits = pod.describe_containers(lambda context: context.get("runAsNonRoot") is None)
    return _report(reason, culprits and f"pod or {culprits}", "must set securityContext.runAsNonRoot=true")


def _check_user(pod: _Pod) -> Finding:
    if pod.in_user_namespace:
        return None
    setters = pod.describe_setters(lambda context: context.get("runAsUser") == 0)
    return _report("runAsUser=0", setters, "must not set runAsUser=0")


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
