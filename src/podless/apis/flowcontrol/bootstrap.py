"""The initial FlowSchemas and PriorityLevelConfigurations. Source: k8s.io/apiserver 1.36."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from podless.codec import gotext
from podless.runtime import clock
from podless.runtime.datafiles import read_blocks
from podless.runtime.jsonobject import Object

_META = {"annotations": {"apf.kubernetes.io/autoupdate-spec": "true"}}
_EXEMPT: Object = {"type": "Exempt", "exempt": {"nominalConcurrencyShares": 0, "lendablePercent": 0}}
_SCHEMAS = read_blocks(Path(__file__).with_name("bootstrap.txt"))
_LEVELS = _SCHEMAS.pop("levels")
_QUEUE = 50


def bootstrap_levels() -> Iterator[Object]:
    """Yield the priority levels."""
    yield {"metadata": {"name": "exempt", **_META}, "spec": _EXEMPT}
    for name, *numbers in _LEVELS:
        shares, lendable, queues, hand = map(int, numbers)
        response: Object = {"type": "Reject"}
        if queues:
            queuing = {"queues": queues, "handSize": hand, "queueLengthLimit": _QUEUE}
            response = {"type": "Queue", "queuing": queuing}
        limited = {"nominalConcurrencyShares": shares, "limitResponse": response, "lendablePercent": lendable}
        yield {"metadata": {"name": name, **_META}, "spec": {"type": "Limited", "limited": limited}}


def bootstrap_schemas() -> Iterator[Object]:
    """Yield the flow schemas."""
    for header, rows in _SCHEMAS.items():
        name, level, precedence, method, *subjects = header.split("  ")
        rule: Object = {"subjects": [_make_subject(*text.split()) for text in subjects]}
        if resources := [_make_resource_rule(*row) for row in rows if len(row) > 2]:
            rule["resourceRules"] = resources
        if paths := [row for row in rows if len(row) == 2]:
            rule["nonResourceRules"] = [
                {"verbs": verbs.split(), "nonResourceURLs": urls.split()} for verbs, urls in paths
            ]
        spec: Object = {"priorityLevelConfiguration": {"name": level}, "matchingPrecedence": int(precedence)}
        if method != "-":
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


def _make_subject(kind: str, name: str) -> Object:
    if kind == "account":
        return {"kind": "ServiceAccount", "serviceAccount": {"namespace": name, "name": "*"}}
    return {"kind": kind.capitalize(), kind: {"name": name}}


def _make_resource_rule(verbs: str, group: str, resources: str, scope: str) -> Object:
    groups = ["" if group == "core" else group]
    rule: Object = {"verbs": verbs.split(), "apiGroups": groups, "resources": resources.split()}
    return rule | ({"clusterScope": True} if scope == "cluster" else {}) | {"namespaces": ["*"]}
