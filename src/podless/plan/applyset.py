"""Prunes by an ApplySet: the parent object, the label of members, and the members that a set no longer has.


Sources: KEP-3659, and k8s.io/kubectl pkg/cmd/apply/applyset.go and applyset_pruner.go
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from podless.fields.patches import APPLY
from podless.plan import planfile
from podless.plan.manifests import Identity, Item, Key
from podless.plan.options import CannotPlan, PlanOptions
from podless.plan.requests import JSON, RequestResult, SendRequest
from podless.plan.result import Action, Change, Plan, UnreadPart
from podless.plan.simulation import Simulation
from podless.plan.writes import read_object
from podless.remote.cluster import Refused
from podless.remote.resources import APIResource, Discovery
from podless.runtime.jsonobject import Object

PART_OF = "applyset.kubernetes.io/part-of"
MANAGER = "kubectl-applyset"
_ID = "applyset.kubernetes.io/id"
_PARENT_TYPE = "applyset.kubernetes.io/is-parent-type"
_TOOLING = "applyset.kubernetes.io/tooling"
_NAMESPACES = "applyset.kubernetes.io/additional-namespaces"
_KINDS = "applyset.kubernetes.io/contains-group-kinds"
_RESOURCES = "applyset.kubernetes.io/contains-group-resources"  # deprecated; kubectl reads it and never writes it
_TOOL = "kubectl"
_BUILT_IN = ("secrets", "configmaps")
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
Locate = Callable[[Item], tuple[APIResource, str] | None]
_LABELLED = f'ApplySet label "{PART_OF}" already set in input data'
_UNKNOWN = "what would be pruned is not in the plan, and the plan cannot be applied"


class BadApplySet(Exception):
    """kubectl rejects this ApplySet. The text is kubectl's."""


class GroupKind(NamedTuple):
    """A kind in any version."""

    group: str
    kind: str

    def __str__(self) -> str:
        return f"{self.kind}.{self.group}" if self.group else self.kind


class ApplySetParent(NamedTuple):
    """The parent object, by which an ApplySet is known. namespace: "" for none."""

    resource: APIResource
    name: str
    namespace: str

    @property
    def id(self) -> str:
        """The value of the label of members."""
        parts = self.name, self.namespace, self.resource.kind, self.resource.group
        hashed = hashlib.sha256(".".join(parts).encode()).digest()
        return f"applyset-{base64.urlsafe_b64encode(hashed).decode().rstrip('=')}-v1"

    @property
    def identity(self) -> Identity:
        """The identity of the object."""
        return Identity.named(self.resource, self.namespace, self.name)

    @property
    def path(self) -> str:
        """The path of the object."""
        return self.resource.path(self.namespace, self.name)

    def __str__(self) -> str:
        return f'"{self.resource.plural}.{self.resource.group}/{self.name}"'


def parse_reference(text: str) -> tuple[str, str, str]:
    """Return resource, group and name of the parent [RESOURCE[.GROUP]/]NAME, a Secret by default. Raises CannotPlan.

    resource: a plural, singular or short name. group: "" for any.
    """
    first, slash, after = text.partition("/")
    name = after if slash else first
    if not name:
        raise CannotPlan(f'invalid parent reference "{text}": name cannot be blank')
    resource, _, group = first.partition(".") if slash else ("secrets", "", "")
    return resource, group, name


def split_kinds(annotations: Mapping[str, str]) -> list[GroupKind] | None:
    """Return the kinds that a parent lists; None without the annotation."""
    if _KINDS not in annotations:
        return None
    kinds = []
    for text in annotations[_KINDS].split(",") if annotations[_KINDS] else ():
        kind, _, group = text.partition(".")
        kinds.append(GroupKind(group, kind))
    return kinds


