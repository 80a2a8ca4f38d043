"""What is published of the structs of rbac.authorization.k8s.io; see facts.py."""

# ruff: noqa: E501

from __future__ import annotations

from podless.publish.openapi.fact import RBAC, Fact

FACTS: dict[str, Fact] = {
    RBAC + "PolicyRule": Fact(
        "PolicyRule holds information that describes a policy rule, but does not contain information about who the rule applies to or which namespace the rule applies to.",
        ("verbs",),
        {
            "verbs": "Verbs is a list of Verbs that apply to ALL the ResourceKinds contained in this rule. '*' represents all verbs.",
            "apiGroups": 'APIGroups is the name of the APIGroup that contains the resources.  If multiple API groups are specified, any action requested against one of the enumerated resources in any API group will be allowed. "" represents the core API group and "*" represents all API groups.',
            "resources": "Resources is a list of resources this rule applies to. '*' represents all resources.",
            "resourceNames": "ResourceNames is an optional white list of names that the rule applies to.  An empty set means that everything is allowed.",
            "nonResourceURLs": 'NonResourceURLs is a set of partial urls that a user should have access to.  *s are allowed, but only as the full, final step in the path Since non-resource URLs are not namespaced, this field is only applicable for ClusterRoles referenced from a ClusterRoleBinding. Rules can either apply to API resources (such as "pods" or "secrets") or non-resource URL paths (such as "/api"),  but not both.',
        },
        {
            "verbs": {"x-kubernetes-list-type": "atomic"},
            "apiGroups": {"x-kubernetes-list-type": "atomic"},
            "resources": {"x-kubernetes-list-type": "atomic"},
            "resourceNames": {"x-kubernetes-list-type": "atomic"},
            "nonResourceURLs": {"x-kubernetes-list-type": "atomic"},
        },
    ),
    RBAC + "Subject": Fact(
        "Subject contains a reference to the object or user identities a role binding applies to.  This can either hold a direct API object reference, or a value for non-objects such as user and group names.",
        (
            "kind",
            "name",
        ),
        {
            "kind": 'Kind of object being referenced. Values defined by this API group are "User", "Group", and "ServiceAccount". If the Authorizer does not recognized the kind value, the Authorizer should report an error.',
            "apiGroup": 'APIGroup holds the API group of the referenced subject. Defaults to "" for ServiceAccount subjects. Defaults to "rbac.authorization.k8s.io" for User and Group subjects.',
            "name": "Name of the object being referenced.",
            "namespace": 'Namespace of the referenced object.  If the object kind is non-namespace, such as "User" or "Group", and this value is not empty the Authorizer should report an error.',
        },
    ),
    RBAC + "RoleRef": Fact(
        "RoleRef contains information that points to the role being used",
        (
            "kind",
            "name",
        ),
        {
            "apiGroup": "APIGroup is the group for the resource being referenced",
            "kind": "Kind is the type of resource being referenced",
            "name": "Name is the name of resource being referenced",
        },
    ),
    RBAC + "Role": Fact(
        "Role is a namespaced, logical grouping of PolicyRules that can be referenced as a unit by a RoleBinding.",
        (),
        {
            "metadata": "Standard object's metadata.",
            "rules": "Rules holds all the PolicyRules for this Role",
        },
        {"rules": {"x-kubernetes-list-type": "atomic"}},
    ),
    RBAC + "RoleBinding": Fact(
        "RoleBinding references a role, but does not contain it.  It can reference a Role in the same namespace or a ClusterRole in the global namespace. It adds who information via Subjects and namespace information by which namespace it exists in.  RoleBindings in a given namespace only have effect in that namespace.",
        ("roleRef",),
        {
            "metadata": "Standard object's metadata.",
            "subjects": "Subjects holds references to the objects the role applies to.",
            "roleRef": "RoleRef can reference a Role in the current namespace or a ClusterRole in the global namespace. If the RoleRef cannot be resolved, the Authorizer must return an error. This field is immutable.",
        },
        {"subjects": {"x-kubernetes-list-type": "atomic"}},
    ),
    RBAC + "RoleBindingList": Fact(
        "RoleBindingList is a collection of RoleBindings",
        ("items",),
        {
            "metadata": "Standard object's metadata.",
            "items": "Items is a list of RoleBindings",
        },
    ),
    RBAC + "RoleList": Fact(
        "RoleList is a collection of Roles",
        ("items",),
        {
            "metadata": "Standard object's metadata.",
            "items": "Items is a list of Roles",
        },
    ),
    RBAC + "ClusterRole": Fact(
        "ClusterRole is a cluster level, logical grouping of PolicyRules that can be referenced as a unit by a RoleBinding or ClusterRoleBinding.",
        (),
        {
            "metadata": "Standard object's metadata.",
            "rules": "Rules holds all the PolicyRules for this ClusterRole",
            "aggregationRule": "AggregationRule is an optional field that describes how to build the Rules for this ClusterRole. If AggregationRule is set, then the Rules are controller managed and direct changes to Rules will be stomped by the controller.",
        },
        {"rules": {"x-kubernetes-list-type": "atomic"}},
    ),
    RBAC + "AggregationRule": Fact(
        "AggregationRule describes how to locate ClusterRoles to aggregate into the ClusterRole",
        (),
        {
            "clusterRoleSelectors": "ClusterRoleSelectors holds a list of selectors which will be used to find ClusterRoles and create the rules. If any of the selectors match, then the ClusterRole's permissions will be added",
        },
        {"clusterRoleSelectors": {"x-kubernetes-list-type": "atomic"}},
    ),
    RBAC + "ClusterRoleBinding": Fact(
        "ClusterRoleBinding references a ClusterRole, but not contain it.  It can reference a ClusterRole in the global namespace, and adds who information via Subject.",
        ("roleRef",),
        {
            "metadata": "Standard object's metadata.",
            "subjects": "Subjects holds references to the objects the role applies to.",
            "roleRef": "RoleRef can only reference a ClusterRole in the global namespace. If the RoleRef cannot be resolved, the Authorizer must return an error. This field is immutable.",
        },
        {"subjects": {"x-kubernetes-list-type": "atomic"}},
    ),
    RBAC + "ClusterRoleBindingList": Fact(
        "ClusterRoleBindingList is a collection of ClusterRoleBindings",
        ("items",),
        {
            "metadata": "Standard object's metadata.",
            "items": "Items is a list of ClusterRoleBindings",
        },
    ),
    RBAC + "ClusterRoleList": Fact(
        "ClusterRoleList is a collection of ClusterRoles",
        ("items",),
        {
            "metadata": "Standard object's metadata.",
            "items": "Items is a list of ClusterRoles",
        },
    ),
}
