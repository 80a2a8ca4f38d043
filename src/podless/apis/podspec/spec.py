"""Validates a PodSpec, with errors in kube-apiserver's order.

Source: Kubernetes' pkg/apis/core/validation (ValidatePodSpec).
"""

from __future__ import annotations

from podless.apis.podspec import affinity, containers, env, marks, resources, scheduling, security, volumes, windows
from podless.apis.podspec.containers import Pod
from podless.apis.podspec.options import PodOptions
from podless.apis.podspec.probes import Around
from podless.apis.shared import checks
from podless.meta import addresses, field, names
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has
from podless.structs import gostructs
from podless.structs.structfiles import load_struct

POD_RESOURCE_CLAIM = load_struct("core/v1", "PodResourceClaim")

_RESTARTS = ("Always", "OnFailure", "Never")
_DNS = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
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
        yield from checks.label_key(f"{path}.nodeSelector", key)
        yield from field.invalid_details(f"{path}.nodeSelector", value, names.check_label_value(value))
    yield from security.validate_pod_context(spec, f"{path}.securityContext", host_sysctls=options.host_sysctls)
    if spec.get("affinity") is not None:
        yield from affinity.validate_affinity(spec["affinity"], f"{path}.affinity", options)
    yield from _validate_dns(spec, f"{path}.dnsConfig")
    for index, gate in enumerate(each(spec.get("readinessGates") or ())):
        yield from checks.label_key(f"{path}.readinessGates[{index}].conditionType", gate.get("conditionType", ""))
    if spec.get("schedulingGates"):
        yield from scheduling.validate_gates(spec["schedulingGates"], f"{path}.schedulingGates")
    if spec.get("topologySpreadConstraints"):
        at = f"{path}.topologySpreadConstraints"
        yield from scheduling.validate_spread(spec["topologySpreadConstraints"], at, options)
    yield from windows.host_processes(spec, path, visited)
    yield from _validate_users(spec, path, options, visited)
    yield from _validate_hostname(spec, path)
    yield from _validate_names(spec, path)
    if spec.get("tolerations"):
        yield from scheduling.validate_tolerations(spec["tolerations"], f"{path}.tolerations")
    yield from _validate_aliases(spec, path)
    yield from _validate_classes(spec, path, options)
    yield from windows.validate_os(spec, path, visited)
    yield from env.validate_file_keys(spec, path, visited)


def _validate_contents(spec: Object, path: str, options: PodOptions, metadata: Object | None) -> field.Errors:
    """Validate volumes, claims, containers and resources."""
    sound: dict[str, Object] = {}
    if spec.get("volumes"):
        relaxed = {"outside_paths": options.has_outside_token_path, "no_image": options.no_image}
        yield from volumes.validate_volumes(spec["volumes"], f"{path}.volumes", metadata, sound, **relaxed)
    if spec.get("resourceClaims"):
        yield from _validate_claims(spec["resourceClaims"], f"{path}.resourceClaims", metadata)
    pod = Pod(
        volumes=sound,
        claims={claim["name"] for claim in each(spec.get("resourceClaims") or ()) if claim.get("name")},
        restart=spec.get("restartPolicy", ""),
        host_users=spec.get("hostUsers") is not False,
        around=Around(spec.get("terminationGracePeriodSeconds"), spec.get("os")),
        options=options,
    )
    regular, first = spec.get("containers") or [], spec.get("initContainers") or []
    yield from containers.validate_containers(regular, f"{path}.containers", pod)
    if first:
        yield from containers.validate_init_containers(first, f"{path}.initContainers", pod, regular)
    if spec.get("ephemeralContainers"):
        other_containers = [*regular, *first]
        yield from containers.validate_ephemeral_containers(
            spec["ephemeralContainers"], f"{path}.ephemeralContainers", pod, other_containers
        )
    yield from resources.check_pod(spec, path, pod.claims, indivisible=options.indivisible)


def _validate_claims(claims: list[Object], path: str, metadata: Object | None) -> field.Errors:
    mirror = marks.MIRROR in ((metadata or {}).get("annotations") or {})
    seen: set[str] = set()
    for index, claim in enumerate(each(claims)):
        if mirror:
            yield field.forbidden("[]", "static pods do not support resource claims")
            continue
        at, name = f"{path}[{index}]", claim.get("name", "")
        if name in seen:
            yield field.duplicate(f"{at}.name", name)
        else:
            yield from checks.validate_name(f"{at}.name", name)
        if name:
            seen.add(name)
        existing, resource_claim_template_name = claim.get("resourceClaimName"), claim.get("resourceClaimTemplateName")
        if existing is not None and resource_claim_template_name is not None:
            reason = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            yield field.invalid(at, gostructs.format_struct(POD_RESOURCE_CLAIM, claim), reason)
        if existing is None and resource_claim_template_name is None:
            reason = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
            yield field.invalid(at, gostructs.format_struct(POD_RESOURCE_CLAIM, claim), reason)
        for key in ("resourceClaimName", "resourceClaimTemplateName"):
            if (value := claim.get(key)) is not None:
                yield from field.invalid_details(f"{at}.{key}", value, names.check_subdomain(value))


