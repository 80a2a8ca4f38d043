"""The orders in which clients apply the objects of a set."""

from __future__ import annotations

from collections.abc import Sequence

from podless.plan.manifests import Item
from podless.plan.options import AS_GIVEN, FLUX, HELM, KUBECTL

_DEFINITIONS = ("Namespace", "CustomResourceDefinition")
# Source: InstallOrder of helm.sh/helm pkg/release/util/kind_sorter.go; other kinds come after these, by name.
_HELM = (
    "PriorityClass", "Namespace", "NetworkPolicy", "ResourceQuota", "LimitRange", "PodSecurityPolicy",
    "PodDisruptionBudget", "ServiceAccount", "Secret", "SecretList", "ConfigMap", "StorageClass", "PersistentVolume",
    "PersistentVolumeClaim", "CustomResourceDefinition", "ClusterRole", "ClusterRoleList", "ClusterRoleBinding",
    "ClusterRoleBindingList", "Role", "RoleList", "RoleBinding", "RoleBindingList", "Service", "DaemonSet", "Pod",
    "ReplicationController", "ReplicaSet", "Deployment", "HorizontalPodAutoscaler", "StatefulSet", "Job", "CronJob",
    "IngressClass", "Ingress", "APIService", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration",
)  # fmt: skip
# Source: github.com/fluxcd/pkg ssa: stages of ApplyAllStaged and the order within one (RankOfKind)
_FLUX_FIRST = ("CustomResourceDefinition", "Namespace", "ClusterRole", "Role")
_FLUX_SECOND_SUFFIX = "Class"
_FLUX_LAST = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")


def sort_items(items: Sequence[Item], order: str) -> list[Item]:
    """Return the items in the order of a client. Items of equal rank keep their order.

    kubectl: definitions and namespaces first. helm: by kind, definitions (of charts' crds/) and namespaces first. flux:
    definitions, namespaces and roles, then classes, then the rest by kind, namespace and name. as-given: unchanged.
    """
    if order == KUBECTL:
        return sorted(items, key=lambda item: _is_first(item))
    if order == HELM:
        rank = {kind: index for index, kind in enumerate(_HELM)}
        return sorted(items, key=lambda item: (_is_first(item), *_rank_helm(item, rank)))
    if order == FLUX:
        return sorted(items, key=_rank_flux)
    assert order == AS_GIVEN
    return list(items)


def _is_first(item: Item) -> bool:
    """Return False, which sorts first, if other objects of the set depend on the item."""
    return item.obj["kind"] not in _DEFINITIONS


def _rank_helm(item: Item, rank: dict[str, int]) -> tuple[int, str]:
    kind = item.obj["kind"]
    return (rank[kind], "") if kind in rank else (len(rank), kind)


def _rank_flux(item: Item) -> tuple[int, int, str, str, str]:
    kind, _, namespace, name = item.identity.kind, *item.identity[1:]
    if kind in _FLUX_FIRST:
        return 0, _FLUX_FIRST.index(kind), "", namespace, name
    stage = 1 if kind.endswith(_FLUX_SECOND_SUFFIX) else 3 if kind in _FLUX_LAST else 2
    return stage, 0, kind, namespace, name
