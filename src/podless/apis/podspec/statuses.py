"""Validates updates of a pod's status. Source: Kubernetes' pkg/apis/core/validation (ValidatePodStatusUpdate)."""

from __future__ import annotations

from podless.apis.podspec import amounts, updates
from podless.apis.shared import checks
from podless.apis.shared.checks import validate_immutable
from podless.codec.gotext import Named, Stringer
from podless.meta import addresses, field, names
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has
from podless.structs import gostructs
from podless.structs.structfiles import load_struct

# validates a pod's status of claims and containers. Source: Kubernetes' pkg/apis/core/validation

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
EPHEMERAL = "ephemeralContainerStatuses"
# fields with statuses of containers: the field with the containers
_STATUS_FIELDS = {"containerStatuses": "containers", "initContainerStatuses": "initContainers", EPHEMERAL: ""}


def validate_claims(status: Object, spec: Object) -> field.Errors:
    """Validate the claims in a pod's status."""
    yield from _validate_claims(status.get("resourceClaimStatuses") or [], spec)
    yield from _validate_extended_claim(status.get("extendedResourceClaimStatus"), spec)


def validate_containers(status: Object, spec: Object) -> field.Errors:
    """Validate the containers in a pod's status: first all users, then all resources."""
    system = (spec.get("os") or {}).get("name", "linux")
    for key in _STATUS_FIELDS:
        for index, container in enumerate(each(status.get(key) or ())):
            yield from _validate_user(container.get("user") or {}, system, f"status.{key}[{index}].user.linux")
    for statuses_name, containers in _STATUS_FIELDS.items():
        by_name = {container.get("name", ""): container for container in reversed(each(spec.get(containers) or []))}
        for index, container in enumerate(each(status.get(statuses_name) or ())):
            path = f"status.{statuses_name}[{index}].allocatedResourcesStatus"
            if statuses_name != EPHEMERAL:
                yield from _validate_allocated(container, by_name.get(container.get("name", "")), path)
            elif container.get("allocatedResourcesStatus"):
                yield field.forbidden(path, "must not be specified in container status")


def _validate_claims(claims: list[Object], spec: Object) -> field.Errors:
    existing = {entry.get("name", "") for entry in each(spec.get("resourceClaims") or ())}
    seen: set[str] = set()
    for index, entry in enumerate(each(claims)):
        path, name, claim = (
            f"status.resourceClaimStatuses[{index}]",
            entry.get("name", ""),
            entry.get("resourceClaimName"),
        )
        if name not in existing:
            yield field.invalid(f"{path}.name", name, _CLAIM)
        yield from checks.validate_unique(f"{path}.name", name, seen)
        if claim is not None:
            yield from field.invalid_details(f"{path}.resourceClaimName", Named(claim), names.check_subdomain(claim))


def _validate_extended_claim(extended_claim: Object | None, spec: Object) -> field.Errors:
    if extended_claim is None:
        return
    path, mappings = "status.extendedResourceClaimStatus", extended_claim.get("requestMappings") or []
    listed = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    requests = {
        holder.get("name", ""): (holder.get("resources") or {}).get("requests") or {} for holder in each(listed)
    }
    if not mappings:
        yield field.required(f"{path}.requestMappings", "at least one request mapping is required")
    field_names = ("containerName", "resourceName", "requestName")
    seen: set[tuple[str, ...]] = set()
    for index, mapping in enumerate(each(mappings)):
        at, values = f"{path}.requestMappings[{index}]", tuple(mapping.get(name, "") for name in field_names)
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


def _validate_user(user: Object, system: str, path: str) -> field.Errors:
    linux = user.get("linux")
    if linux is None:
        return
    if system == "windows":
        yield field.forbidden(path, "cannot be set for a windows pod")
    elif system == "linux":
        yield from checks.validate_ids(linux, path, "uid", "gid")
        yield from checks.validate_group_ids(linux, path)


def _validate_allocated(status: Object, container: Object | None, path: str) -> field.Errors:
    for position, item in enumerate(each(status.get("allocatedResourcesStatus") or ())):
        at, name = f"{path}[{position}]", item.get("name", "")
        if container is not None:
            resources = container.get("resources") or {}
            of_claims = name.startswith("claim:")
            existing = _claim_names(resources.get("claims") or []) if of_claims else resources.get("requests") or {}
            if name not in existing:
                yield field.invalid(f"{at}.name", Stringer(name), _OF_CLAIMS if of_claims else _OF_REQUESTS)
        seen: set[str] = set()
        for index, resource in enumerate(each(item.get("resources") or ())):
            inside = f"{at}.resources[{index}]"
            yield from field.one_of(f"{inside}.health", resource.get("health", ""), _HEALTHS)
            yield from checks.validate_unique(f"{inside}.resourceID", Named(resource.get("resourceID", "")), seen)


def _claim_names(claims: list[Object]) -> set[str]:
    """Return the names of a container's claims, as errors of the status show them."""
    return {
        f"claim:{claim.get('name', '')}" + (f"/{claim['request']}" if claim.get("request") else "")
        for claim in each(claims)
    }


