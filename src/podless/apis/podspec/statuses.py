"""Validates updates of a pod's status. Source: Kubernetes' pkg/apis/core/validation (ValidatePodStatusUpdate)."""

from __future__ import annotations

from podless.apis.podspec import amounts, reports, updates
from podless.apis.podspec.reports import EPHEMERAL
from podless.apis.shared import checks
from podless.apis.shared.checks import Errors, validate_immutable
from podless.meta import addresses, field, names
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has
from podless.structs import gostructs
from podless.structs.structfiles import load_struct

HOST_IP = load_struct("core/v1", "HostIP")
POD_IP = load_struct("core/v1", "PodIP")

_SYSTEM = ("PodScheduled", "Ready", "Initialized")
_NOT_NEGATIVE = "must be a non-negative integer"
_RESTARTS = "may not be transitioned to non-terminated state"
_FAMILIES = "may specify no more than one IP for each IP family"


def validate_status_update(obj: Object, old: Object) -> list[FieldError]:
    """Validate a changed pod status."""
    return [*updates.validate_changed_marks(obj, old), *_status(obj, old)]


def _status(obj: Object, old: Object) -> Errors:
    status, before, spec = obj.get("status") or {}, old.get("status") or {}, old["spec"]
    for place, condition in enumerate(each(status.get("conditions") or ())):
        where, kind = f"status.conditions[{place}]", condition.get("type", "")
        if condition.get("observedGeneration", 0) < 0:
            yield field.invalid(f"{where}.observedGeneration", condition["observedGeneration"], _NOT_NEGATIVE)
        if kind not in _SYSTEM:
            yield from checks.label_key(f"{where}.Type", kind)
    yield from _nominated(status, before, spec)
    if status.get("observedGeneration", 0) < 0:
        yield field.invalid("status.observedGeneration", status["observedGeneration"], _NOT_NEGATIVE)
    if has("FixedQOSClass"):
        yield from validate_immutable("status.qosClass", status.get("qosClass", ""), before.get("qosClass", ""))
    for part, containers in (("containerStatuses", "containers"), ("initContainerStatuses", "initContainers")):
        yield from _transitions(status.get(part) or [], before.get(part) or [], part, spec, containers)
    running = {
        one.get("name", "")
        for one in each(status.get(EPHEMERAL) or ())
        if not (one.get("state") or {}).get("terminated")
    }
    for place, one in enumerate(each(before.get(EPHEMERAL) or ())):
        if (one.get("state") or {}).get("terminated") is not None and one.get("name", "") in running:
            yield field.forbidden(f"status.{EPHEMERAL}[{place}].state", _RESTARTS)
    yield from reports.validate_claims(status, obj["spec"])
    yield from _addresses(status, before)
    yield from reports.validate_containers(status, obj["spec"])


def _nominated(status: Object, before: Object, spec: Object) -> Errors:
    name = status.get("nominatedNodeName")
    if not name or name == before.get("nominatedNodeName"):
        return
    yield from field.invalid_details("status.nominatedNodeName", name, names.check_subdomain(name))
    if spec.get("nodeName") and has("ClearingNominatedNodeNameAfterBinding"):
        yield field.forbidden("status.nominatedNodeName", "may not be set on pods that are already bound to a node")


def _transitions(given: list[Object], before: list[Object], part: str, spec: Object, containers: str) -> Errors:
    """Reject terminated containers that run again, unless their restart policy allows it."""
    every = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    if any(
        rule.get("action") == "RestartAllContainers"
        for one in each(every)
        for rule in each(one.get("restartPolicyRules") or ())
    ):
        return
    now = {one.get("name", ""): one for one in reversed(each(given))}
    known = {one.get("name", ""): one for one in reversed(each(spec.get(containers) or []))}
    for place, status in enumerate(each(before)):
        ended, name = (status.get("state") or {}).get("terminated"), status.get("name", "")
        if ended is None or name not in now or (now[name].get("state") or {}).get("terminated") is not None:
            continue
        if not _may_restart(known.get(name), spec, ended.get("exitCode", 0)):
            yield field.forbidden(f"status.{part}[{place}].state", _RESTARTS)


def _may_restart(container: Object | None, spec: Object, code: int) -> bool:
    """Return whether a terminated container may be restarted. container: None for one that the pod does not have."""
    if has("ContainerRestartRules"):
        return container is not None and _restarted(container, spec, code)
    policy = spec.get("restartPolicy", "Always")
    if policy == "Always" or (policy == "OnFailure" and code):
        return True
    return container is not None and amounts.is_sidecar(container)


def _restarted(container: Object, spec: Object, code: int) -> bool:
    """Return whether a terminated container may be restarted."""
    policy = container.get("restartPolicy")
    for rule in each(container.get("restartPolicyRules") or ()):
        codes = rule.get("exitCodes") or {}
        inside = code in (codes.get("values") or ())
        if inside == (codes.get("operator") == "In"):
            return bool(rule.get("action") == "Restart")
    policy = policy or spec.get("restartPolicy", "Always")
    return bool(policy == "Always" or (policy == "OnFailure" and code))


def _addresses(status: Object, before: Object) -> Errors:
    for part, struct in (("podIPs", POD_IP), ("hostIPs", HOST_IP)):
        given = [one.get("ip", "") for one in each(status.get(part) or ())]
        known = {one.get("ip", "") for one in each(before.get(part) or ())}
        if part == "hostIPs" and given and status.get("hostIP", "") != given[0]:
            yield field.invalid("status.hostIPs[0].ip", given[0], "must be equal to `hostIP`")
        for place, text in enumerate(each(given)):
            if text not in known:
                yield from field.invalid_details(f"status.{part}[{place}]", text, addresses.find_address_faults(text))
        if len(given) < 2:
            continue
        fault = addresses.dual_stack_fault(given)
        if fault:
            yield field.internal(f"status.{part}", fault)
        if fault or len(given) > 2 or not addresses.is_dual_stack(given):
            yield field.invalid(f"status.{part}", gostructs.format_structs(struct, status[part]), _FAMILIES)
