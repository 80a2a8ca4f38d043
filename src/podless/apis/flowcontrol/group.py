"""The group flowcontrol.apiserver.k8s.io."""

from podless.apis.shared.group import Group

GROUP = Group(
    "flowcontrol.apiserver.k8s.io",
    16100,
    version_priorities={"v1": 21},
    earlier={"v1beta1": "", "v1beta2": "", "v1beta3": ""},
)

FLOW_SCHEMAS = GROUP.kind("FlowSchema", namespaced=False, status=True)
PRIORITY_LEVELS = GROUP.kind("PriorityLevelConfiguration", namespaced=False, status=True)
