"""All built-in API groups and kinds, as the folders declare them.

Source of the declarations: kube-apiserver's discovery documents and APIServices, and k8s.io/api.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from itertools import chain

from podless.apis import FOLDERS
from podless.apis.schemes import register_kinds
from podless.apis.shared.group import CUSTOM, Group
from podless.kinds.kind import Kind

_USUAL = {"v1": 15}  # priorities of versions within a group

_groups: tuple[Group, ...] = tuple(import_module(f"{__package__}.{folder}.group").GROUP for folder in FOLDERS)
GROUPS: Mapping[str, Group] = {group.name: group for group in _groups}
# groups with kinds, and groups that kube-apiserver registers without serving them
REGISTERED = (
    *_groups,
    Group("admission.k8s.io", unlisted={"v1": "AdmissionReview", "v1beta1": "AdmissionReview"}),
    Group("imagepolicy.k8s.io", earlier={"v1alpha1": ""}),
    Group("internal.apiserver.k8s.io", earlier={"v1alpha1": ""}),
)
# in the order of discovery
ALL: tuple[Kind, ...] = tuple(
    sorted(chain.from_iterable(group.kinds for group in _groups), key=lambda kind: (kind.plural, kind.group))
)
# kinds that can be left out
OPTIONAL: tuple[Kind, ...] = tuple(chain.from_iterable(group.optional for group in _groups))

for _group in REGISTERED:
    register_kinds(_group.name, _group.list_registered(), _group.moved)


def group_priority(group: str) -> int:
    """Return the priority of a group; discovery lists higher ones first."""
    return GROUPS[group].priority if group in GROUPS else CUSTOM


def version_priority(group: str, version: str) -> int:
    """Return the priority of a version within its group."""
    if not group:
        return 1
    if group not in GROUPS:
        return 100
    return GROUPS[group].version_priorities.get(version, _USUAL.get(version, 12))
