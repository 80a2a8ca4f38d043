"""The group flowcontrol.apiserver.k8s.io."""

from functools import partial

from podless.apis.shared.group import Group

GROUP = Group(
    "flowcontrol.apiserver.k8s.io",
    16100,
    version_priorities={"v1": 21, "v1beta3": 18},
    earlier={"v1beta1": "", "v1beta2": ""},
)


def _deprecation_texts(noun: str) -> dict[str, str]:
    old, new = (f"{GROUP.name}/{version} {noun}" for version in ("v1beta3", "v1"))
    return {"v1beta3": f"{old} is deprecated in v1.29+, unavailable in v1.32+; use {new}"}


_kind = partial(GROUP.kind, namespaced=False, status=True, versions=("v1", "v1beta3"), releases={"v1beta3": "-1.31"})

FLOW_SCHEMAS = _kind("FlowSchema", deprecated=_deprecation_texts("FlowSchema"))
PRIORITY_LEVELS = _kind("PriorityLevelConfiguration", deprecated=_deprecation_texts("PriorityLevelConfiguration"))
