"""Reads what limits a set: quotas with their counted objects, limit ranges, policies, webhooks, and a user's roles."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from podless.plan.baseline import Baseline
from podless.plan.prune import FindResource
from podless.plan.reader import APIReader, ReadFailed, format_selector, name_collection
from podless.plan.requests import BUILT_IN, ActingUser, find_builtin
from podless.remote.resources import APIResource
from podless.runtime.jsonobject import Object

_GROUP = "admissionregistration.k8s.io"
_JUDGES = (
    ("validatingadmissionpolicies", "ValidatingAdmissionPolicy"),
    ("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding"),
    ("mutatingadmissionpolicies", "MutatingAdmissionPolicy"),
    ("mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding"),
    ("validatingwebhookconfigurations", "ValidatingWebhookConfiguration"),
    ("mutatingwebhookconfigurations", "MutatingWebhookConfiguration"),
)
_VERSIONS = ("v1", "v1beta1", "v1alpha1")
_QUOTAS = find_builtin("v1", "ResourceQuota")
_LIMITS = find_builtin("v1", "LimitRange")
# the resources that quotas count, by their names in quotas; source: k8s.io/kubernetes pkg/quota/v1/evaluator/core
_PODS = find_builtin("v1", "Pod")
_CLAIMS = find_builtin("v1", "PersistentVolumeClaim")
_SERVICES = find_builtin("v1", "Service")
_OTHERS = (find_builtin("v1", kind) for kind in ("Secret", "ConfigMap", "ReplicationController"))
_COUNTED = {resource.plural: resource for resource in (_PODS, _CLAIMS, _SERVICES, _QUOTAS, *_OTHERS)}
_MEASURED = {"pods", "persistentvolumeclaims", "services"}  # quotas use more of these than their number
_RBAC = "rbac.authorization.k8s.io/v1"
_CLUSTER_WIDE = (find_builtin(_RBAC, "ClusterRole"), find_builtin(_RBAC, "ClusterRoleBinding"))
_NAMESPACED = (find_builtin(_RBAC, "Role"), find_builtin(_RBAC, "RoleBinding"))
_ALLOWED = "every write is planned as if the user were allowed to make it"
_NO_POLICY = "what it rejects or changes is not in the plan"


async def fetch_policies(reader: APIReader, baseline: Baseline, find: FindResource, namespaces: Sequence[str]) -> None:
    """Read policies, their bindings and parameters, and the configurations of webhooks."""
    listed = await asyncio.gather(*(_list_newest(reader, plural, kind) for plural, kind in _JUDGES))
    objects_by_kind = dict(zip((kind for _, kind in _JUDGES), listed, strict=True))
    for objects in listed:
        baseline.objects += objects
    for kind in ("ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"):
        policies = {policy["metadata"]["name"]: policy for policy in objects_by_kind[kind]}
        for binding in objects_by_kind[f"{kind}Binding"]:
            policy = policies.get(binding["spec"].get("policyName"))
            param_kind, reference = (policy or {}).get("spec", {}).get("paramKind"), binding["spec"].get("paramRef")
            if param_kind and reference:
                baseline.objects += await _read_params(reader, find, param_kind, reference, namespaces)


async def _list_newest(reader: APIReader, plural: str, kind: str) -> list[Object]:
    """Return the objects of a resource, in the newest version that the API serves."""
    for version in _VERSIONS:
        resource = APIResource(f"{_GROUP}/{version}", plural, kind, False)
        try:
            listed = await reader.list_objects(resource)
            if listed is not None:
                return listed
        except ReadFailed as error:
            reader.note_unread(resource.full_name, error, _NO_POLICY)
            return []
    return []


async def _read_params(
    reader: APIReader, find: FindResource, param_kind: Object, reference: Object, namespaces: Sequence[str]
) -> list[Object]:
    resource = await find(str(param_kind.get("apiVersion")), str(param_kind.get("kind")))
    if resource is None:
        return []
    places = [str(reference["namespace"])] if reference.get("namespace") else namespaces
    if not resource.namespaced:
        places = [""]
    params: list[Object] = []
    for namespace in places:
        if reference.get("name"):
            objects, _, faults = await reader.read_named(resource, namespace, [str(reference["name"])])
            params += objects
            for name, fault in faults.items():
                reader.note_unread(f"{resource.full_name} {name}", fault, "its policy is without parameters")
        else:
            labels = format_selector(reference.get("selector") or {})
            params += await reader.try_list(resource, namespace, labels, effect="its policy is without parameters")
    return params


async def fetch_quotas(reader: APIReader, baseline: Baseline, find: FindResource, namespaces: Sequence[str]) -> None:
    """Read the quotas and limit ranges of namespaces, and the objects that the quotas count."""

    async def fetch_namespace(namespace: str) -> None:
        quotas, limits = await asyncio.gather(
            reader.try_list(_QUOTAS, namespace, effect="quotas that would reject something are not in the plan"),
            reader.try_list(_LIMITS, namespace, effect="limits and their defaults are not in the plan"),
        )
        baseline.objects += [*quotas, *limits]
        names = {name for quota in quotas for name in quota["spec"].get("hard") or ()}
        for resource in await _find_counted(names, find):
            effect = "what quotas count may be too low"
            light = resource.plural not in _MEASURED
            baseline.objects += await reader.try_list(resource, namespace, effect=effect, metadata=light)

    await asyncio.gather(*map(fetch_namespace, namespaces))


async def _find_counted(names: set[str], find: FindResource) -> list[APIResource]:
    """Return the resources that names in quotas are about."""
    resources: dict[str, APIResource] = {}
    for name in names:
        resource: APIResource | None
        if name.startswith("count/"):
            plural, _, group = name.removeprefix("count/").partition(".")
            resource = _COUNTED.get(plural) if not group else await _find_plural(plural, group, find)
        elif name in _COUNTED:
            resource = _COUNTED[name]
        elif name.startswith("services."):
            resource = _SERVICES
        elif "storage" in name and "ephemeral" not in name:
            resource = _CLAIMS
        else:
            resource = _PODS
        if resource is not None:
            resources[resource.full_name] = resource
    return [*resources.values()]


async def _find_plural(plural: str, group: str, find: FindResource) -> APIResource | None:
    for (api_version, name), kind in BUILT_IN.items():
        if (kind.group, kind.plural) == (group, plural):
            return await find(api_version, name)
    return None


async def fetch_roles(reader: APIReader, baseline: Baseline, acting: ActingUser, namespaces: Sequence[str]) -> None:
    """Read all roles and bindings that can give a user rights in namespaces.

    If some cannot be read, a binding allows the user everything.
    """
    collections = [(resource, "") for resource in _CLUSTER_WIDE]
    collections += [(resource, namespace) for resource in _NAMESPACED for namespace in namespaces]

    async def list_roles(resource: APIResource, namespace: str) -> bool:
        try:
            listed = await reader.list_objects(resource, namespace)
        except ReadFailed as error:
            reader.note_unread(name_collection(resource, namespace), error, _ALLOWED)
            return False
        baseline.objects += listed or []
        if not namespace and listed is not None:
            baseline.complete.append(resource)
        return True

    if not all(await asyncio.gather(*(list_roles(*collection) for collection in collections))):
        baseline.objects.append(_allow_everything(acting))


def _allow_everything(acting: ActingUser) -> Object:
    group = "rbac.authorization.k8s.io"
    return {
        "apiVersion": _RBAC,
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "podless:plan", "uid": "podless-plan", "creationTimestamp": "1970-01-01T00:00:00Z"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": group, "kind": "User", "name": acting.name}],
    }
