"""The order of creation: definitions, namespaces, objects that others depend on, owners, then the rest.

One scan of all documents computes it; it keeps one byte for each document, and the uids of owners.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence

from podless.cli.transfer.documents import Documents
from podless.cli.transfer.renew import kind_of, made_by_server
from podless.codec.documents import BadDocument, Document
from podless.meta.selectors import LabelSelector
from podless.remote.resources import APIResource
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object

DEFINITION = ("apiextensions.k8s.io", "CustomResourceDefinition")
NAMESPACE = ("", "Namespace")
_EARLY_KINDS = {
    ("", "ServiceAccount"),
    ("", "Node"),
    ("scheduling.k8s.io", "PriorityClass"),
    ("node.k8s.io", "RuntimeClass"),
    ("storage.k8s.io", "StorageClass"),
    ("networking.k8s.io", "IngressClass"),
}
# these validate, count or redirect objects, so they are created last
_LATE_KINDS = {("", "LimitRange"), ("", "ResourceQuota"), ("apiregistration.k8s.io", "APIService")}
_LATE_GROUP = "admissionregistration.k8s.io"
_FIRST_LEVEL, _LAST = 3, 250
_DEEPEST = _LAST - _FIRST_LEVEL - 1
# markers of documents: nothing to create, several stages, unknown yet
_NO_STAGE, _SEVERAL, _UNKNOWN = 255, 254, 253


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter for objects: kinds (KIND or KIND.GROUP, in lower case), namespaces, labels."""

    kinds: Sequence[str] = ()
    namespaces: Sequence[str] = ()
    labels: LabelSelector | None = None

    def selects(self, obj: Object) -> bool:
        """Return whether the filter selects an object."""
        metadata = obj["metadata"]
        if self.namespaces and metadata.get("namespace") not in self.namespaces:
            return False
        if self.labels is not None and not self.labels.matches(metadata.get("labels") or {}):
            return False
        return not self.kinds or not self.kinds_of(obj).isdisjoint(self.kinds)

    @staticmethod
    def kinds_of(obj: Object) -> set[str]:
        """Return the names that select an object's kind."""
        group, kind = kind_of(obj)
        return {kind.lower(), f"{kind.lower()}.{group}"} if group else {kind.lower()}

    @property
    def selects_all(self) -> bool:
        """Whether the filter selects all objects."""
        return not self.kinds and not self.namespaces and self.labels is None


