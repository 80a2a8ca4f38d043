"""The default roles and bindings of every server.

Source: "Default roles and role bindings" of the Kubernetes documentation, for the kinds that podless serves.
"""

from __future__ import annotations

from podless.apis.catalog import GROUPS
from podless.apis.rbac.rbac import GROUP
from podless.auth.rules import PolicyRule
from podless.auth.user import AUTHENTICATED, MASTERS, UNAUTHENTICATED
from podless.runtime.jsonobject import Object

_LABEL = {"kubernetes.io/bootstrapping": "rbac-defaults"}
AUTOUPDATE = "rbac.authorization.kubernetes.io/autoupdate"
_AGGREGATE = "rbac.authorization.k8s.io/aggregate-to-"
_ACCOUNTS = "system:serviceaccounts"

_INFO = ("/healthz", "/livez", "/readyz", "/version", "/version/")
_DISCOVERY = ("/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi", "/openapi/*", *_INFO[2:])
_MONITORING = (
    "/flagz", "/healthz", "/healthz/*", "/livez", "/livez/*", "/metrics", "/metrics/slis", "/readyz", "/readyz/*",
    "/statusz",
)  # fmt: skip
_WELL_KNOWN = "/.well-known/openid-configuration"
_KEYS = (_WELL_KNOWN, f"{_WELL_KNOWN}/", "/openid/v1/jwks", "/openid/v1/jwks/")


def _make_rule(verbs: tuple[str, ...], group: str, *resources: str) -> PolicyRule:
    return {"verbs": list(verbs), "apiGroups": [group], "resources": list(resources)}


def _make_path_rule(*paths: str, verbs: tuple[str, ...] = ("get",)) -> PolicyRule:
    return {"verbs": list(verbs), "nonResourceURLs": list(paths)}


def _aggregated_rules(role: str) -> tuple[PolicyRule, ...]:
    """Return the rules of admin, edit or view for the groups that podless serves.

    By aggregation, the role also gets the rules of all roles with its label.
    """
    return tuple(
        {
            "verbs": sorted(verbs.split()),
            "apiGroups": list(groups) or [group.name],
            "resources": sorted(resources.split()),
        }
        for group in GROUPS.values()
        for verbs, resources, *groups in getattr(group, role)
    )


_RULES: dict[str, tuple[PolicyRule, ...]] = {
    "cluster-admin": (_make_rule(("*",), "*", "*"), _make_path_rule("*", verbs=("*",))),
    "system:discovery": (_make_path_rule(*_DISCOVERY),),
    "system:basic-user": (
        _make_rule(("create",), "authorization.k8s.io", "selfsubjectaccessreviews", "selfsubjectrulesreviews"),
        _make_rule(("create",), "authentication.k8s.io", "selfsubjectreviews"),
    ),
    "system:public-info-viewer": (_make_path_rule(*_INFO),),
    "system:service-account-issuer-discovery": (_make_path_rule(*_KEYS),),
    "system:monitoring": (_make_path_rule(*_MONITORING), _make_rule(("get",), "", "nodes/metrics")),
    "system:auth-delegator": (
        _make_rule(("create",), "authentication.k8s.io", "tokenreviews"),
        _make_rule(("create",), "authorization.k8s.io", "subjectaccessreviews"),
    ),
}
_AGGREGATED = {role: _aggregated_rules(role) for role in ("view", "edit", "admin")}
_NEXT = {"view": "edit", "edit": "admin"}  # the role that includes the rules of this one
_SUBJECTS = {
    "cluster-admin": (MASTERS,),
    "system:discovery": (AUTHENTICATED,),
    "system:basic-user": (AUTHENTICATED,),
    "system:public-info-viewer": (AUTHENTICATED, UNAUTHENTICATED),
    "system:monitoring": ("system:monitoring",),
    "system:service-account-issuer-discovery": (_ACCOUNTS,),
}


def _make_metadata(name: str, **labels: str) -> Object:
    aggregate_labels = {f"{_AGGREGATE}{role}": value for role, value in labels.items()}
    return {"name": name, "labels": _LABEL | aggregate_labels, "annotations": {AUTOUPDATE: "true"}}


def _make_role(name: str, **labels: str) -> Object:
    return {"kind": "ClusterRole", "apiVersion": f"{GROUP}/v1", "metadata": _make_metadata(name, **labels)}


def cluster_roles() -> list[Object]:
    """Return the default cluster roles."""
    result = [_make_role(name) | {"rules": list(rules)} for name, rules in _RULES.items()]
    for name, rules in _AGGREGATED.items():
        result.append(_make_role(f"system:aggregate-to-{name}", **{name: "true"}) | {"rules": list(rules)})
        aggregate = _make_role(name, **({_NEXT[name]: "true"} if name in _NEXT else {}))
        selector = {"matchLabels": {f"{_AGGREGATE}{name}": "true"}}
        result.append(aggregate | {"aggregationRule": {"clusterRoleSelectors": [selector]}})
    return result


def cluster_role_bindings() -> list[Object]:
    """Return the default bindings: each has the name of its role."""
    return [
        {
            "kind": "ClusterRoleBinding",
            "apiVersion": f"{GROUP}/v1",
            "metadata": _make_metadata(name),
            "subjects": [{"kind": "Group", "apiGroup": GROUP, "name": group} for group in groups],
            "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": name},
        }
        for name, groups in _SUBJECTS.items()
    ]