def split_resources(annotations: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return resource and group of the deprecated annotation of a parent."""
    listed = annotations.get(_RESOURCES)
    names = [text.partition(".") for text in listed.split(",")] if listed else []
    return [(resource, group) for resource, _, group in names]


def split_namespaces(annotations: Mapping[str, str], namespace: str) -> set[str]:
    """Return the namespaces of a parent's members. namespace: of the parent, "" for none."""
    listed = annotations.get(_NAMESPACES)
    return {*(listed.split(",") if listed else ()), *((namespace,) if namespace else ())}


class ApplySet:
    """An ApplySet while a set is applied. change: of the parent. patch: the last patch of the parent."""

    def __init__(self, parent: ApplySetParent, simulation: Simulation, send: SendRequest, plan: Plan) -> None:
        self.parent = parent
        self.change = Change(Action.UNCHANGED, parent.identity, message="the parent of the ApplySet")
        self.patch: Object = {}
        self._simulation = simulation
        self._send = send
        self._plan = plan
        self._first: Object = {}  # the first patch
        self._tooling = f"kubectl/v{plan.release}.0"
        self._kinds: dict[GroupKind, APIResource] = {}  # of the earlier members
        self._namespaces: set[str] = set()
        self._new_kinds: set[GroupKind] = set()  # of the members that are applied now
        self._new_namespaces: set[str] = set()

    @classmethod
    async def find(cls, simulation: Simulation, send: SendRequest, options: PlanOptions, plan: Plan) -> ApplySet:
        """Find the parent. send: of the user who applies the set. Raises CannotPlan for an unusable parent."""
        plural, group, name = parse_reference(options.applyset)
        resource = await simulation.make_discovery().find_resource(plural, group)
        if resource is None:
            location = f"{group}/, Resource={plural}"
            raise CannotPlan(f'invalid parent reference "{options.applyset}": no matches for {location}')
        parent = ApplySetParent(resource, name, options.namespace if resource.namespaced else "")
        await _check_parent(parent, send)
        plan.applyset = parent.id
        return cls(parent, simulation, send, plan)

    async def label_objects(self, items: Sequence[Item], locate: Locate, unknown: Mapping[Identity, str]) -> list[Item]:
        """Label all objects, and add their kinds to the parent. Returns the objects to write after that.

        locate: returns the resource and namespace of an object. unknown: objects that could not be read.
        """
        change, parent = self.change, self.parent
        self._plan.changes.append(change)
        change.before = await read_object(self._simulation.as_admin, parent.resource, parent.namespace, parent.name)
        if change.identity in unknown:
            change.action, change.message = Action.UNKNOWN, unknown[change.identity]
            self._plan.missing.append(UnreadPart(str(change.identity), change.message, _UNKNOWN))
        labelled = [item for item in items if PART_OF in (item.metadata.get("labels") or {})]
        members = [] if labelled else self._add_members(items, locate)
        try:
            if change.action is not Action.UNKNOWN:
                await self._read_parent()
            await self._write_parent(latest=False)
        except BadApplySet as error:
            self._note_refusal(str(error))
            return []
        self._first = self.patch
        for item in labelled[:1]:
            line, column = item.place.find_position("metadata.labels")
            refused = Change(Action.REFUSED, item.identity, item.place.file, line, column, _LABELLED)
            self._plan.changes.append(refused)
        return members

    def _add_members(self, items: Sequence[Item], locate: Locate) -> list[Item]:
        """Return the items with the label of members."""
        defined = dict(filter(None, map(_read_definition, items)))
        for item in items:
            kind, location = GroupKind(item.identity.group, item.identity.kind), locate(item)
            if location is not None or kind in defined:
                stated = item.identity.namespace if defined.get(kind) else ""
                self._new_kinds.add(kind)
                self._new_namespaces |= {location[1] if location is not None else stated} - {""}
        return [Item(label_member(item.obj, self.parent.id), item.place) for item in items]

    async def _read_parent(self) -> None:
        """Read the earlier members' kinds and namespaces from the parent. Raises BadApplySet."""
        try:
            obj = (await self._send("GET", self.parent.path)).obj
        except Refused as refused:
            if refused.code != 404:
                raise BadApplySet(f"failed to fetch ApplySet parent object {self.parent}: {refused}") from None
            if self.parent.resource.plural not in _BUILT_IN:
                raise BadApplySet("custom resource ApplySet parents cannot be created automatically") from None
            return
        metadata = obj["metadata"]
        labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
        self._check_owner(labels, annotations)
        self._tooling = annotations[_TOOLING]
        self._kinds |= [found async for found in self._find_kinds(annotations, self._simulation.make_discovery())]
        self._namespaces = split_namespaces(annotations, self.parent.namespace)

    def _check_owner(self, labels: Mapping[str, str], annotations: Mapping[str, str]) -> None:
        """Raise BadApplySet for a parent of another tool or another set."""
        head = f"ApplySet parent object {self.parent}"
        if _TOOLING not in annotations:
            raise BadApplySet(f'{head} already exists and is missing required annotation "{_TOOLING}"')
        tooling = annotations[_TOOLING]
        tool = tooling.rpartition("/")[0] if "/" in tooling else tooling
        if tool != _TOOL:
            raise BadApplySet(f'{head} already exists and is managed by tooling "{tool}" instead of "{_TOOL}"')
        if _ID not in labels:
            raise BadApplySet(f"{head} exists and does not have required label {_ID}")
        if labels[_ID] != self.parent.id:
            raise BadApplySet(
                f'{head} exists and has incorrect value for label "{_ID}" (got: {labels[_ID]}, want: {self.parent.id})'
            )

    async def _find_kinds(
        self, annotations: Mapping[str, str], discovery: Discovery
    ) -> AsyncIterator[tuple[GroupKind, APIResource]]:
        """Yield the kinds that a parent lists. Raises BadApplySet for one that is not served."""
        head = f"parsing ApplySet annotation on {self.parent}: "
        kinds = split_kinds(annotations)
        for kind in kinds or ():
            resource = await discovery.find_kind(*kind)
            if resource is None:
                location = f'no matches for kind "{kind.kind}" in group "{kind.group}"'
                raise BadApplySet(f'{head}could not find mapping for kind in "{_KINDS}" annotation: {location}')
            yield kind, resource
        if kinds is not None:
            return
        resources = split_resources(annotations)
        if not resources:
            reason = f'kubectl requires the "{_KINDS}" annotation to be set on all ApplySet parent objects'
            raise BadApplySet(head + reason)
        for name, group in resources:
            resource = await discovery.find_resource(name, group)
            if resource is None:
                reason = f'invalid group resource in "{_RESOURCES}" annotation'
                raise BadApplySet(f"{head}{reason}: no matches for {group}/, Resource={name}")
            yield GroupKind(resource.group, resource.kind), resource

    async def find_members(self, applied: Collection[str]) -> list[tuple[APIResource, Object]]:
        """Return the members that the set no longer has. applied: uids of those that it has."""
        members = []
        for resource in self._kinds.values():
            for namespace in sorted(self._namespaces) if resource.namespaced else ("",):
                query = {"labelSelector": f"{PART_OF}={self.parent.id}"}
                try:
                    listed = (await self._send("GET", resource.path(namespace), None, JSON, **query)).obj
                except Refused as refused:
                    self._note_refusal(f"listing {resource.gvk} objects for pruning: {refused}")
                    return []
                head = {"apiVersion": resource.api_version, "kind": resource.kind}
                items = listed.get("items") or ()
                members += [(resource, {**item, **head}) for item in items if item["metadata"]["uid"] not in applied]
        return members

    async def shrink_parent(self) -> None:
        """Reduce the parent's list to the kinds and namespaces of the remaining members."""
        try:
            await self._write_parent(latest=True)
        except BadApplySet as error:
            self._note_refusal(f"apply and prune succeeded, but ApplySet update failed: {error}")

    async def _write_parent(self, *, latest: bool) -> None:
        """Write the parent. latest: list only members that are applied now, no earlier ones. Raises BadApplySet."""
        parent = self.parent
        kinds = self._new_kinds if latest else {*self._kinds, *self._new_kinds}
        namespaces = self._new_namespaces if latest else self._namespaces | self._new_namespaces
        metadata: Object = {
            "name": parent.name,
            "annotations": {
                _TOOLING: self._tooling,
                _KINDS: ",".join(sorted(map(str, kinds))),
                _NAMESPACES: ",".join(sorted(namespaces - {parent.namespace})),
            },
            "labels": {_ID: parent.id},
        }
        if parent.namespace:
            metadata["namespace"] = parent.namespace
        resource = parent.resource
        self.patch = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata}
        try:
            self.change.after = (await write_parent(self._send, parent.path, self.patch)).obj
        except Refused as refused:
            raise BadApplySet(f"failed to update ApplySet: {refused}") from None

    def _note_refusal(self, text: str) -> None:
        if self.change.action is not Action.UNKNOWN:
            self.change.action, self.change.message = Action.REFUSED, text

    def wrap_steps(self, steps: list[Object], revisions: Mapping[Key, str]) -> list[Object]:
        """Return the steps of a plan, with the writes of the parent before and after them."""
        if self.change.action in (Action.REFUSED, Action.UNKNOWN):
            return []
        if not steps and self.change.action is Action.UNCHANGED:
            return []
        change, resource = self.change, self.parent.resource
        first = planfile.make_parent_step(change, resource, self._first, revisions, latest=False)
        last = planfile.make_parent_step(change, resource, self.patch, revisions, latest=True)
        return [first, *steps, *([last] if self.patch != self._first else [])]


