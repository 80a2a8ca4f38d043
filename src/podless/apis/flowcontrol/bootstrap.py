"""The initial FlowSchemas and PriorityLevelConfigurations. Source: k8s.io/apiserver 1.36."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from podless.codec import gotext
from podless.runtime import clock
from podless.runtime.jsonobject import Object

_META = {"annotations": {"apf.kubernetes.io/autoupdate-spec": "true"}}
_WILDCARD = ["*"]
_EVERYBODY = ("system:unauthenticated", "system:authenticated")
_MANAGER, _SCHEDULER = "system:kube-controller-manager", "system:kube-scheduler"
_EXEMPT: Object = {"type": "Exempt", "exempt": {"nominalConcurrencyShares": 0, "lendablePercent": 0}}
# name: shares, lendable percent, queues and hand size; levels without queues reject requests over their limit
_LEVELS = {
    "system": (30, 33, 64, 6),
    "node-high": (40, 25, 64, 6),
    "leader-election": (10, 0, 16, 4),
    "workload-high": (40, 50, 128, 6),
    "workload-low": (100, 90, 128, 6),
    "global-default": (20, 50, 128, 6),
    "catch-all": (5, 0, 0, 0),
}
_QUEUE = 50


def bootstrap_levels() -> Iterator[Object]:
    """Yield the priority levels."""
    yield {"metadata": {"name": "exempt", **_META}, "spec": _EXEMPT}
    for name, (shares, lendable, queues, hand) in _LEVELS.items():
        response: Object = {"type": "Reject"}
        if queues:
            queuing = {"queues": queues, "handSize": hand, "queueLengthLimit": _QUEUE}
            response = {"type": "Queue", "queuing": queuing}
        limited = {"nominalConcurrencyShares": shares, "limitResponse": response, "lendablePercent": lendable}
        yield {"metadata": {"name": name, **_META}, "spec": {"type": "Limited", "limited": limited}}


def bootstrap_schemas() -> Iterator[Object]:
    """Yield the flow schemas."""
    for name, (level, precedence, method, subjects, resources, paths) in _SCHEMAS.items():
        rule: Object = {"subjects": subjects}
        if resources:
            rule["resourceRules"] = resources
        if paths:
            rule["nonResourceRules"] = [{"verbs": paths[0], "nonResourceURLs": paths[1]}]
        spec: Object = {"priorityLevelConfiguration": {"name": level}, "matchingPrecedence": precedence}
        if method:
            spec["distinguisherMethod"] = {"type": method}
        yield {"metadata": {"name": name, **_META}, "spec": spec | {"rules": [rule]}, "status": _found_status(level)}


def _found_status(level: str) -> Object:
    """Return the status of a schema whose level exists."""
    condition = dangling_condition(level, exists=True)
    order = ("type", "status", "lastTransitionTime", "reason", "message")
    return {"conditions": [{name: condition.get(name) or clock.now() for name in order}]}


def dangling_condition(level: str, *, exists: bool) -> Object:
    """Return the Dangling condition of a FlowSchema, without a time. exists: whether its priority level exists."""
    end = "and it exists" if exists else "but there is no such object"
    named = f"This FlowSchema references the PriorityLevelConfiguration object named {gotext.quote(level)}"
    status, reason = ("False", "Found") if exists else ("True", "NotFound")
    return {"type": "Dangling", "status": status, "reason": reason, "message": f"{named} {end}"}


def required_spec(mandatory: Iterator[Object], name: str) -> Object | None:
    """Return the mandatory spec of the object with a name; None if it has none."""
    if name not in ("exempt", "catch-all"):
        return None
    return next((obj["spec"] for obj in mandatory if obj["metadata"]["name"] == name), None)


def _group_subjects(*names: str) -> list[Object]:
    return [{"kind": "Group", "group": {"name": name}} for name in names]


def _user_subjects(*names: str) -> list[Object]:
    return [{"kind": "User", "user": {"name": name}} for name in names]


def _resource_rule(verbs: Sequence[str], groups: Sequence[str], names: Sequence[str], *, cluster: bool) -> Object:
    rule: Object = {"verbs": list(verbs), "apiGroups": list(groups), "resources": list(names)}
    return rule | ({"clusterScope": True} if cluster else {}) | {"namespaces": _WILDCARD}


_ACCOUNTS: list[Object] = [{"kind": "ServiceAccount", "serviceAccount": {"namespace": "kube-system", "name": "*"}}]
_WHATEVER = [_resource_rule(_WILDCARD, _WILDCARD, _WILDCARD, cluster=True)]
_WHEREVER = (_WILDCARD, _WILDCARD)
_LEASES = ("coordination.k8s.io",), ("leases",)
_BY_USER, _BY_NAMESPACE = "ByUser", "ByNamespace"
# name: level, precedence, flow distinguisher, subjects, resource rules, and non-resource URLs with verbs
_SCHEMAS: dict[str, tuple[str, int, str, list[Object], list[Object], tuple[list[str], list[str]] | None]] = {
    "exempt": ("exempt", 1, "", _group_subjects("system:masters"), _WHATEVER, _WHEREVER),
    "probes": ("exempt", 2, "", _group_subjects(*_EVERYBODY), [], (["get"], ["/healthz", "/readyz", "/livez"])),
    "system-leader-election": (
        "leader-election",
        100,
        _BY_USER,
        [*_user_subjects(_MANAGER, _SCHEDULER), *_ACCOUNTS],
        [_resource_rule(("get", "create", "update"), *_LEASES, cluster=False)],
        None,
    ),
    "system-node-high": (
        "node-high",
        400,
        _BY_USER,
        _group_subjects("system:nodes"),
        [
            _resource_rule(_WILDCARD, ("",), ("nodes", "nodes/status"), cluster=True),
            _resource_rule(_WILDCARD, *_LEASES, cluster=False),
        ],
        None,
    ),
    "system-nodes": ("system", 500, _BY_USER, _group_subjects("system:nodes"), _WHATEVER, _WHEREVER),
    "kube-controller-manager": ("workload-high", 800, _BY_NAMESPACE, _user_subjects(_MANAGER), _WHATEVER, _WHEREVER),
    "kube-scheduler": ("workload-high", 800, _BY_NAMESPACE, _user_subjects(_SCHEDULER), _WHATEVER, _WHEREVER),
    "kube-system-service-accounts": ("workload-high", 900, _BY_NAMESPACE, _ACCOUNTS, _WHATEVER, _WHEREVER),
    "service-accounts": (
        "workload-low",
        9000,
        _BY_USER,
        _group_subjects("system:serviceaccounts"),
        _WHATEVER,
        _WHEREVER,
    ),
    "global-default": ("global-default", 9900, _BY_USER, _group_subjects(*_EVERYBODY), _WHATEVER, _WHEREVER),
    "catch-all": ("catch-all", 10000, _BY_USER, _group_subjects(*_EVERYBODY), _WHATEVER, _WHEREVER),
}
