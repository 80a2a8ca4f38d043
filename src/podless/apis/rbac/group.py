"""The group rbac.authorization.k8s.io."""

from podless.apis.shared.group import READ, WRITE, Group

GROUP = Group(
    "rbac.authorization.k8s.io",
    17000,
    needed=True,
    admin=((f"{READ} {WRITE}", "rolebindings roles"),),
    earlier={"v1alpha1": "*", "v1beta1": "*"},
)

CLUSTER_ROLE_BINDINGS = GROUP.kind("ClusterRoleBinding", namespaced=False, rules="rbac:CLUSTER_ROLE_BINDING")
CLUSTER_ROLES = GROUP.kind("ClusterRole", namespaced=False, rules="rbac:CLUSTER_ROLE")
ROLE_BINDINGS = GROUP.kind("RoleBinding", rules="rbac:ROLE_BINDING")
ROLES = GROUP.kind("Role", rules="rbac:ROLE")
