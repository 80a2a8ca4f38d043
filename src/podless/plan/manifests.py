"""The objects of a set, each with its place in a file, and the orders in which clients apply them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import NamedTuple

from podless.check.findings import PositionFinder
from podless.check.sources import SourceFile
from podless.codec import serializer
from podless.codec.documents import Document, split_documents
from podless.codec.positions import Position
from podless.meta.field import At, Path, parse_path
from podless.plan.options import AS_GIVEN, FLUX, HELM, KUBECTL
from podless.remote.resources import APIResource
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object

_SECRET = re.compile(rb"""kind["']?\s*:\s*["']?Secret\b""")
_UNSHOWN = "this document of a Secret cannot be read; the reason may hold a value, so it is not shown"
_KIND = re.compile(rb"^kind:", re.MULTILINE)
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


Key = tuple[str, str, str, str]  # group, kind, namespace and name of an object


class Identity(NamedTuple):
    """The identity of an object. namespace: "" for cluster-scoped objects. name: "" if the server generates one."""

    api_version: str
    kind: str
    namespace: str
    name: str

    @classmethod
    def of(cls, obj: Object) -> Identity:
        """Return the identity of an object, as it states it."""
        metadata = obj.get("metadata")
        stated = metadata if isinstance(metadata, dict) else {}
        namespace, name = (str(stated.get(field) or "") for field in ("namespace", "name"))
        return cls(str(obj.get("apiVersion")), str(obj.get("kind")), namespace, name)

    @classmethod
    def named(cls, resource: APIResource, namespace: str, name: str) -> Identity:
        """Return the identity of an object of a resource."""
        return cls(resource.api_version, resource.kind, namespace, name)

    @property
    def group(self) -> str:
        """The API group, "" for the core one."""
        return self.api_version.rpartition("/")[0]

    @property
    def key(self) -> Key:
        """The key of the object, which is equal in all versions of its kind."""
        return self.group, self.kind, self.namespace, self.name

    def __str__(self) -> str:
        prefix = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind} {prefix}{self.name}"


@dataclass(frozen=True, slots=True)
class ObjectPosition:
    """The place of an object. file: its name, as given.

    at: path in its document, () for the whole document.
    """

    document: Document
    at: Path = ()
    _finders: list[PositionFinder] = field(default_factory=list, compare=False, repr=False)

    @property
    def file(self) -> str:
        """The name of the file."""
        return self.document.file

    def find_position(self, path: At = ()) -> Position:
        """Return line and column of a field, or of the nearest enclosing one that the file has."""
        steps = parse_path(path) if isinstance(path, str) else tuple(path)
        if not steps and not self.at and (match := _KIND.search(self.document.raw)):
            # most objects need only this, and locating all fields takes long
            return Position(self.document.line + self.document.raw.count(b"\n", 0, match.start()) + 1, 1)
        if not self._finders:
            self._finders.append(PositionFinder(self.document))
        if not steps and not self.at:
            return self._finders[0].find_key(("kind",))
        return self._finders[0].find_value((*self.at, *steps))

    def find_fault(self, message: str) -> Position:
        """Return the place of a syntax error, taken from its message."""
        return PositionFinder(self.document).find_fault(message)


@dataclass(frozen=True, slots=True)
class Item:
    """One object of a set."""

    obj: Object
    place: ObjectPosition

    @property
    def metadata(self) -> Object:
        """The metadata, {} if it is missing."""
        metadata = self.obj.get("metadata")
        return metadata if isinstance(metadata, dict) else {}

    @property
    def identity(self) -> Identity:
        """The identity of the object, as the file gives it."""
        return Identity.of(self.obj)


class Unreadable(NamedTuple):
    """A document that is not an object. message: the reason."""

    place: ObjectPosition
    message: str

    @property
    def safe_message(self) -> str:
        """The reason, without the content of a document that may hold a Secret."""
        return _UNSHOWN if _SECRET.search(self.place.document.raw) else self.message


def read_set(sources: Sequence[SourceFile]) -> tuple[list[Item], list[Unreadable]]:
    """Return the objects in files, in order, and the documents that are not objects. Raises CannotCheck."""
    documents = (document for source in sources for document in split_documents(source.name, source.read()))
    results = [result for document in documents for result in _read_document(document)]
    items = [result for result in results if isinstance(result, Item)]
    return items, [result for result in results if isinstance(result, Unreadable)]


def _read_document(document: Document) -> Iterator[Item | Unreadable]:
    try:
        value = document.decode_value()
    except serializer.JSONError as error:
        yield Unreadable(ObjectPosition(document), str(error))
        return
    if value is not None:
        yield from _read_value(value, ObjectPosition(document))


def _read_value(value: object, place: ObjectPosition) -> Iterator[Item | Unreadable]:
    if not isinstance(value, dict):
        yield Unreadable(place, "no object: an object needs apiVersion and kind")
        return
    for name in ("apiVersion", "kind"):
        if not isinstance(value.get(name), str) or not value[name]:
            yield Unreadable(place, f"Object '{name[0].upper()}{name[1:]}' is missing")
            return
    items = value.get("items")
    if value["kind"].endswith("List") and isinstance(items, list):
        for number, item in enumerate(items):
            yield from _read_value(item, ObjectPosition(place.document, (*place.at, "items", number), place._finders))
    else:
        yield Item(value, place)


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
