"""Prunes by an ApplySet: the parent object, the label of members, and the members that a set no longer has.

Sources: KEP-3659, and k8s.io/kubectl pkg/cmd/apply/applyset.go and applyset_pruner.go
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import field
from typing import NamedTuple

from podless.plan.options import CannotPlan
from podless.plan.requests import APPLY, JSON, RequestResult, SendRequest
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
