"""The default roles and bindings of every server, as the package bootstrappolicy of Kubernetes has them.

Source: "Default roles and role bindings" of the Kubernetes documentation, for the kinds that podless serves.
"""

from __future__ import annotations

from pathlib import Path

from podless.apis.catalog import GROUPS
from podless.apis.rbac.rbac import GROUP
from podless.auth.authorizer import PolicyRule
from podless.runtime.datafiles import read_blocks
from podless.runtime.jsonobject import Object

_LABEL = {"kubernetes.io/bootstrapping": "rbac-defaults"}
AUTOUPDATE = "rbac.authorization.kubernetes.io/autoupdate"
_AGGREGATE = "rbac.authorization.k8s.io/aggregate-to-"


def _make_rule(verbs: str, *objects: str) -> PolicyRule:
    if len(objects) == 1:
        return {"verbs": verbs.split(), "nonResourceURLs": objects[0].split()}
    group, resources = objects
    return {"verbs": verbs.split(), "apiGroups": ["" if group == "core" else group], "resources": resources.split()}


def _make_aggregated_rules(role: str) -> tuple[PolicyRule, ...]:
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


# the name of a role and the groups that it is bound to, separated by two spaces: its rules
_ROLES = {
    header: [_make_rule(*row) for row in rows]
    for header, rows in read_blocks(Path(__file__).with_name("bootstrappolicy.txt")).items()
}
_AGGREGATED = {role: _make_aggregated_rules(role) for role in ("view", "edit", "admin")}
_NEXT = {"view": "edit", "edit": "admin"}  # the role that includes the rules of this one


def _make_metadata(name: str, **labels: str) -> Object:
    aggregate_labels = {f"{_AGGREGATE}{role}": value for role, value in labels.items()}
    return {"name": name, "labels": _LABEL | aggregate_labels, "annotations": {AUTOUPDATE: "true"}}


def _make_role(name: str, **labels: str) -> Object:
    return {"kind": "ClusterRole", "apiVersion": f"{GROUP}/v1", "metadata": _make_metadata(name, **labels)}


def make_cluster_roles() -> list[Object]:
    """Return the default cluster roles."""
    result = [_make_role(header.split("  ")[0]) | {"rules": list(rules)} for header, rules in _ROLES.items()]
    for name, rules in _AGGREGATED.items():
        result.append(_make_role(f"system:aggregate-to-{name}", **{name: "true"}) | {"rules": list(rules)})
        aggregate = _make_role(name, **({_NEXT[name]: "true"} if name in _NEXT else {}))
        selector = {"matchLabels": {f"{_AGGREGATE}{name}": "true"}}
        result.append(aggregate | {"aggregationRule": {"clusterRoleSelectors": [selector]}})
    return result


def make_cluster_role_bindings() -> list[Object]:
    """Return the default bindings: each has the name of its role."""
    return [
        {
            "kind": "ClusterRoleBinding",
            "apiVersion": f"{GROUP}/v1",
            "metadata": _make_metadata(name),
            "subjects": [{"kind": "Group", "apiGroup": GROUP, "name": group} for group in groups],
            "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": name},
        }
        for name, *groups in (header.split("  ") for header in _ROLES)
        if groups
    ]
