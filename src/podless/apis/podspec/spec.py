"""Validates a PodSpec, with errors in kube-apiserver's order.

Source: Kubernetes' pkg/apis/core/validation (ValidatePodSpec).
"""

from __future__ import annotations

from podless.apis.podspec import (
    affinity,
    containers,
    env,
    podannotations,
    resources,
    scheduling,
    security,
    volumes,
    windows,
)
from podless.apis.podspec.options import PodContext, PodOptions
from podless.apis.shared import checks
from podless.meta import addresses, field, names
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has
from podless.structs import gostructs
from podless.structs.structfiles import load_struct

_POD_RESOURCE_CLAIM = load_struct("core/v1", "PodResourceClaim")

_RESTARTS = ("Always", "OnFailure", "Never")
_DNS = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_CLAIM_SOURCES = ("resourceClaimName", "resourceClaimTemplateName")
_PREEMPTIONS = ("PreemptLowerPriority", "Never")
_MAX_SERVERS, _MAX_PATHS, _MAX_CHARACTERS = 3, 32, 2048
_MAX_HOSTNAME = 64
_MAX_SECONDS = (1 << 31) - 1
_HIDDEN = "when `hostUsers` is false"


def validate_pod_spec(spec: Object, path: str, options: PodOptions, metadata: Object | None = None) -> field.Errors:
    """Validate a defaulted spec. metadata: of the pod; None for a template."""
    visited = containers.visit_containers(spec, path)
    yield from _validate_contents(spec, path, options, metadata)
    yield from _validate_network(spec, path, options)
    yield from checks.validate_enum(f"{path}.restartPolicy", spec.get("restartPolicy"), _RESTARTS)
    yield from checks.validate_enum(f"{path}.dnsPolicy", spec.get("dnsPolicy"), _DNS)
    for key, value in each(spec.get("nodeSelector") or {}).items():
        yield from checks.validate_label_key(f"{path}.nodeSelector", key)
        yield from field.invalid_details(f"{path}.nodeSelector", value, names.check_label_value(value))
    yield from security.validate_pod_context(spec, f"{path}.securityContext", host_sysctls=options.allow_host_sysctls)
    if spec.get("affinity") is not None:
        yield from affinity.validate_affinity(spec["affinity"], f"{path}.affinity", options)
    yield from _validate_dns(spec, f"{path}.dnsConfig")
    for gate, at in checks.list_items(spec, "readinessGates", path):
        yield from checks.validate_label_key(f"{at}.conditionType", gate.get("conditionType", ""))
    if spec.get("schedulingGates"):
        yield from scheduling.validate_gates(spec, path)
    if spec.get("topologySpreadConstraints"):
        yield from scheduling.validate_spread(spec, path, options)
    yield from windows.validate_host_processes(spec, path, visited)
    yield from _validate_users(spec, path, options, visited)
    yield from _validate_hostname(spec, path)
    yield from checks.validate_string(spec, path, "serviceAccountName", names.check_subdomain)
    yield from checks.validate_string(spec, path, "nodeName", names.check_subdomain)
    deadline = spec.get("activeDeadlineSeconds")
    yield from checks.validate_range(f"{path}.activeDeadlineSeconds", deadline, 1, _MAX_SECONDS)
    yield from checks.validate_string(spec, path, "hostname", names.check_label_name)
    yield from checks.validate_string(spec, path, "subdomain", names.check_label_name)
    if spec.get("tolerations"):
        yield from scheduling.validate_tolerations(spec["tolerations"], f"{path}.tolerations")
    for alias, at in checks.list_items(spec, "hostAliases", path):
        address = alias.get("ip", "")
        yield from field.invalid_details(f"{at}.ip", address, addresses.find_address_faults(address))
        for name, name_path in checks.list_items(alias, "hostnames", at):
            yield from field.invalid_details(name_path, name, names.check_subdomain(name))
    yield from checks.validate_string(spec, path, "priorityClassName", names.check_subdomain)
    yield from checks.validate_pointer(spec, path, "runtimeClassName", names.check_subdomain)
    if (preemption := spec.get("preemptionPolicy")) is not None:
        yield from checks.validate_enum(f"{path}.preemptionPolicy", preemption, _PREEMPTIONS)
    if spec.get("overhead"):
        limits, indivisible = {"limits": spec["overhead"]}, options.allow_indivisible
        yield from resources.validate_resources(limits, f"{path}.overhead", set(), indivisible=indivisible)
    yield from windows.validate_os(spec, path, visited)
    yield from env.validate_file_keys(spec, path, visited)


def _validate_contents(spec: Object, path: str, options: PodOptions, metadata: Object | None) -> field.Errors:
    """Validate volumes, claims, containers and resources."""
    valid_volumes: dict[str, Object] = {}
    if spec.get("volumes"):
        yield from volumes.validate_volumes(spec, path, metadata, options, valid_volumes)
    if spec.get("resourceClaims"):
        yield from _validate_claims(spec, path, metadata)
    claims = {claim["name"] for claim in each(spec.get("resourceClaims") or ()) if claim.get("name")}
    pod = PodContext(spec, options, valid_volumes, claims)
    yield from containers.validate_containers(path, pod)
    if spec.get("initContainers"):
        yield from containers.validate_init_containers(path, pod)
    if spec.get("ephemeralContainers"):
        yield from containers.validate_ephemeral_containers(path, pod)
    yield from resources.validate_pod_resources(spec, path, claims, indivisible=options.allow_indivisible)


