"""Prepares objects for another server: leaves out what each server creates itself, and fields that the old one set.

Sources: bootstrap objects of kube-apiserver and kube-controller-manager, and the labels and annotations that mark them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from podless.runtime.jsonobject import Object

_DROPPED = ("uid", "resourceVersion", "generation", "creationTimestamp", "selfLink", "managedFields", "ownerReferences")
_OF_JOBS = ("controller-uid", "batch.kubernetes.io/controller-uid")
_NAMES_OF_JOBS = ("job-name", "batch.kubernetes.io/job-name")
_NO_ADDRESS = "None"
# the server computes the status of these
_STATUS_OF_ITS_OWN = {("", "Namespace"), ("apiextensions.k8s.io", "CustomResourceDefinition"), ("", "ResourceQuota")}
_CONFIG_MAPS = {
    "kube-root-ca.crt",
    "extension-apiserver-authentication",
    "kube-apiserver-legacy-service-account-token-tracking",
}
# fields of a default account without content
_HEAD = {"apiVersion", "kind", "metadata", "secrets"}
_PLAIN = {"name", "namespace", "uid", "creationTimestamp", "generation", "resourceVersion", "managedFields"}
_NAMESPACES = {"default", "kube-system", "kube-public", "kube-node-lease"}
_SLICE = "kubernetes.io/service-name"


def kind_of(obj: Object) -> tuple[str, str]:
    """Return group and kind of an object."""
    return obj["apiVersion"].rpartition("/")[0], obj["kind"]


def made_by_server(obj: Object) -> bool:
    """Return whether every server creates this object, so that another server does not need it."""
    rule = _SERVER_OBJECTS.get(kind_of(obj))
    return rule is not None and rule(obj)


def is_adopted(obj: Object) -> bool:
    """Return whether the target may have created this object itself. The import then merges into it."""
    name = obj["metadata"]["name"]
    kind = kind_of(obj)
    return (kind == ("", "Namespace") and name in _NAMESPACES) or (kind == ("", "ServiceAccount") and name == "default")


def _get_labels(obj: Object) -> Object:
    return obj["metadata"].get("labels") or {}


def _get_annotations(obj: Object) -> Object:
    return obj["metadata"].get("annotations") or {}


def _is_kubernetes(obj: Object) -> bool:
    return (obj["metadata"].get("namespace"), obj["metadata"]["name"]) == ("default", "kubernetes")


def _is_bootstrap_rbac(obj: Object) -> bool:
    autoupdated = _get_annotations(obj).get("rbac.authorization.kubernetes.io/autoupdate") == "true"
    return autoupdated and _get_labels(obj).get("kubernetes.io/bootstrapping") == "rbac-defaults"


def _is_flow(obj: Object) -> bool:
    return _get_annotations(obj).get("apf.kubernetes.io/autoupdate-spec") == "true"


def _is_account(obj: Object) -> bool:
    """Return whether an object is a default account without content."""
    return obj["metadata"]["name"] == "default" and set(obj["metadata"]) <= _PLAIN and not set(obj) - _HEAD


def _is_lease(obj: Object) -> bool:
    name, namespace = obj["metadata"]["name"], obj["metadata"].get("namespace")
    return namespace == "kube-system" and (
        name == "podless-controllers" or "apiserver.kubernetes.io/identity" in _get_labels(obj)
    )


_SERVER_OBJECTS: dict[tuple[str, str], Callable[[Object], bool]] = {
    ("", "Service"): _is_kubernetes,
    ("", "Endpoints"): _is_kubernetes,
    ("discovery.k8s.io", "EndpointSlice"): lambda obj: (
        obj["metadata"].get("namespace") == "default" and _get_labels(obj).get(_SLICE) == "kubernetes"
    ),
    ("", "ConfigMap"): lambda obj: obj["metadata"]["name"] in _CONFIG_MAPS,
    ("", "ServiceAccount"): _is_account,
    ("", "Secret"): lambda obj: obj.get("type") == "kubernetes.io/service-account-token",
    ("", "Pod"): lambda obj: "kubernetes.io/config.mirror" in _get_annotations(obj),
    ("coordination.k8s.io", "Lease"): _is_lease,
    ("scheduling.k8s.io", "PriorityClass"): lambda obj: obj["metadata"]["name"].startswith("system-"),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"): _is_flow,
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"): _is_flow,
    ("apiregistration.k8s.io", "APIService"): lambda obj: not (obj.get("spec") or {}).get("service"),
    ("networking.k8s.io", "ServiceCIDR"): lambda obj: obj["metadata"]["name"] == "kubernetes",
    ("networking.k8s.io", "IPAddress"): lambda obj: "ipaddress.kubernetes.io/managed-by" in _get_labels(obj),
    ("rbac.authorization.k8s.io", "ClusterRole"): _is_bootstrap_rbac,
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): _is_bootstrap_rbac,
    ("rbac.authorization.k8s.io", "Role"): _is_bootstrap_rbac,
    ("rbac.authorization.k8s.io", "RoleBinding"): _is_bootstrap_rbac,
}


def export_object(obj: Object) -> Object:
    """Return an object for files, without fields that have no meaning on another server.

    uid and generation stay, because other objects refer to them.
    """
    metadata = obj["metadata"]
    for name in ("resourceVersion", "selfLink", "managedFields"):
        metadata.pop(name, None)
    return obj


def renew_object(obj: Object, uids: Mapping[str, str]) -> Object:
    """Return a copy to create. uids: new uids by old ones. The caller sets owner references."""
    result = dict(obj)
    metadata = result["metadata"] = {key: value for key, value in obj["metadata"].items() if key not in _DROPPED}
    labels = metadata.get("labels")
    if labels and any(name in labels for name in _OF_JOBS):
        metadata["labels"] = {
            name: uids.get(value, value) if name in _OF_JOBS else value for name, value in labels.items()
        }
    rule = _RULES.get(kind_of(obj))
    if rule is not None and isinstance(result.get("spec"), dict):
        result["spec"] = dict(result["spec"])
        rule(result["spec"])
    if kind_of(obj) in _STATUS_OF_ITS_OWN:
        result.pop("status", None)
    return result


def _renew_service(spec: Object) -> None:
    """Remove the cluster IPs, which the old server allocated."""
    if spec.get("clusterIP") != _NO_ADDRESS:
        spec.pop("clusterIP", None)
        spec.pop("clusterIPs", None)


def _renew_volume(spec: Object) -> None:
    if isinstance(spec.get("claimRef"), dict):
        spec["claimRef"] = {
            key: value for key, value in spec["claimRef"].items() if key not in ("uid", "resourceVersion")
        }


def _renew_job(spec: Object) -> None:
    """Remove a Job's selector and labels, which contain its uid."""
    if spec.get("manualSelector"):
        return
    spec.pop("selector", None)
    template = spec.get("template")
    metadata = template.get("metadata") if isinstance(template, dict) else None
    if isinstance(template, dict) and isinstance(metadata, dict) and metadata.get("labels"):
        drop = (*_OF_JOBS, *_NAMES_OF_JOBS)
        labels = {name: value for name, value in metadata["labels"].items() if name not in drop}
        spec["template"] = {**template, "metadata": {**metadata, "labels": labels}}


