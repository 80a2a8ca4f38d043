"""Prunes by an ApplySet: the parent object, the label of members, and the members that a set no longer has.

ApplySet is kubectl's, and Membership its part in a plan.

Sources: KEP-3659, and k8s.io/kubectl pkg/cmd/apply/applyset.go and applyset_pruner.go
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import field
from typing import NamedTuple

from podless.plan import planfile
from podless.plan.manifests import Identity, Item, Key
from podless.plan.options import CannotPlan, PlanOptions
from podless.plan.requests import APPLY, JSON, RequestResult, SendRequest
from podless.plan.result import Action, Change, Plan, UnreadPart
from podless.plan.simulation import Simulation
from podless.plan.writes import read_object
from podless.remote.cluster import Refused
from podless.remote.resources import APIResource, Discovery
from podless.runtime.dataclass import dataclass
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


class ParentReference(NamedTuple):
    """The parent that `--applyset` names. resource: a plural, singular or short name. group: "" for any."""

    resource: str
    group: str
    name: str


def parse_reference(text: str) -> ParentReference:
    """Return the parent that [RESOURCE[.GROUP]/]NAME refers to; a Secret by default. Raises CannotPlan."""
    first, slash, after = text.partition("/")
    name = after if slash else first
    if not name:
        raise CannotPlan(f'invalid parent reference "{text}": name cannot be blank')
    resource, _, group = first.partition(".") if slash else ("secrets", "", "")
    return ParentReference(resource, group, name)


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


@dataclass(slots=True)
class ApplySet:
    """An ApplySet, known by its parent.

    parent, name, namespace: the parent object. tooling: the tool that the parent belongs to. kinds, namespaces: of the
    earlier members; new_kinds, new_namespaces: of the members that are applied now.
    """

    parent: APIResource
    name: str
    namespace: str
    tooling: str
    kinds: dict[GroupKind, APIResource] = field(default_factory=dict)
    namespaces: set[str] = field(default_factory=set)
    new_kinds: set[GroupKind] = field(default_factory=set)
    new_namespaces: set[str] = field(default_factory=set)

    @property
    def id(self) -> str:
        """The value of the label of members."""
        parts = self.name, self.namespace, self.parent.kind, self.parent.group
        hashed = hashlib.sha256(".".join(parts).encode()).digest()
        return f"applyset-{base64.urlsafe_b64encode(hashed).decode().rstrip('=')}-v1"

    @property
    def _quoted_parent(self) -> str:
        """The parent, as kubectl's messages name it."""
        return f'"{self.parent.plural}.{self.parent.group}/{self.name}"'

    @property
    def path(self) -> str:
        """The path of the parent."""
        return self.parent.path(self.namespace, self.name)

    async def check_parent(self, send: SendRequest) -> None:
        """Check that the parent has a supported kind. Raises BadApplySet."""
        faults = []
        if self.parent.namespaced and not self.namespace:
            faults.append("namespace is required to use namespace-scoped ApplySet")
        if self.parent.api_version != "v1" or self.parent.plural not in _BUILT_IN:
            try:
                listed = (await send("GET", _DEFINITIONS, None, JSON, labelSelector=_PARENT_TYPE)).obj
            except Refused as refused:
                faults.append(f"identifying allowed custom resource parent types: {refused}")
                listed = {}
            allowed = {definition["metadata"]["name"] for definition in listed.get("items") or ()}
            if self.parent.full_name not in allowed:
                resource = f"{self.parent.group}/{self.parent.version}, Resource={self.parent.plural}"
                faults.append(f'resource "{resource}" is not permitted as an ApplySet parent')
        if faults:
            raise BadApplySet("; ".join(faults))

    async def read_parent(self, send: SendRequest, discovery: Discovery) -> None:
        """Read the members' kinds and namespaces from the parent. Raises BadApplySet."""
        try:
            obj = (await send("GET", self.path)).obj
        except Refused as refused:
            if refused.code != 404:
                raise BadApplySet(f"failed to fetch ApplySet parent object {self._quoted_parent}: {refused}") from None
            if self.parent.plural not in _BUILT_IN:
                raise BadApplySet("custom resource ApplySet parents cannot be created automatically") from None
            return
        metadata = obj["metadata"]
        labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
        self._check_owner(labels, annotations)
        self.tooling = annotations[_TOOLING]
        self.kinds |= [found async for found in self._find_kinds(annotations, discovery)]
        self.namespaces = split_namespaces(annotations, self.namespace)

    def _check_owner(self, labels: Mapping[str, str], annotations: Mapping[str, str]) -> None:
        """Raise BadApplySet for a parent of another tool or another set."""
        head = f"ApplySet parent object {self._quoted_parent}"
        if _TOOLING not in annotations:
            raise BadApplySet(f'{head} already exists and is missing required annotation "{_TOOLING}"')
        tooling = annotations[_TOOLING]
        tool = tooling.rpartition("/")[0] if "/" in tooling else tooling
        if tool != _TOOL:
            raise BadApplySet(f'{head} already exists and is managed by tooling "{tool}" instead of "{_TOOL}"')
        if _ID not in labels:
            raise BadApplySet(f"{head} exists and does not have required label {_ID}")
        if labels[_ID] != self.id:
            raise BadApplySet(
                f'{head} exists and has incorrect value for label "{_ID}" (got: {labels[_ID]}, want: {self.id})'
            )

    async def _find_kinds(
        self, annotations: Mapping[str, str], discovery: Discovery
    ) -> AsyncIterator[tuple[GroupKind, APIResource]]:
        """Yield the kinds that a parent lists. Raises BadApplySet for one that is not served."""
        head = f"parsing ApplySet annotation on {self._quoted_parent}: "
        kinds = split_kinds(annotations)
        for kind in kinds or ():
            endpoint = await discovery.find_kind(*kind)
            if endpoint is None:
                location = f'no matches for kind "{kind.kind}" in group "{kind.group}"'
                raise BadApplySet(f'{head}could not find mapping for kind in "{_KINDS}" annotation: {location}')
            yield kind, endpoint
        if kinds is not None:
            return
        resources = split_resources(annotations)
        if not resources:
            reason = f'kubectl requires the "{_KINDS}" annotation to be set on all ApplySet parent objects'
            raise BadApplySet(head + reason)
        for name, group in resources:
            endpoint = await discovery.find_resource(name, group)
            if endpoint is None:
                reason = f'invalid group resource in "{_RESOURCES}" annotation'
                raise BadApplySet(f"{head}{reason}: no matches for {group}/, Resource={name}")
            yield GroupKind(endpoint.group, endpoint.kind), endpoint

    def add_member(self, kind: GroupKind, namespace: str) -> None:
        """Record that an object is applied. namespace: "" for none."""
        self.new_kinds.add(kind)
        if namespace:
            self.new_namespaces.add(namespace)

    def make_patch(self, *, latest: bool) -> Object:
        """Return the patch for the parent. latest: list only members that are applied now, without earlier ones."""
        kinds = self.new_kinds if latest else {*self.kinds, *self.new_kinds}
        namespaces = self.new_namespaces if latest else self.namespaces | self.new_namespaces
        metadata: Object = {
            "name": self.name,
            "annotations": {
                _TOOLING: self.tooling,
                _KINDS: ",".join(sorted(map(str, kinds))),
                _NAMESPACES: ",".join(sorted(namespaces - {self.namespace})),
            },
            "labels": {_ID: self.id},
        }
        if self.namespace:
            metadata["namespace"] = self.namespace
        return {"apiVersion": self.parent.api_version, "kind": self.parent.kind, "metadata": metadata}

    async def find_members(self, send: SendRequest, applied: Collection[str]) -> list[tuple[APIResource, Object]]:
        """Return the members that are not applied now. applied: uids. Raises BadApplySet."""
        members = []
        for endpoint in self.kinds.values():
            for namespace in sorted(self.namespaces) if endpoint.namespaced else ("",):
                try:
                    query = {"labelSelector": f"{PART_OF}={self.id}"}
                    listed = (await send("GET", endpoint.path(namespace), None, JSON, **query)).obj
                except Refused as refused:
                    raise BadApplySet(f"listing {endpoint.gvk} objects for pruning: {refused}") from None
                head = {"apiVersion": endpoint.api_version, "kind": endpoint.kind}
                items = listed.get("items") or ()
                members += [(endpoint, {**item, **head}) for item in items if item["metadata"]["uid"] not in applied]
        return members


