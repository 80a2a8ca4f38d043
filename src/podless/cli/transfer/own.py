"""Objects that each server creates itself. Import skips them, or merges those with content of the user.

Sources: bootstrap objects of kube-apiserver and kube-controller-manager, and the labels and annotations that mark them.
"""

from __future__ import annotations

from collections.abc import Callable

from podless.runtime.jsonobject import Object

_CONFIG_MAPS = {
    "kube-root-ca.crt",
    "extension-apiserver-authentication",
    "kube-apiserver-legacy-service-account-token-tracking",
}
_PLAIN = {"name", "namespace", "uid", "creationTimestamp", "generation", "resourceVersion", "managedFields"}
_NAMESPACES = {"default", "kube-system", "kube-public", "kube-node-lease"}
_SLICE = "kubernetes.io/service-name"


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


_HEAD = {"apiVersion", "kind", "metadata", "secrets"}


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