_RULES: dict[tuple[str, str], Callable[[Object], None]] = {
    ("", "Service"): _renew_service,
    ("", "PersistentVolume"): _renew_volume,
    ("batch", "Job"): _renew_job,
}


def renew_status(obj: Object, generation: int) -> Object:
    """Return the status for an object with a new generation: observedGeneration is changed accordingly."""
    old, new = obj["metadata"].get("generation"), dict(obj["status"])
    if new.get("observedGeneration") is not None and new["observedGeneration"] == old:
        new["observedGeneration"] = generation
    conditions = new.get("conditions")
    if isinstance(conditions, list):
        new["conditions"] = [
            {**condition, "observedGeneration": generation}
            if isinstance(condition, dict) and old is not None and condition.get("observedGeneration") == old
            else condition
            for condition in conditions
        ]
    return new


def has_all(present: Any, expected: Any) -> bool:
    """Return whether a value contains all wanted values; it can have more, such as defaults."""
    if not expected and not isinstance(expected, bool | int | float):
        return not present or (isinstance(expected, dict) and isinstance(present, dict))
    if isinstance(expected, dict):
        return isinstance(present, dict) and all(has_all(present.get(key), value) for key, value in expected.items())
    if isinstance(expected, list):
        same_length = isinstance(present, list) and len(present) == len(expected)
        return same_length and all(has_all(a, b) for a, b in zip(present, expected, strict=True))
    return bool(present == expected)
