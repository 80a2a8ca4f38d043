"""The roles and bindings that every server has from the start.

Source: "Default roles and role bindings" of the Kubernetes documents, as far as it is about what is served here.
"""

from __future__ import annotations

from podless.apis.rbac.rbac import GROUP
from podless.auth.rules import PolicyRule
from podless.auth.user import AUTHENTICATED, MASTERS, UNAUTHENTICATED
from podless.runtime.jsonobject import Object

_LABEL = {"kubernetes.io/bootstrapping": "rbac-defaults"}
AUTOUPDATE = "rbac.authorization.kubernetes.io/autoupdate"
_AGGREGATE = "rbac.authorization.k8s.io/aggregate-to-"
_READ = ("get", "list", "watch")
_WRITE = ("create", "delete", "deletecollection", "patch", "update")
_ACCOUNTS = "system:serviceaccounts"

_INFO = ("/healthz", "/livez", "/readyz", "/version", "/version/")
_DISCOVERY = ("/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi", "/openapi/*", *_INFO[2:])
_MONITORING = (
    "/flagz", "/healthz", "/healthz/*", "/livez", "/livez/*", "/metrics", "/metrics/slis", "/readyz", "/readyz/*",
    "/statusz",
)  # fmt: skip
_WELL_KNOWN = "/.well-known/openid-configuration"
_KEYS = (_WELL_KNOWN, f"{_WELL_KNOWN}/", "/openid/v1/jwks", "/openid/v1/jwks/")


def _rule(verbs: tuple[str, ...], group: str, *resources: str) -> PolicyRule:
    return {"verbs": list(verbs), "apiGroups": [group], "resources": list(resources)}


def _paths(*paths: str, verbs: tuple[str, ...] = ("get",)) -> PolicyRule:
    return {"verbs": list(verbs), "nonResourceURLs": list(paths)}


# the rules of admin, edit and view are put together from these, and from all other roles with such a label
_ALL = tuple(sorted(_WRITE + _READ))
_EVENTS: PolicyRule = {"apiGroups": ["", "events.k8s.io"], "resources": ["events"]}
_SCALED = "deployments replicasets statefulsets"
_OLD = "daemonsets deployments deployments/scale ingresses networkpolicies replicasets replicasets/scale"
# group -> what is read of it, and what is written
_READABLE = {
    "discovery.k8s.io": "endpointslices",
    "apps": f"controllerrevisions daemonsets daemonsets/status {_SCALED} "
    + " ".join(f"{name}/{part}" for name in _SCALED.split() for part in ("scale", "status")),
    "autoscaling": "horizontalpodautoscalers horizontalpodautoscalers/status",
    "batch": "cronjobs cronjobs/status jobs jobs/status",
    "extensions": f"{_OLD} daemonsets/status deployments/status ingresses/status replicasets/status "
    "replicationcontrollers/scale",
    "policy": "poddisruptionbudgets poddisruptionbudgets/status",
    "networking.k8s.io": "ingresses ingresses/status networkpolicies",
    "resource.k8s.io": "resourceclaims resourceclaims/status resourceclaimtemplates",
}
_WRITABLE = {
    "apps": f"daemonsets deployments/rollback {_SCALED} " + " ".join(f"{name}/scale" for name in _SCALED.split()),
    "autoscaling": "horizontalpodautoscalers",
    "batch": "cronjobs jobs",
    "extensions": f"{_OLD} deployments/rollback replicationcontrollers/scale",
    "policy": "poddisruptionbudgets",
    "networking.k8s.io": "ingresses networkpolicies",
}
_STREAMS = ("pods/attach", "pods/exec", "pods/portforward", "pods/proxy")


def _rules(verbs: tuple[str, ...], groups: dict[str, str]) -> tuple[PolicyRule, ...]:
    return tuple(_rule(verbs, group, *sorted(resources.split())) for group, resources in groups.items())


