"""The group scheduling.k8s.io."""

from podless.apis.shared.group import Group

GROUP = Group("scheduling.k8s.io", 16600, earlier={"v1alpha2": "", "v1beta1": ""})

PRIORITY_CLASSES = GROUP.kind("PriorityClass", "pc", namespaced=False)
