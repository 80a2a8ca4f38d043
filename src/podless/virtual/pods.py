"""Binds pods to nodes, and evicts them.

Source: Kubernetes' pkg/registry/core/pod/storage.
"""

from __future__ import annotations

from dataclasses import replace

from podless.apis.core.group import BINDINGS
from podless.apis.policy.group import DISRUPTION_BUDGETS
from podless.cache.entry import Entry
from podless.codec import gotext
from podless.kinds import view
from podless.meta import field, selectors
from podless.meta.errors import APIError, BadRequest, Conflict, Forbidden, Internal, Invalid, TooManyRequests
from podless.meta.validation import is_condition_true
from podless.runtime import clock
from podless.runtime.jsonobject import Object
from podless.runtime.release import has
from podless.verbs import delete as deleting
from podless.verbs import options, storage
from podless.verbs.call import API, Call
from podless.verbs.options import DeleteOptions
from podless.verbs.storage import AttemptOutcome, NewState

_OTHER_NAME = "name in URL does not match name in {} object"
_UNREADABLE = "ignoreStoreReadErrorWithClusterBreakingPotential"
_NO_FORCE = "can not be set for pod eviction, try after removing the option"
_CREATED = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
_REFUSED = "Cannot evict pod as it would violate the pod's disruption budget."
_SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
_FREE = ("Failed", "Pending", "Succeeded")
_RETRY_SECONDS = 10  # seconds to wait for a budget whose status is not up to date
_MAX_DISRUPTED = 2000


def check_binding(call: Call, obj: Object) -> None:
    """Validate a Binding. Raises BadRequest or Internal."""
    target = obj.get("target") or {}
    if call.kind != BINDINGS and obj["metadata"].get("name", "") != call.name:
        raise BadRequest(_OTHER_NAME.format("Binding"))
    errors = []
    if target.get("kind") and target["kind"] != "Node":
        errors.append(field.not_supported("target.kind", target["kind"], ("Node", "<empty>"), named=False))
    if not target.get("name"):
        errors.append(field.required("target.name"))
    if errors:
        raise Internal(field.join_errors(errors))


async def bind_pod(api: API, call: Call, obj: Object) -> Object:
    """Set the node of a pod. Raises BadRequest, NotFound or Conflict."""
    metadata, target = obj["metadata"], obj["target"]
    if call.kind == BINDINGS:  # the older endpoint, whose Binding names the pod
        pods = api.registry.get("", "pods")
        assert pods is not None
        call = replace(call, kind=pods, version=pods.versions[0], name=metadata.get("name", ""))
    if not call.name:
        raise BadRequest("Name parameter required.")
    dry_run = options.read_write_options(call, "CreateOptions").dry_run

    def plan_write(entry: Entry | None) -> NewState | AttemptOutcome:
        if entry is None:
            raise call.not_found()
        pod = view.load_object(call.kind, call.version, entry)
        if reason := _explain_unbindable(pod, metadata):
            raise Conflict("pods/binding", "", call.name, reason)
        pod["spec"] = {**pod["spec"], "nodeName": target["name"]}
        pod["status"].pop("nominatedNodeName", None)
        for name in ("annotations", "labels"):
            if metadata.get(name):
                pod["metadata"][name] = dict(sorted({**(pod["metadata"].get(name) or {}), **metadata[name]}.items()))
        set_pod_condition(pod["status"], {"type": "PodScheduled", "status": "True"})
        return AttemptOutcome.KEEP if dry_run else NewState(pod)

    await storage.amend_stored(api, call.kind, call.key, plan_write)
    return dict(_CREATED)


def _explain_unbindable(pod: Object, binding: Object) -> str:
    """Return why a pod cannot be bound, "" if it can."""
    metadata, spec, name = pod["metadata"], pod["spec"], pod["metadata"]["name"]
    for key, label in (("uid", "UID"), ("resourceVersion", "ResourceVersion")):
        if binding.get(key) and binding[key] != metadata.get(key):
            return (
                f"Precondition failed: {label} in precondition: {binding[key]}, {label} in object meta: {metadata[key]}"
            )
    if "deletionTimestamp" in metadata:
        return f"pod {name} is being deleted, cannot be assigned to a host"
    if spec.get("nodeName"):
        return f'pod {name} is already assigned to node "{spec["nodeName"]}"'
    return f"pod {name} has non-empty .spec.schedulingGates" if spec.get("schedulingGates") else ""


