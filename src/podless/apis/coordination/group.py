"""The group coordination.k8s.io."""

from podless.apis.shared.group import READ, WRITE, Group

GROUP = Group(
    "coordination.k8s.io",
    16500,
    needed=True,
    edit=((f"{READ} {WRITE}", "leases"),),
    earlier={"v1alpha2": "", "v1beta1": "*"},
)

LEASES = GROUP.kind("Lease")