async def _check_parent(parent: ApplySetParent, send: SendRequest) -> None:
    """Raise CannotPlan for a parent of an unsupported kind."""
    resource, faults = parent.resource, []
    if resource.namespaced and not parent.namespace:
        faults.append("namespace is required to use namespace-scoped ApplySet")
    if resource.api_version != "v1" or resource.plural not in _BUILT_IN:
        listed: Object = {}
        try:
            listed = (await send("GET", _DEFINITIONS, None, JSON, labelSelector=_PARENT_TYPE)).obj
        except Refused as refused:
            faults.append(f"identifying allowed custom resource parent types: {refused}")
        if resource.full_name not in {definition["metadata"]["name"] for definition in listed.get("items") or ()}:
            name = f"{resource.group}/{resource.version}, Resource={resource.plural}"
            faults.append(f'resource "{name}" is not permitted as an ApplySet parent')
    if faults:
        raise CannotPlan("; ".join(faults))


async def write_parent(send: SendRequest, path: str, patch: Object) -> RequestResult:
    """Apply a patch to a parent; after a conflict once more, with force. Raises Refused."""
    query = {"fieldManager": MANAGER, "fieldValidation": "Strict"}
    try:
        return await send("PATCH", path, patch, APPLY.media, force="false", **query)
    except Refused as refused:
        if refused.code != 409:
            raise
    return await send("PATCH", path, patch, APPLY.media, force="true", **query)


def label_member(obj: Object, value: str) -> Object:
    """Return an object with the label of members. value: the ApplySet's id."""
    metadata = obj.get("metadata") if isinstance(obj.get("metadata"), dict) else {}
    labels = (metadata or {}).get("labels")
    old_labels = labels if isinstance(labels, dict) else {}
    return {**obj, "metadata": {**(metadata or {}), "labels": {**old_labels, PART_OF: value}}}


def is_written(live: Object | None, patch: Object) -> bool:
    """Return whether a parent already has everything that a patch sets."""
    metadata, patched = (live or {}).get("metadata") or {}, patch["metadata"]
    return all(
        (metadata.get(name) or {}).get(key) == value
        for name in ("labels", "annotations")
        for key, value in patched[name].items()
    )


def _read_definition(item: Item) -> tuple[GroupKind, bool] | None:
    """Return the kind that an item defines, and whether it is namespaced."""
    spec = item.obj.get("spec")
    if item.obj["kind"] != "CustomResourceDefinition" or not isinstance(spec, dict):
        return None
    names = spec.get("names")
    kind = names.get("kind") if isinstance(names, dict) else ""
    return GroupKind(str(spec.get("group")), str(kind)), spec.get("scope") == "Namespaced"