HOST_IP = load_struct("core/v1", "HostIP")
POD_IP = load_struct("core/v1", "PodIP")

_SYSTEM = ("PodScheduled", "Ready", "Initialized")
_NOT_NEGATIVE = "must be a non-negative integer"
_RESTARTS = "may not be transitioned to non-terminated state"
_FAMILIES = "may specify no more than one IP for each IP family"


def validate_status_update(obj: Object, old: Object) -> list[FieldError]:
    """Validate a changed pod status."""
    return [*updates.validate_changed_marks(obj, old), *_validate_status(obj, old)]


def _validate_status(obj: Object, old: Object) -> field.Errors:
    status, before, spec = obj.get("status") or {}, old.get("status") or {}, old["spec"]
    for index, condition in enumerate(each(status.get("conditions") or ())):
        at, kind = f"status.conditions[{index}]", condition.get("type", "")
        if condition.get("observedGeneration", 0) < 0:
            yield field.invalid(f"{at}.observedGeneration", condition["observedGeneration"], _NOT_NEGATIVE)
        if kind not in _SYSTEM:
            yield from checks.label_key(f"{at}.Type", kind)
    yield from _validate_nominated_node(status, before, spec)
    if status.get("observedGeneration", 0) < 0:
        yield field.invalid("status.observedGeneration", status["observedGeneration"], _NOT_NEGATIVE)
    if has("FixedQOSClass"):
        yield from validate_immutable("status.qosClass", Named(status.get("qosClass", "")), before.get("qosClass", ""))
    for key, containers in (("containerStatuses", "containers"), ("initContainerStatuses", "initContainers")):
        yield from _validate_transitions(status.get(key) or [], before.get(key) or [], key, spec, containers)
    running = {
        item.get("name", "")
        for item in each(status.get(EPHEMERAL) or ())
        if not (item.get("state") or {}).get("terminated")
    }
    for index, item in enumerate(each(before.get(EPHEMERAL) or ())):
        if (item.get("state") or {}).get("terminated") is not None and item.get("name", "") in running:
            yield field.forbidden(f"status.{EPHEMERAL}[{index}].state", _RESTARTS)
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


def _validate_transitions(
    transitions: list[Object], before: list[Object], key: str, spec: Object, containers: str
) -> field.Errors:
    """Reject terminated containers that run again, unless their restart policy allows it."""
    listed = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    if any(
        rule.get("action") == "RestartAllContainers"
        for container in each(listed)
        for rule in each(container.get("restartPolicyRules") or ())
    ):
        return
    now = {status.get("name", ""): status for status in reversed(each(transitions))}
    by_name = {container.get("name", ""): container for container in reversed(each(spec.get(containers) or []))}
    for index, status in enumerate(each(before)):
        ended, name = (status.get("state") or {}).get("terminated"), status.get("name", "")
        if ended is None or name not in now or (now[name].get("state") or {}).get("terminated") is not None:
            continue
        if not _may_restart(by_name.get(name), spec, ended.get("exitCode", 0)):
            yield field.forbidden(f"status.{key}[{index}].state", _RESTARTS)


def _may_restart(container: Object | None, spec: Object, code: int) -> bool:
    """Return whether a terminated container may be restarted. container: None for one that the pod does not have."""
    if has("ContainerRestartRules"):
        return container is not None and _can_restart(container, spec, code)
    policy = spec.get("restartPolicy", "Always")
    if policy == "Always" or (policy == "OnFailure" and code):
        return True
    return container is not None and amounts.is_sidecar(container)


def _can_restart(container: Object, spec: Object, code: int) -> bool:
    """Return whether a terminated container may be restarted."""
    policy = container.get("restartPolicy")
    for rule in each(container.get("restartPolicyRules") or ()):
        codes = rule.get("exitCodes") or {}
        inside = code in (codes.get("values") or ())
        if inside == (codes.get("operator") == "In"):
            return bool(rule.get("action") == "Restart")
    policy = policy or spec.get("restartPolicy", "Always")
    return bool(policy == "Always" or (policy == "OnFailure" and code))


def _validate_addresses(status: Object, before: Object) -> field.Errors:
    for key, struct in (("podIPs", POD_IP), ("hostIPs", HOST_IP)):
        texts = [address.get("ip", "") for address in each(status.get(key) or ())]
        before_texts = {address.get("ip", "") for address in each(before.get(key) or ())}
        if key == "hostIPs" and texts and status.get("hostIP", "") != texts[0]:
            yield field.invalid("status.hostIPs[0].ip", texts[0], "must be equal to `hostIP`")
        for index, text in enumerate(each(texts)):
            if text not in before_texts:
                yield from field.invalid_details(f"status.{key}[{index}]", text, addresses.find_address_faults(text))
        if len(texts) < 2:
            continue
        fault = addresses.find_dual_stack_fault(texts)
        if fault:
            yield field.internal(f"status.{key}", fault)
        if fault or len(texts) > 2 or not addresses.is_dual_stack(texts):
            yield field.invalid(f"status.{key}", gostructs.format_structs(struct, status[key]), _FAMILIES)