async def write_parent(send: SendRequest, path: str, patch: Object) -> RequestResult:
    """Apply a patch to a parent; after a conflict once more, with force. Raises Refused."""
    query = {"fieldManager": MANAGER, "fieldValidation": "Strict"}
    try:
        return await send("PATCH", path, patch, APPLY, force="false", **query)
    except Refused as refused:
        if refused.code != 409:
            raise
    return await send("PATCH", path, patch, APPLY, force="true", **query)


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


class Membership:
    """An ApplySet while a set is applied. change: of the parent. patch: the last patch of the parent."""

    def __init__(self, simulation: Simulation, send: SendRequest, applyset: ApplySet, plan: Plan) -> None:
        parent = applyset.parent
        identity = Identity(parent.api_version, parent.kind, applyset.namespace, applyset.name)
        self.change = Change(Action.UNCHANGED, identity, message="the parent of the ApplySet")
        self.patch: Object = {}
        self.endpoint = parent
        self._simulation = simulation
        self._send = send
        self._applyset = applyset
        self._plan = plan
        self._first: Object = {}

    @classmethod
    async def find_parent(
        cls, simulation: Simulation, send: SendRequest, options: PlanOptions, plan: Plan
    ) -> Membership:
        """Find the parent. send: of the user who applies the set. Raises CannotPlan for an unusable parent."""
        reference = parse_reference(options.applyset)
        endpoint = await simulation.make_discovery().find_resource(reference.resource, reference.group)
        if endpoint is None:
            location = f"{reference.group}/, Resource={reference.resource}"
            raise CannotPlan(f'invalid parent reference "{options.applyset}": no matches for {location}')
        namespace = options.namespace if endpoint.namespaced else ""
        applyset = ApplySet(endpoint, reference.name, namespace, f"kubectl/v{plan.release}.0")
        try:
            await applyset.check_parent(send)
        except BadApplySet as error:
            raise CannotPlan(str(error)) from None
        plan.applyset = applyset.id
        return cls(simulation, send, applyset, plan)

    async def label_objects(self, items: Sequence[Item], locate: Locate, unknown: Mapping[Identity, str]) -> list[Item]:
        """Label all objects, and add their kinds to the parent. Returns the objects to write after that.

        locate: returns the endpoint and namespace of an object. unknown: objects that could not be read.
        """
        change, applyset = self.change, self._applyset
        self._plan.changes.append(change)
        change.before = await read_object(self._simulation.as_admin, self.endpoint, applyset.namespace, applyset.name)
        if change.identity in unknown:
            change.action, change.message = Action.UNKNOWN, unknown[change.identity]
            self._plan.missing.append(UnreadPart(str(change.identity), change.message, _UNKNOWN))
        labelled = [item for item in items if PART_OF in (item.metadata.get("labels") or {})]
        members = [] if labelled else self._add_members(items, locate)
        try:
            if change.action is not Action.UNKNOWN:
                await applyset.read_parent(self._send, self._simulation.make_discovery())
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
            kind = GroupKind(item.identity.group, item.identity.kind)
            location = locate(item)
            if location is not None:
                self._applyset.add_member(kind, location[1])
            elif kind in defined:
                self._applyset.add_member(kind, item.identity.namespace if defined[kind] else "")
        return [Item(label_member(item.obj, self._applyset.id), item.place) for item in items]

    async def find_members(self, applied: Collection[str]) -> list[tuple[APIResource, Object]]:
        """Return the members that the set no longer has. applied: uids of those that it has."""
        try:
            return await self._applyset.find_members(self._send, applied)
        except BadApplySet as error:
            self._note_refusal(str(error))
            return []

    async def shrink_parent(self) -> None:
        """Reduce the parent's list to the kinds and namespaces of the remaining members."""
        try:
            await self._write_parent(latest=True)
        except BadApplySet as error:
            self._note_refusal(f"apply and prune succeeded, but ApplySet update failed: {error}")

    async def _write_parent(self, *, latest: bool) -> None:
        """Write the parent. Raises BadApplySet."""
        self.patch = self._applyset.make_patch(latest=latest)
        try:
            answered = await write_parent(self._send, self._applyset.path, self.patch)
        except Refused as refused:
            raise BadApplySet(f"failed to update ApplySet: {refused}") from None
        self.change.after = answered.obj

    def _note_refusal(self, text: str) -> None:
        if self.change.action is not Action.UNKNOWN:
            self.change.action, self.change.message = Action.REFUSED, text

    def wrap_steps(self, steps: list[Object], revisions: Mapping[Key, str]) -> list[Object]:
        """Return the steps of a plan, with the writes of the parent before and after them."""
        if self.change.action in (Action.REFUSED, Action.UNKNOWN):
            return []
        if not steps and self.change.action is Action.UNCHANGED:
            return []
        first = planfile.make_parent_step(self.change, self.endpoint, self._first, revisions, latest=False)
        last = planfile.make_parent_step(self.change, self.endpoint, self.patch, revisions, latest=True)
        return [first, *steps, *([last] if self.patch != self._first else [])]


def _read_definition(item: Item) -> tuple[GroupKind, bool] | None:
    """Return the kind that an item defines, and whether it is namespaced."""
    spec = item.obj.get("spec")
    if item.obj["kind"] != "CustomResourceDefinition" or not isinstance(spec, dict):
        return None
    names = spec.get("names")
    kind = names.get("kind") if isinstance(names, dict) else ""
    return GroupKind(str(spec.get("group")), str(kind)), spec.get("scope") == "Namespaced"