class Order:
    """The order of the documents. total: objects to create. owners: the owners of each owner, by uid.

    selection: the filter. warn: called for documents that cannot be read.
    """

    def __init__(self, documents: Documents, selection: Filter, warn: Callable[[str], None]) -> None:
        self.total = 0
        self.owners: dict[str, list[str]] = {}
        self._selection = selection
        # group and kind of objects, for their definitions; "" and the name of a namespace
        self._needed: set[tuple[str, str]] = set()
        self._stages = array("B")
        self._depths: dict[str, int] = {}
        self._scan_documents(documents, warn)
        self._settle_stages(documents)

    def _scan_documents(self, documents: Documents, warn: Callable[[str], None]) -> None:
        """Read all documents once. Those whose stage depends on other documents are left for `_settle_stages`."""
        named: set[str] = set()
        hashes = array("q")  # hashes, to save memory if there are very many uids
        for document in documents:
            stages: list[int] = []
            try:
                for obj in document.read_objects(named=True):
                    hashes.append(hash(obj["metadata"].get("uid")))
                    named.update(uid_hash["uid"] for uid_hash in owner_references(obj))
                    if self._selection.selects(obj):
                        self._needed |= {kind_of(obj), ("", obj["metadata"].get("namespace") or "")}
                    stages.append(self._guess_stage(obj))
            except BadDocument as error:
                warn(str(error))
            stage = _document_stage(set(stages))
            self._stages.append(stage)
            self.total += len(stages) if stage < _UNKNOWN else 0
        by_hash = {hash(uid): uid for uid in named}
        self.owners = {by_hash[uid_hash]: [] for uid_hash in hashes if uid_hash in by_hash}

    def _guess_stage(self, obj: Object) -> int:
        up_to_others = not self._selection.selects_all and kind_of(obj) in (DEFINITION, NAMESPACE)
        if owner_references(obj) or up_to_others:
            return _UNKNOWN
        return self.find_stage(obj) if self.includes(obj) else _NO_STAGE

    def _settle_stages(self, documents: Documents) -> None:
        """Read the remaining documents again, and set their stages."""
        if self.owners:
            for obj in self._read_unsettled(documents):
                if (uid := obj["metadata"].get("uid")) in self.owners:
                    self.owners[uid] = [owner["uid"] for owner in owner_references(obj)]
            self._measure_depths()
        for number, document in enumerate(documents):
            if self._stages[number] in (_UNKNOWN, _SEVERAL):
                stages = [self.find_stage(obj) for obj in _try_read(document) if self.includes(obj)]
                self.total += len(stages)
                self._stages[number] = _document_stage(set(stages))

    def _read_unsettled(self, documents: Documents) -> Iterator[Object]:
        for document, stage in zip(documents, self._stages, strict=True):
            if stage in (_UNKNOWN, _SEVERAL):
                yield from _try_read(document)

    def includes(self, obj: Object) -> bool:
        """Return whether to import an object."""
        if made_by_server(obj) or obj["metadata"].get("deletionTimestamp"):
            return False
        if self._selection.selects_all or self._selection.selects(obj):
            return True
        kind = kind_of(obj)
        if kind == NAMESPACE:
            return ("", obj["metadata"]["name"]) in self._needed
        if kind == DEFINITION:
            spec = obj.get("spec") or {}
            return (spec.get("group"), (spec.get("names") or {}).get("kind")) in self._needed
        return False

    def _measure_depths(self) -> None:
        """Compute the depth of each owner in the chain of owners. Owners in a cycle get the maximum."""
        for start in self.owners:
            path = dict.fromkeys([start])
            while path:
                uid = next(reversed(path))
                owners = [owner for owner in self.owners[uid] if owner in self.owners]
                unmeasured = [owner for owner in owners if owner not in self._depths and owner not in path]
                if unmeasured and len(path) <= _DEEPEST:
                    path[unmeasured[0]] = None
                else:
                    depths = [self._depths.get(owner, 0) + 1 for owner in owners]
                    self._depths[uid] = min(max(depths, default=0), _DEEPEST)
                    path.popitem()

    def find_stage(self, obj: Object) -> int:
        """Return the stage in which an object is created."""
        kind = kind_of(obj)
        if kind == DEFINITION:
            return 0
        if kind == NAMESPACE:
            return 1
        if kind in _LATE_KINDS or kind[0] == _LATE_GROUP:
            return _LAST
        depths = [self._depths[owner["uid"]] + 1 for owner in owner_references(obj) if owner["uid"] in self._depths]
        if kind in _EARLY_KINDS and not depths:
            return 2
        return _FIRST_LEVEL + min(max(depths, default=0), _DEEPEST)

    def list_stages(self) -> list[int]:
        """Return all stages in order. Some can turn out to be empty."""
        stages = set(self._stages) - {_NO_STAGE}
        if _SEVERAL in stages:
            deepest = max(self._depths.values(), default=-1) + 1
            stages |= {0, 1, 2, _LAST, *range(_FIRST_LEVEL, _FIRST_LEVEL + min(deepest, _DEEPEST) + 1)}
        return sorted(stages - {_SEVERAL})

    def read_stage(self, documents: Documents, stage: int) -> Iterator[Object]:
        """Yield the objects of a stage."""
        for document, document_stage in zip(documents, self._stages, strict=True):
            if document_stage in (stage, _SEVERAL):
                for obj in _try_read(document):
                    if self.includes(obj) and self.find_stage(obj) == stage:
                        yield obj


def _document_stage(stages: set[int]) -> int:
    """Return the stage of a document, given those of its objects."""
    return _NO_STAGE if not stages else next(iter(stages)) if len(stages) == 1 else _SEVERAL


def owner_references(obj: Object) -> list[Object]:
    """Return the owner references of an object."""
    references = obj["metadata"].get("ownerReferences")
    return (
        [reference for reference in references if isinstance(reference, dict) and reference.get("uid")]
        if isinstance(references, list)
        else []
    )


def choose_kinds(resources: Iterable[APIResource], definitions: Iterable[Object], names: Sequence[str]) -> list[str]:
    """Return all kinds with these names, as KIND.GROUP in lower case. Several groups can have a kind of the same name.

    names: plural, PLURAL.GROUP, kind or short name. Raises LookupError.
    """
    candidates = [*resources, *map(_resource_of_definition, definitions)]
    kinds: list[str] = []
    for name in map(str.lower, names):
        chosen = [resource for resource in candidates if resource.is_called(name)]
        if not chosen:
            raise LookupError(f"--kind {name}: neither the server nor the files have such a resource")
        kinds += [".".join(filter(None, (resource.kind.lower(), resource.group))) for resource in chosen]
    return kinds


def _resource_of_definition(definition: Object) -> APIResource:
    spec = definition.get("spec") or {}
    names = spec.get("names") or {}
    called = frozenset(filter(None, (names.get("plural"), names.get("singular"), *(names.get("shortNames") or ()))))
    return APIResource(f"{spec.get('group') or ''}/", "", str(names.get("kind") or ""), True, names=called)


def read_definitions(documents: Documents) -> Iterator[Object]:
    """Yield the CustomResourceDefinitions in documents. Unreadable documents are skipped."""
    for document in documents:
        if DEFINITION[1].encode() in document.raw:
            yield from (obj for obj in _try_read(document) if kind_of(obj) == DEFINITION)


def _try_read(document: Document) -> list[Object]:
    try:
        return document.read_objects(named=True)
    except BadDocument:
        return []
