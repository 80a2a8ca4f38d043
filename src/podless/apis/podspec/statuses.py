"""Validates updates of a pod's status. Source: Kubernetes' pkg/apis/core/validation (ValidatePodStatusUpdate)."""

from __future__ import annotations

from podless.apis.podspec import amounts, updates
from podless.apis.shared import checks
from podless.apis.shared.checks import validate_immutable
from podless.codec.gotext import Named, Stringer
from podless.meta import addresses, field, names
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has
from podless.structs import gostructs
from podless.structs.structfiles import load_struct

_HOST_IP = load_struct("core/v1", "HostIP")
_POD_IP = load_struct("core/v1", "PodIP")
_CONTAINERS = "must match the name of an entry in spec.initContainers.name or spec.containers.name"
_EXTENDED = (
    "must match the extended resource name of an entry in spec.initContainers.resources.requests or "
    "spec.containers.resources.requests"
)
_CLAIM = "must match the name of an entry in `spec.resourceClaims`"
_OF_CLAIMS = (
    "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or "
    "'claim:<claimName>' if request is empty"
)
_OF_REQUESTS = "must match one of the container's resource requests"
_HEALTHS = ("Healthy", "Unhealthy", "Unknown")
_EPHEMERAL = "ephemeralContainerStatuses"
# fields with statuses of containers: the field with the containers
_STATUS_FIELDS = {"containerStatuses": "containers", "initContainerStatuses": "initContainers", _EPHEMERAL: ""}
_SYSTEM = ("PodScheduled", "Ready", "Initialized")
_NOT_NEGATIVE = "must be a non-negative integer"
_RESTARTS = "may not be transitioned to non-terminated state"
_FAMILIES = "may specify no more than one IP for each IP family"


def validate_status_update(obj: Object, old: Object) -> field.Errors:
    """Validate a changed pod status."""
    yield from updates.validate_changed_annotations(obj, old)
    status, before, spec = obj.get("status") or {}, old.get("status") or {}, old["spec"]
    for condition, at in checks.list_items(status, "conditions", "status"):
        kind = condition.get("type", "")
        if condition.get("observedGeneration", 0) < 0:
            yield field.invalid(f"{at}.observedGeneration", condition["observedGeneration"], _NOT_NEGATIVE)
        if kind not in _SYSTEM:
            yield from checks.validate_label_key(f"{at}.Type", kind)
    yield from _validate_nominated_node(status, before, spec)
    if status.get("observedGeneration", 0) < 0:
        yield field.invalid("status.observedGeneration", status["observedGeneration"], _NOT_NEGATIVE)
    if has("FixedQOSClass"):
        yield from validate_immutable("status.qosClass", Named(status.get("qosClass", "")), before.get("qosClass", ""))
    for key in ("containerStatuses", "initContainerStatuses"):
        yield from _validate_transitions(status, before, key, spec)
    running = {
        item.get("name", "")
        for item in each(status.get(_EPHEMERAL) or ())
        if not (item.get("state") or {}).get("terminated")
    }
    for item, at in checks.list_items(before, _EPHEMERAL, "status"):
        if (item.get("state") or {}).get("terminated") is not None and item.get("name", "") in running:
            yield field.forbidden(f"{at}.state", _RESTARTS)
    yield from validate_claims(status, obj["spec"])
    yield from _validate_addresses(status, before)
    yield from validate_containers(status, obj["spec"])


def _validate_nominated_node(status: Object, before: Object, spec: Object) -> field.Errors:
    name = status.get("nominatedNodeName")
    if not name or name == before.get("nominatedNodeName"):
        return
    yield from field.invalid_details("status.nominatedNodeName", name, names.check_subdomain(name))
    if spec.get("nodeName") and has("ClearingNominatedNodeNameAfterBinding"):
        yield field.forbidden("status.nominatedNodeName", "may not be set on pods that are already bound to a node")


def _validate_transitions(status: Object, old_status: Object, key: str, spec: Object) -> field.Errors:
    """Reject terminated containers that run again, unless their restart policy allows it."""
    listed = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    if any(
        rule.get("action") == "RestartAllContainers"
        for container in each(listed)
        for rule in each(container.get("restartPolicyRules") or ())
    ):
        return
    now, by_name = _find_by_name(status, key), _find_by_name(spec, _STATUS_FIELDS[key])
    for before, at in checks.list_items(old_status, key, "status"):
        ended, name = (before.get("state") or {}).get("terminated"), before.get("name", "")
        if ended is None or name not in now or (now[name].get("state") or {}).get("terminated") is not None:
            continue
        if not _may_restart(by_name.get(name), spec, ended.get("exitCode", 0)):
            yield field.forbidden(f"{at}.state", _RESTARTS)


def _find_by_name(holder: Object, key: str) -> dict[str, Object]:
    """Return the items of a list by name; the first one of a name counts."""
    return {item.get("name", ""): item for item in reversed(each(holder.get(key) or []))}


def _may_restart(container: Object | None, spec: Object, code: int) -> bool:
    """Return whether a terminated container may be restarted. container: None for one that the pod does not have."""
    policy = spec.get("restartPolicy", "Always")
    if has("ContainerRestartRules"):
        if container is None:
            return False
        for rule in each(container.get("restartPolicyRules") or ()):
            codes = rule.get("exitCodes") or {}
            if (code in (codes.get("values") or ())) == (codes.get("operator") == "In"):
                return bool(rule.get("action") == "Restart")
        policy = container.get("restartPolicy") or policy
    elif container is not None and amounts.is_sidecar(container):
        return True
    return bool(policy == "Always" or (policy == "OnFailure" and code))