def set_pod_condition(status: Object, condition: Object) -> None:
    """Set a condition in the status of a pod. Its transition time changes only with its status."""
    head = {"type": condition["type"], "status": condition["status"], "lastProbeTime": None}
    _put_condition(status, head | {"lastTransitionTime": clock.now()} | condition)


def _put_condition(status: Object, condition: Object) -> None:
    conditions = status.setdefault("conditions", [])
    for index, before in enumerate(conditions):
        if before.get("type") == condition["type"]:
            if before.get("status") == condition["status"] and before.get("lastTransitionTime"):
                condition["lastTransitionTime"] = before["lastTransitionTime"]
            conditions[index] = condition
            return
    conditions.append(condition)


def check_eviction(call: Call, obj: Object) -> None:
    """Validate an Eviction. Raises BadRequest, Invalid or Internal."""
    if obj["metadata"].get("name", "") != call.name:
        raise BadRequest(_OTHER_NAME.format("Eviction"))
    if (obj.get("deleteOptions") or {}).get(_UNREADABLE):
        raise Invalid("Eviction", "policy", call.name, [field.invalid(f"deleteOptions.{_UNREADABLE}", True, _NO_FORCE)])
    _read_options(call, obj)


async def evict_pod(api: API, call: Call, obj: Object) -> Object:
    """Delete a pod if its budget allows. Raises NotFound, TooManyRequests, Forbidden or Conflict."""
    chosen = _read_options(call, obj)
    entry = (await api.load_collection(call.kind)).get(call.key)
    if entry is None:
        raise call.not_found()
    pod = view.load_object(call.kind, call.version, entry)
    status = pod.get("status") or {}
    if status.get("phase") not in _FREE and "deletionTimestamp" not in pod["metadata"]:
        await _spend_disruption(api, pod, chosen.dry_run)
    await _mark_disrupted(api, call, chosen)
    # a real server validates these options only when it deletes
    chosen = options.parse_delete_document(chosen.document)
    # without admission, which has seen the eviction
    if await deleting.remove_object(api, replace(call, subresource="", body=b""), chosen) is None:
        raise call.not_found()
    return dict(_CREATED)


def _read_options(call: Call, obj: Object) -> DeleteOptions:
    body_options = obj.get("deleteOptions") or {}
    from_query, from_body = list(call.query.get("dryRun") or ()), body_options.get("dryRun") or []
    dry_run = options.read_write_options(call, "CreateOptions").dry_run or bool(from_body)
    if from_query and from_body and from_query != from_body:
        texts = [gotext.format_plain(value) for value in (from_query, from_body)]
        raise Internal(f"Non-matching dry-run options in request and content: {texts[0]} and {texts[1]}")
    conditions = body_options.get("preconditions") or {}
    policy = body_options.get("propagationPolicy") or ""
    body_options = {**body_options, "dryRun": from_query or from_body}
    return DeleteOptions(dry_run, policy, conditions.get("uid"), conditions.get("resourceVersion"), body_options)


async def _spend_disruption(api: API, pod: Object, dry_run: bool) -> None:
    """Take one disruption from the budget of a pod. Raises an error if there is none."""
    namespace, labels = pod["metadata"]["namespace"], pod["metadata"].get("labels") or {}
    kind = DISRUPTION_BUDGETS
    entries = (await api.load_collection(kind)).list_entries(namespace)
    budgets = [entry for entry in entries if _selects_pod(entry.decode()["spec"].get("selector"), labels)]
    if len(budgets) > 1:
        raise Internal(_SEVERAL)
    if not budgets:
        return
    key, version = budgets[0].key, kind.by_version[kind.storage_version]

    def plan_write(entry: Entry | None) -> NewState | AttemptOutcome:
        if entry is None:
            return AttemptOutcome.KEEP
        budget = view.load_object(kind, version, entry)
        if _ignores_unready(pod, budget):
            return AttemptOutcome.KEEP
        _charge_budget(budget, pod["metadata"]["name"])
        return AttemptOutcome.KEEP if dry_run else NewState(budget)

    await storage.amend_stored(api, kind, key, plan_write)