def _validate_claims(spec: Object, path: str, metadata: Object | None) -> field.Errors:
    mirror = podannotations.MIRROR in ((metadata or {}).get("annotations") or {})
    seen: set[str] = set()
    for claim, at in checks.list_items(spec, "resourceClaims", path):
        if mirror:
            yield field.forbidden("[]", "static pods do not support resource claims")
            continue
        name = claim.get("name", "")
        if name in seen:
            yield field.duplicate(f"{at}.name", name)
        else:
            yield from checks.validate_name(f"{at}.name", name)
        if name:
            seen.add(name)
        set_sources = [key for key in _CLAIM_SOURCES if claim.get(key) is not None]
        if len(set_sources) != 1:
            reason = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
            if set_sources:
                reason = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            yield field.invalid(at, gostructs.format_struct(_POD_RESOURCE_CLAIM, claim), reason)
        for key in _CLAIM_SOURCES:
            yield from checks.validate_pointer(claim, at, key, names.check_subdomain)


def _validate_network(spec: Object, path: str, options: PodOptions) -> field.Errors:
    """Require equal host and container ports of pods on the host network."""
    if not spec.get("hostNetwork"):
        return
    for container, container_path in checks.list_items(spec, "containers", path):
        for port, at in checks.list_items(container, "ports", container_path):
            host_port = port.get("hostPort") or 0
            if (options.pod or host_port) and host_port != (port.get("containerPort") or 0):
                reason = "must match `containerPort` when `hostNetwork` is true"
                yield field.invalid(f"{at}.hostPort", host_port, reason)


def _validate_dns(spec: Object, path: str) -> field.Errors:
    config = spec.get("dnsConfig")
    servers = (config or {}).get("nameservers") or []
    if spec.get("dnsPolicy") == "None":
        if config is None:
            yield field.required(path, "must provide `dnsConfig` when `dnsPolicy` is None")
            return
        if not servers:
            reason = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            yield field.required(f"{path}.nameservers", reason)
            return
    if config is None:
        return
    if len(servers) > _MAX_SERVERS:
        yield field.invalid(f"{path}.nameservers", servers, f"must not have more than {_MAX_SERVERS} nameservers")
    for server, at in checks.list_items(config, "nameservers", path):
        yield from field.invalid_details(at, server, addresses.find_address_faults(server))
    yield from _validate_searches(config.get("searches") or [], f"{path}.searches")
    for option, at in checks.list_items(config, "options", path):
        if not option.get("name"):
            yield field.required(at, "must not be empty")


def _validate_searches(searches: list[str], path: str) -> field.Errors:
    if len(searches) > _MAX_PATHS:
        yield field.invalid(path, searches, f"must not have more than {_MAX_PATHS} search paths")
    if len(" ".join(searches).encode()) > _MAX_CHARACTERS:
        reason = f"must not have more than {_MAX_CHARACTERS} characters (including spaces) in the search list"
        yield field.invalid(path, searches, reason)
    relaxed = has("RelaxedDNSSearchValidation")
    check = names.check_underscored_subdomain if relaxed else names.check_subdomain
    for index, search in enumerate(each(searches)):
        if search != "." or not relaxed:
            domain = search.removesuffix(".")
            yield from field.invalid_details(f"{path}[{index}]", domain, check(domain))


def _validate_users(spec: Object, path: str, options: PodOptions, visited: list[tuple[Object, str]]) -> field.Errors:
    """Reject host namespaces and devices for pods with hostUsers: false."""
    if spec.get("hostUsers") is not False:
        return
    if spec.get("hostNetwork") and not options.allow_user_namespace_network:
        yield field.forbidden(f"{path}.hostNetwork", _HIDDEN)
    if spec.get("hostPID"):
        yield field.forbidden(f"{path}.HostPID", _HIDDEN)
    if spec.get("hostIPC"):
        yield field.forbidden(f"{path}.HostIPC", _HIDDEN)
    if not options.allow_user_namespace_devices:
        for container, at in each(visited):
            if container.get("volumeDevices"):
                yield field.forbidden(f"{at}.volumeDevices", _HIDDEN)


def _validate_hostname(spec: Object, path: str) -> field.Errors:
    name, at = spec.get("hostnameOverride"), f"{path}.hostnameOverride"
    if name is None:
        return
    for key in ("setHostnameAsFQDN", "hostNetwork"):
        if spec.get(key):
            yield field.forbidden(at, f"may not be specified when {key} is true")
    if len(name.encode()) > _MAX_HOSTNAME:
        yield field.too_long(at, _MAX_HOSTNAME)
    yield from field.invalid_details(at, name, names.check_subdomain(name))