def _validate_network(spec: Object, path: str, options: PodOptions) -> field.Errors:
    """Require equal host and container ports of pods on the host network."""
    if not spec.get("hostNetwork"):
        return
    for position, container in enumerate(each(spec.get("containers") or ())):
        for index, port in enumerate(each(container.get("ports") or ())):
            host_port = port.get("hostPort") or 0
            if (options.pod or host_port) and host_port != (port.get("containerPort") or 0):
                reason = "must match `containerPort` when `hostNetwork` is true"
                yield field.invalid(f"{path}.containers[{position}].ports[{index}].hostPort", host_port, reason)


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
    for index, server in enumerate(each(servers)):
        yield from field.invalid_details(f"{path}.nameservers[{index}]", server, addresses.find_address_faults(server))
    yield from _validate_searches(config.get("searches") or [], f"{path}.searches")
    for index, option in enumerate(each(config.get("options") or ())):
        if not option.get("name"):
            yield field.required(f"{path}.options[{index}]", "must not be empty")


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
    if spec.get("hostNetwork") and not options.host_network:
        yield field.forbidden(f"{path}.hostNetwork", _HIDDEN)
    if spec.get("hostPID"):
        yield field.forbidden(f"{path}.HostPID", _HIDDEN)
    if spec.get("hostIPC"):
        yield field.forbidden(f"{path}.HostIPC", _HIDDEN)
    if not options.host_devices:
        for container, at in each(visited):
            if container.get("volumeDevices"):
                yield field.forbidden(f"{at}.volumeDevices", _HIDDEN)


def _validate_hostname(spec: Object, path: str) -> field.Errors:
    hostname_override = spec.get("hostnameOverride")
    if hostname_override is None:
        return
    at = f"{path}.hostnameOverride"
    if spec.get("setHostnameAsFQDN"):
        yield field.forbidden(at, "may not be specified when setHostnameAsFQDN is true")
    if spec.get("hostNetwork"):
        yield field.forbidden(at, "may not be specified when hostNetwork is true")
    if len(hostname_override.encode()) > _MAX_HOSTNAME:
        yield field.too_long(at, _MAX_HOSTNAME)
    yield from field.invalid_details(at, hostname_override, names.check_subdomain(hostname_override))


def _validate_names(spec: Object, path: str) -> field.Errors:
    for key in ("serviceAccountName", "nodeName"):
        if value := spec.get(key):
            yield from field.invalid_details(f"{path}.{key}", value, names.check_subdomain(value))
    yield from checks.validate_range(
        f"{path}.activeDeadlineSeconds", spec.get("activeDeadlineSeconds"), 1, _MAX_SECONDS
    )
    for key in ("hostname", "subdomain"):
        if value := spec.get(key):
            yield from field.invalid_details(f"{path}.{key}", value, names.check_label_name(value))


def _validate_aliases(spec: Object, path: str) -> field.Errors:
    for position, alias in enumerate(each(spec.get("hostAliases") or ())):
        alias_path, address = f"{path}.hostAliases[{position}]", alias.get("ip", "")
        yield from field.invalid_details(f"{alias_path}.ip", address, addresses.find_address_faults(address))
        for index, name in enumerate(each(alias.get("hostnames") or ())):
            yield from field.invalid_details(f"{alias_path}.hostnames[{index}]", name, names.check_subdomain(name))


def _validate_classes(spec: Object, path: str, options: PodOptions) -> field.Errors:
    if priority := spec.get("priorityClassName"):
        yield from field.invalid_details(f"{path}.priorityClassName", priority, names.check_subdomain(priority))
    if (runtime := spec.get("runtimeClassName")) is not None:
        yield from field.invalid_details(f"{path}.runtimeClassName", runtime, names.check_subdomain(runtime))
    if (preemption := spec.get("preemptionPolicy")) is not None:
        yield from checks.validate_enum(f"{path}.preemptionPolicy", preemption, _PREEMPTIONS)
    if spec.get("overhead") is not None:
        limits = {"limits": spec["overhead"]}
        yield from resources.validate_resources(limits, f"{path}.overhead", set(), indivisible=options.indivisible)