def _selects_pod(selector: Object | None, labels: dict[str, str]) -> bool:
    """Return whether a budget selects a pod with these labels."""
    try:
        return selector is not None and selectors.from_object(selector).matches(labels)
    except ValueError:
        return False


def _ignores_unready(pod: Object, budget: Object) -> bool:
    """Return whether the budget ignores a pod because it is not ready."""
    if is_condition_true(pod, "Ready"):
        return False
    status = budget.get("status") or {}
    healthy, desired_healthy = status.get("currentHealthy", 0), status.get("desiredHealthy", 0)
    return bool(budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow" or healthy >= desired_healthy > 0)


def _charge_budget(budget: Object, pod: str) -> None:
    name, status = budget["metadata"]["name"], budget["status"]
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        raise _too_many_error(f"The disruption budget {name} is still being processed by the server.", _RETRY_SECONDS)
    allowed = status.get("disruptionsAllowed", 0)
    if allowed < 0:
        raise Forbidden("poddisruptionbudget", "policy", name, "pdb disruptions allowed is negative")
    if len(status.get("disruptedPods") or ()) > _MAX_DISRUPTED:
        problem = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        raise Forbidden("poddisruptionbudget", "policy", name, problem)
    if not allowed:
        raise _too_many_error(_explain_refusal(name, status))
    status["disruptionsAllowed"] = allowed - 1
    if allowed == 1:
        condition = {
            "type": "DisruptionAllowed",
            "status": "False",
            "observedGeneration": budget["metadata"].get("generation", 0),
            "lastTransitionTime": clock.now(),
            "reason": "InsufficientPods",
            "message": "",
        }
        _put_condition(status, condition)
    status["disruptedPods"] = dict(sorted({**(status.get("disruptedPods") or {}), pod: clock.now()}.items()))


def _explain_refusal(name: str, status: Object) -> str:
    conditions = status.get("conditions") or ()
    allowed: Object = next((condition for condition in conditions if condition.get("type") == "DisruptionAllowed"), {})
    refused = allowed.get("status") == "False" and allowed.get("message")
    head = f"The disruption budget {name}"
    healthy, desired_healthy = status.get("currentHealthy", 0), status.get("desiredHealthy", 0)
    if refused and allowed.get("reason") == "SyncFailed":
        return f"{head} does not allow evicting pods currently because it failed sync: {allowed['message']}"
    if healthy <= desired_healthy or not has("EvictionReasons"):
        return f"{head} needs {desired_healthy} healthy pods and has {healthy} currently"
    if refused:
        return f"{head} does not allow evicting pods currently ({allowed.get('reason', '')}): {allowed['message']}"
    return f"{head} does not allow evicting pods currently"


def _too_many_error(reason: str, seconds: int = 0) -> APIError:
    details: Object = {"causes": [{"reason": "DisruptionBudget", "message": reason}]}
    if seconds:
        details["retryAfterSeconds"] = seconds
    return TooManyRequests(_REFUSED, details)


async def _mark_disrupted(api: API, call: Call, chosen: DeleteOptions) -> None:
    """Set the condition DisruptionTarget of a pod."""
    if chosen.dry_run:
        return

    def plan_write(entry: Entry | None) -> NewState | AttemptOutcome:
        if entry is None:
            return AttemptOutcome.KEEP
        pod = view.load_object(call.kind, call.version, entry)
        condition = {"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}
        set_pod_condition(pod["status"], condition | {"message": "Eviction API: evicting"})
        return NewState(pod)

    await storage.amend_stored(api, call.kind, call.key, plan_write)
