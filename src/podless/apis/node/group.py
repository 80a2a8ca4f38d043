"""The group node.k8s.io."""

from podless.apis.shared.group import Group

GROUP = Group("node.k8s.io", 16300, earlier={"v1alpha1": "", "v1beta1": ""})

RUNTIME_CLASSES = GROUP.kind("RuntimeClass", namespaced=False)
