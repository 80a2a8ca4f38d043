"""Texts of rbac.authorization.k8s.io: roles, and who has them."""

from __future__ import annotations

_BINDING = {"roleRef": "The role. It never changes.", "subjects": "Who has the role."}

TEXTS: dict[str, dict[str, str]] = {
    "Role": {"": "What may be done in a namespace.", "rules": "The single permissions."},
    "ClusterRole": {
        "": "What may be done in all namespaces, and outside of them. A RoleBinding can narrow it to one.",
        "aggregationRule": "Which cluster roles this one is gathered from; the rules are then the server's to write.",
        "rules": "The single permissions.",
    },
    "AggregationRule": {
        "": "Which cluster roles another one is gathered from.",
        "clusterRoleSelectors": "The labels of the roles; one of the selectors has to fit.",
    },
    "PolicyRule": {
        "": "A permission: verbs on resources, or on paths.",
        "apiGroups": "The API groups of the resources; * for all.",
        "nonResourceURLs": "The paths, in cluster roles only; a * at the end stands for the rest.",
        "resourceNames": "The objects; all where none is named.",
        "resources": "The resources, such as pods or pods/status; * for all.",
        "verbs": "What may be done, such as get; * for everything.",
    },
    "RoleBinding": {"": "Gives a role to somebody, in one namespace.", **_BINDING},
    "ClusterRoleBinding": {"": "Gives a cluster role to somebody, everywhere.", **_BINDING},
    "RoleRef": {
        "": "The role that a binding gives.",
        "apiGroup": "The API group of the role.",
        "kind": "Role or ClusterRole.",
        "name": "The role's name.",
    },
    "Subject": {
        "": "Somebody who has a role.",
        "apiGroup": "rbac.authorization.k8s.io for users and groups, empty for service accounts.",
        "kind": "User, Group or ServiceAccount.",
        "name": "The name of the user, group or account.",
        "namespace": "The account's namespace.",
    },
}