def _validate_addresses(status: Object, before: Object) -> field.Errors:
    for key, struct in (("podIPs", _POD_IP), ("hostIPs", _HOST_IP)):
        texts = [address.get("ip", "") for address in each(status.get(key) or ())]
        before_texts = {address.get("ip", "") for address in each(before.get(key) or ())}
        if key == "hostIPs" and texts and status.get("hostIP", "") != texts[0]:
            yield field.invalid("status.hostIPs[0].ip", texts[0], "must be equal to `hostIP`")
        for index, text in enumerate(each(texts)):
            if text not in before_texts:
                yield from field.invalid_details(f"status.{key}[{index}]", text, addresses.find_address_faults(text))
        if len(texts) < 2:
            continue
        if fault := addresses.find_dual_stack_fault(texts):
            yield field.internal(f"status.{key}", fault)
        if fault or len(texts) > 2 or not addresses.is_dual_stack(texts):
            yield field.invalid(f"status.{key}", gostructs.format_structs(struct, status[key]), _FAMILIES)


def validate_containers(status: Object, spec: Object) -> field.Errors:
    """Validate the containers in a pod's status: first all users, then all resources."""
    system = (spec.get("os") or {}).get("name", "linux")
    for key in _STATUS_FIELDS:
        for container, at in checks.list_items(status, key, "status"):
            yield from _validate_user((container.get("user") or {}).get("linux"), system, f"{at}.user.linux")
    for key, containers in _STATUS_FIELDS.items():
        by_name = _find_by_name(spec, containers)
        for container, at in checks.list_items(status, key, "status"):
            if key != _EPHEMERAL:
                yield from _validate_allocated(container, by_name.get(container.get("name", "")), at)
            elif container.get("allocatedResourcesStatus"):
                yield field.forbidden(f"{at}.allocatedResourcesStatus", "must not be specified in container status")


def validate_claims(status: Object, spec: Object) -> field.Errors:
    """Validate the claims in a pod's status."""
    existing = {entry.get("name", "") for entry in each(spec.get("resourceClaims") or ())}
    seen: set[str] = set()
    for entry, path in checks.list_items(status, "resourceClaimStatuses", "status"):
        name, claim = entry.get("name", ""), entry.get("resourceClaimName")
        if name not in existing:
            yield field.invalid(f"{path}.name", name, _CLAIM)
        yield from checks.validate_unique(f"{path}.name", name, seen)
        if claim is not None:
            yield from field.invalid_details(f"{path}.resourceClaimName", Named(claim), names.check_subdomain(claim))
    if (extended_claim := status.get("extendedResourceClaimStatus")) is not None:
        yield from _validate_extended_claim(extended_claim, spec)


def _validate_extended_claim(extended_claim: Object, spec: Object) -> field.Errors:
    path = "status.extendedResourceClaimStatus"
    listed = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    requests = {
        holder.get("name", ""): (holder.get("resources") or {}).get("requests") or {} for holder in each(listed)
    }
    if not extended_claim.get("requestMappings"):
        yield field.required(f"{path}.requestMappings", "at least one request mapping is required")
    field_names = ("containerName", "resourceName", "requestName")
    seen: set[tuple[str, ...]] = set()
    for mapping, at in checks.list_items(extended_claim, "requestMappings", path):
        values = tuple(mapping.get(name, "") for name in field_names)
        container, resource, request = values
        if container not in requests:
            yield field.invalid(f"{at}.containerName", container, _CONTAINERS)
        elif resource not in requests[container]:
            yield field.invalid(f"{at}.resourceName", resource, _EXTENDED)
        yield from field.invalid_details(f"{path}.requestName", request, names.check_label_name(request))
        if values in seen:
            yield from (field.duplicate(f"{at}.{name}", value) for name, value in zip(field_names, values, strict=True))
        seen.add(values)
    yield from checks.validate_name(
        f"{path}.resourceClaimName", extended_claim.get("resourceClaimName"), names.check_subdomain
    )


def _validate_user(linux: Object | None, system: str, path: str) -> field.Errors:
    if linux is None:
        return
    if system == "windows":
        yield field.forbidden(path, "cannot be set for a windows pod")
    elif system == "linux":
        yield from checks.validate_ids(linux, path, "uid", "gid")
        yield from checks.validate_group_ids(linux, path)


def _validate_allocated(status: Object, container: Object | None, path: str) -> field.Errors:
    for item, at in checks.list_items(status, "allocatedResourcesStatus", path):
        name = item.get("name", "")
        if container is not None:
            resources = container.get("resources") or {}
            of_claims = name.startswith("claim:")
            existing = _claim_names(resources.get("claims") or []) if of_claims else resources.get("requests") or {}
            if name not in existing:
                yield field.invalid(f"{at}.name", Stringer(name), _OF_CLAIMS if of_claims else _OF_REQUESTS)
        seen: set[str] = set()
        for resource, inside in checks.list_items(item, "resources", at):
            yield from field.one_of(f"{inside}.health", resource.get("health", ""), _HEALTHS)
            yield from checks.validate_unique(f"{inside}.resourceID", Named(resource.get("resourceID", "")), seen)


def _claim_names(claims: list[Object]) -> set[str]:
    """Return the names of a container's claims, as errors of the status show them."""
    return {
        f"claim:{claim.get('name', '')}" + (f"/{claim['request']}" if claim.get("request") else "")
        for claim in each(claims)
    }
