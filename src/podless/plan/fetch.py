"""Reads the objects that a plan needs from a running API: those that the set can change, and their dependencies."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from podless.apis import features
from podless.plan.applyset import ApplySetParent
from podless.plan.baseline import Baseline, PlanSource, Say
from podless.plan.limits import fetch_policies, fetch_quotas, fetch_roles
from podless.plan.manifests import Identity, Item
from podless.plan.options import CannotPlan, PlanOptions
from podless.plan.planfile import index_revisions
from podless.plan.prune import fetch_members, fetch_pruned, find_parent
from podless.plan.reader import APIReader, ReadFailed
from podless.plan.requests import BUILT_IN, find_builtin
from podless.remote.cluster import RemoteCluster
from podless.remote.kubeconfig import ClusterAccess
from podless.remote.resources import APIResource
from podless.runtime.jsonobject import Object

_DEFINITIONS = find_builtin("apiextensions.k8s.io/v1", "CustomResourceDefinition")
NAMESPACES = find_builtin("v1", "Namespace")
_SECONDS = 30.0  # timeout of one answer
_TRIES = 3
_RECHECK_SECONDS = 5.0  # seconds; after reading for longer, the set's objects are checked for changes again
_CHANGED = "it changed while podless read the API"
# pods and the kinds with pod templates
_PODS = {
    "Pod", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job", "CronJob",
    "PodTemplate",
}  # fmt: skip
_ACCOUNTS = find_builtin("v1", "ServiceAccount")
_SERVICES = find_builtin("v1", "Service")
# classes, each with the kinds in a set for which it is read
_CLASSES: Mapping[APIResource, set[str]] = {
    find_builtin("node.k8s.io/v1", "RuntimeClass"): {"Pod", "ReplicationController"},
    find_builtin("scheduling.k8s.io/v1", "PriorityClass"): {"Pod", "PriorityClass"},
    find_builtin("storage.k8s.io/v1", "StorageClass"): {"PersistentVolumeClaim", "StatefulSet"},
    find_builtin("networking.k8s.io/v1", "IngressClass"): {"Ingress"},
    find_builtin("rbac.authorization.k8s.io/v1", "ClusterRole"): {"ClusterRole"},
}


class RunningAPI(PlanSource):
    """A running API, which is only read. access: how to reach it. seconds: timeout of one answer."""

    def __init__(self, access: ClusterAccess, *, seconds: float = _SECONDS) -> None:
        self._access = access
        self._seconds = seconds

    async def fetch(self, items: Sequence[Item], options: PlanOptions, say: Say) -> Baseline:
        """Return the state that a set can touch. Raises CannotPlan if the API does not answer at all."""
        async with RemoteCluster(self._access, "podless-plan", seconds=self._seconds, tries=_TRIES) as cluster:
            namespace = options.namespace or self._access.namespace or "default"
            fetch = _BaselineReader(APIReader(cluster, _TRIES * self._seconds, say), items, options, namespace)
            baseline = await fetch.read_baseline()
        baseline.source, baseline.namespace = self._access.url, namespace
        baseline.api["url"] = self._access.url
        return baseline


class _BaselineReader:
    """Reads one API once."""

    def __init__(self, reader: APIReader, items: Sequence[Item], options: PlanOptions, namespace: str) -> None:
        self.reader = reader
        self.items = items
        self.options = options
        self.namespace = namespace  # default for objects without one
        self.baseline = Baseline()
        self._discovery = reader.make_discovery("kinds of it are taken for not served")
        self._resources: dict[tuple[str, str], APIResource] = {}  # by apiVersion and kind
        self._definitions: dict[str, Object] = {}  # by name
        self._read: set[str] = set()  # names of definitions that were requested
        self._named: dict[tuple[APIResource, str], list[str]] = {}  # the set's objects, by resource and namespace

    async def read_baseline(self) -> Baseline:
        baseline, kinds, began = self.baseline, {item.identity.kind for item in self.items}, time.monotonic()
        await self._read_release()
        await self._read_identity()
        await self._discover_versions({item.identity.api_version for item in self.items})
        await self._find_redefined()
        self._name_objects()
        parent = await self._find_applyset()
        namespaces = sorted({namespace for _, namespace in self._named if namespace})
        of_set = self._named.get((NAMESPACES, ""), ())
        await asyncio.gather(
            self._read_objects(),
            self._read_namespaces([name for name in namespaces if name not in of_set]),
            self._read_classes(kinds),
            fetch_policies(self.reader, baseline, self._find_resource, namespaces),
        )
        existing = {obj["metadata"]["name"] for obj in baseline.objects if obj["kind"] == "Namespace"}
        namespaces = [name for name in namespaces if name in existing]
        if self.options.acting is not None:
            await fetch_roles(self.reader, baseline, self.options.acting, namespaces)
        await asyncio.gather(
            fetch_quotas(self.reader, baseline, self._find_resource, namespaces),
            *(self._read_accounts(name) for name in namespaces if kinds & _PODS),
        )
        in_set = {
            (resource.full_name, namespace, name)
            for (resource, namespace), names in self._named.items()
            for name in names
        }
        if parent is not None:
            await fetch_members(self.reader, baseline, parent, in_set)
        if self.options.prune:
            await fetch_pruned(self.reader, baseline, self.options.prune, in_set, namespaces)
        if parent is not None or self.options.prune:
            read_kinds = {(obj["apiVersion"], obj["kind"]) for obj in baseline.objects}
            await asyncio.gather(*(self._find_resource(*kind) for kind in read_kinds))
        baseline.objects = [*self._definitions.values(), *baseline.objects]
        if time.monotonic() - began >= _RECHECK_SECONDS:
            await self._look_again()
        baseline.missing += self.reader.missing
        baseline.notes += self.reader.notes
        baseline.requests = dict(self.reader.requests)
        return baseline

    async def _look_again(self) -> None:
        """Find the objects of the set that have changed since they were read."""
        revisions = index_revisions(self.baseline.objects)
        absent = {identity.key for identity in self.baseline.absent}

        async def read_again(resource: APIResource, namespace: str, names: list[str]) -> None:
            objects, _, faults = await self.reader.read_named(resource, namespace, names)
            now = index_revisions(objects)
            for name in names if not faults else ():
                identity = Identity.named(resource, namespace, name)
                key = identity.key
                if (key in revisions or key in absent) and now.get(key, "") != revisions.get(key, ""):
                    self.reader.note_unread(str(identity), _CHANGED, "the plan is for its earlier state")

        await asyncio.gather(*(read_again(*collection, names) for collection, names in self._named.items() if names))

    async def _find_applyset(self) -> ApplySetParent | None:
        """Read the parent of the ApplySet together with the set's objects."""
        if not self.options.applyset:
            return None
        parent = await find_parent(self.reader, self.options, self._find_resource)
        # the server in memory reports an unknown kind, and a missing namespace
        if parent is not None and (parent.namespace or not parent.resource.namespaced):
            place = self._use_stored_version(parent.resource), parent.namespace
            self._named.setdefault(place, []).append(parent.name)
        return parent

    async def _read_identity(self) -> None:
        """Read the uid of the cluster, for plan files."""
        try:
            namespace = await self.reader.get_object(NAMESPACES, "", "kube-system")
        except ReadFailed:
            return  # the plan then knows only the API's address
        if namespace is not None:
            self.baseline.api["uid"] = namespace["metadata"]["uid"]

    async def _read_release(self) -> None:
        try:
            version = await self.reader.read_document("/version", "get version") or {}
        except ReadFailed as error:
            raise CannotPlan(f"the API does not answer: {error}") from None
        minor = "".join(sign for sign in str(version.get("minor", "")) if sign.isdigit())
        name = f"{version.get('major', '')}.{minor}"
        if name in features.NAMES:
            self.baseline.release = name
        elif minor and not self.options.kubernetes_version:
            self.baseline.release = nearest = features.NAMES[-1 if int(minor) > features.LATEST else 0]
            self.reader.note_unread(f"Kubernetes {name} of the API", f"podless speaks {features.NAMES[0]} to {nearest}")

    async def _discover_versions(self, api_versions: Iterable[str]) -> None:
        """Find the resources of API versions, and read the definitions of those that are not built in."""
        new = sorted({*api_versions} - {version for version, _ in self._resources})
        for listed in await asyncio.gather(*map(self._discovery.list_version, new)):
            for resource in listed:
                self._resources.setdefault((resource.api_version, resource.kind), resource)
        needed = {(item.identity.api_version, item.identity.kind) for item in self.items} - BUILT_IN.keys()
        custom = [found for key, found in self._resources.items() if key in needed]
        await asyncio.gather(*map(self.read_definition, custom))

    async def _find_redefined(self) -> None:
        """Find objects in versions that only the set's own definitions add; the API may have them in other versions."""
        defined: dict[tuple[str, str], str] = {}
        for item in self.items:
            spec = item.obj.get("spec")
            if item.obj["kind"] == _DEFINITIONS.kind and isinstance(spec, dict):
                names = spec.get("names") if isinstance(spec.get("names"), dict) else {}
                defined[str(spec.get("group")), str((names or {}).get("kind"))] = item.identity.name
        for item in self.items:
            identity = item.identity
            name = defined.get((identity.group, identity.kind))
            if name is None or (identity.api_version, identity.kind) in self._resources:
                continue
            resource = APIResource(identity.api_version, name.partition(".")[0], identity.kind, True)
            await self.read_definition(resource, new=True)
            if name in self._definitions:
                namespaced = self._definitions[name]["spec"].get("scope") == "Namespaced"
                self._resources[identity.api_version, identity.kind] = replace(resource, namespaced=namespaced)

    async def read_definition(self, resource: APIResource, *, new: bool = False) -> None:
        """Read the definition of a kind, once. new: it may be absent."""
        name = resource.full_name
        if name in self._read:
            return
        self._read.add(name)
        definition, reason = None, "it is served by another API server"
        try:
            definition = await self.reader.get_object(_DEFINITIONS, "", name)
        except ReadFailed as error:
            reason, new = str(error), False
        if definition is not None:
            self._definitions[name] = definition
        elif new:
            self.baseline.absent.append(Identity.named(_DEFINITIONS, "", name))
        else:
            self.reader.note_unread(f"definition {name}", reason, "its objects cannot be judged")

    async def _find_resource(self, api_version: str, kind: str) -> APIResource | None:
        """Return the resource of a kind, and read its definition if it has one; None if it is not served."""
        if (api_version, kind) not in self._resources:
            await self._discover_versions([api_version])
        resource = self._resources.get((api_version, kind))
        if resource is not None and (api_version, kind) not in BUILT_IN:
            await self.read_definition(resource)
        return resource

    def _name_objects(self) -> None:
        for item in self.items:
            identity = item.identity
            resource = self._resources.get((identity.api_version, identity.kind))
            namespace = identity.namespace or self.namespace
            if resource is None:
                # the set defines this kind itself, but its namespace may exist
                self._named.setdefault((NAMESPACES, namespace), [])
                continue
            place = self._use_stored_version(resource), namespace if resource.namespaced else ""
            self._named.setdefault(place, []).extend([identity.name] if identity.name else [])

    def _use_stored_version(self, resource: APIResource) -> APIResource:
        """Return the resource in the stored version of custom objects, so that reads need no conversion."""
        definition = self._definitions.get(resource.full_name)
        for version in definition["spec"]["versions"] if definition is not None else ():
            if version.get("storage") and version.get("served"):
                return replace(resource, api_version=f"{resource.group}/{version['name']}")
        return resource

    async def _read_objects(self) -> None:
        async def read_named(resource: APIResource, namespace: str, names: list[str]) -> None:
            if resource.plural == _DEFINITIONS.plural:
                names = [name for name in names if name not in self._read]
            objects, absent, faults = await self.reader.read_named(resource, namespace, names)
            self.baseline.objects += objects
            self.baseline.absent += [Identity.named(resource, namespace, name) for name in absent]
            for name, fault in faults.items():
                self._note_unknown(resource, namespace, name, f"it could not be read: {fault}")

        await asyncio.gather(*(read_named(*collection, names) for collection, names in self._named.items() if names))

    def _note_unknown(self, resource: APIResource, namespace: str, name: str, reason: str) -> None:
        """Record that an object cannot be read, in all versions in which the set may name it."""
        self.baseline.unknown[Identity.named(resource, namespace, name)] = reason
        for item in self.items:
            within = (item.identity.namespace or self.namespace) if resource.namespaced else ""
            placed = item.identity._replace(namespace=within)
            if placed[1:] == (resource.kind, namespace, name):
                self.baseline.unknown[placed] = reason

    async def _read_namespaces(self, names: Sequence[str]) -> None:
        objects, absent, faults = await self.reader.read_named(NAMESPACES, "", names)
        self.baseline.objects += objects
        self.baseline.absent += [Identity.named(NAMESPACES, "", name) for name in absent]
        for name, fault in faults.items():
            # unknown whether it exists; the plan assumes that it does
            self.reader.note_unread(f"namespace {name}", fault, "it is taken for there, without labels")
            metadata = {"name": name, "uid": f"unread-{name}", "creationTimestamp": "1970-01-01T00:00:00Z"}
            head = {"apiVersion": "v1", "kind": "Namespace"}
            self.baseline.objects.append({**head, "metadata": metadata, "status": {"phase": "Active"}})

    async def _read_classes(self, kinds: set[str]) -> None:
        """Read classes and other cluster-scoped objects that limit or complete objects of the set's kinds."""
        resources = [resource for resource, needing in _CLASSES.items() if kinds & needing]
        if any(_has_address(item.obj) for item in self.items if item.identity.kind == "Service"):
            resources.append(_SERVICES)
        effect = "defaults and errors that come of it are not in the plan"
        for objects in await asyncio.gather(*(self.reader.try_list(resource, effect=effect) for resource in resources)):
            self.baseline.objects += objects

    async def _read_accounts(self, namespace: str) -> None:
        effect = "whether service accounts are there is not known"
        self.baseline.objects += await self.reader.try_list(_ACCOUNTS, namespace, effect=effect)


def _has_address(obj: Object) -> bool:
    """Return whether a Service asks for a specific address or port, which another Service may have."""
    spec = obj.get("spec")
    if not isinstance(spec, dict):
        return False
    ports = spec.get("ports")
    has_port = isinstance(ports, list) and any(isinstance(port, dict) and port.get("nodePort") for port in ports)
    return has_port or spec.get("clusterIP") not in (None, "", "None")