_VIEW = (
    _rule(
        _READ, "", "configmaps", "endpoints", "persistentvolumeclaims", "persistentvolumeclaims/status", "pods",
        "replicationcontrollers", "replicationcontrollers/scale", "serviceaccounts", "services", "services/status",
    ),
    _rule(
        _READ, "", "bindings", "limitranges", "namespaces/status", "pods/log", "pods/status",
        "replicationcontrollers/status", "resourcequotas", "resourcequotas/status",
    ),
    _rule(_READ, "", "namespaces"),
    {"verbs": list(_READ), **_EVENTS},
    *_rules(_READ, _READABLE),
)  # fmt: skip
_EDIT = (
    _rule(_READ, "", *_STREAMS, "secrets", "services/proxy"),
    _rule(("impersonate",), "", "serviceaccounts"),
    _rule(_WRITE, "", "pods", *_STREAMS),
    _rule(("create",), "", "pods/eviction"),
    _rule(
        _WRITE, "", "configmaps", "persistentvolumeclaims", "replicationcontrollers", "replicationcontrollers/scale",
        "secrets", "serviceaccounts", "services", "services/proxy",
    ),
    _rule(("create",), "", "serviceaccounts/token"),
    {"verbs": list(_WRITE), **_EVENTS},
    *_rules(_WRITE, _WRITABLE),
    _rule(_ALL, "coordination.k8s.io", "leases"),
    _rule(_WRITE, "resource.k8s.io", "resourceclaims", "resourceclaimtemplates"),
)  # fmt: skip
_ADMIN = (
    _rule(("create",), "authorization.k8s.io", "localsubjectaccessreviews"),
    _rule(_ALL, GROUP, "rolebindings", "roles"),
)

_RULES: dict[str, tuple[PolicyRule, ...]] = {
    "cluster-admin": (_rule(("*",), "*", "*"), _paths("*", verbs=("*",))),
    "system:discovery": (_paths(*_DISCOVERY),),
    "system:basic-user": (
        _rule(("create",), "authorization.k8s.io", "selfsubjectaccessreviews", "selfsubjectrulesreviews"),
        _rule(("create",), "authentication.k8s.io", "selfsubjectreviews"),
    ),
    "system:public-info-viewer": (_paths(*_INFO),),
    "system:service-account-issuer-discovery": (_paths(*_KEYS),),
    "system:monitoring": (_paths(*_MONITORING), _rule(("get",), "", "nodes/metrics")),
    "system:auth-delegator": (
        _rule(("create",), "authentication.k8s.io", "tokenreviews"),
        _rule(("create",), "authorization.k8s.io", "subjectaccessreviews"),
    ),
}
_AGGREGATED = {"view": _VIEW, "edit": _EDIT, "admin": _ADMIN}
_NEXT = {"view": "edit", "edit": "admin"}  # whose rules are also those of a role
_SUBJECTS = {
    "cluster-admin": (MASTERS,),
    "system:discovery": (AUTHENTICATED,),
    "system:basic-user": (AUTHENTICATED,),
    "system:public-info-viewer": (AUTHENTICATED, UNAUTHENTICATED),
    "system:monitoring": ("system:monitoring",),
    "system:service-account-issuer-discovery": (_ACCOUNTS,),
}


def _metadata(name: str, **labels: str) -> Object:
    more = {f"{_AGGREGATE}{role}": value for role, value in labels.items()}
    return {"name": name, "labels": _LABEL | more, "annotations": {AUTOUPDATE: "true"}}


def _role(name: str, rules: tuple[PolicyRule, ...], **labels: str) -> Object:
    head = {"kind": "ClusterRole", "apiVersion": f"{GROUP}/v1", "metadata": _metadata(name, **labels)}
    return head | {"rules": list(rules)}


def cluster_roles() -> list[Object]:
    """The default cluster roles."""
    found = [_role(name, rules) for name, rules in _RULES.items()]
    for name, rules in _AGGREGATED.items():
        found.append(_role(f"system:aggregate-to-{name}", rules, **{name: "true"}))
        whole = _role(name, (), **({_NEXT[name]: "true"} if name in _NEXT else {}))
        selector = {"matchLabels": {f"{_AGGREGATE}{name}": "true"}}
        found.append(whole | {"aggregationRule": {"clusterRoleSelectors": [selector]}})
    return found


def cluster_role_bindings() -> list[Object]:
    """The default bindings: each has the name of its role."""
    return [
        {
            "kind": "ClusterRoleBinding",
            "apiVersion": f"{GROUP}/v1",
            "metadata": _metadata(name),
            "subjects": [{"kind": "Group", "apiGroup": GROUP, "name": group} for group in groups],
            "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": name},
        }
        for name, groups in _SUBJECTS.items()
    ]
