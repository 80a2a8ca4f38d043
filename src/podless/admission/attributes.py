"""The attributes of a write that admission plugins read and change."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import Any, NamedTuple

from podless.auth.user import User
from podless.codec.serializer import Floats
from podless.kinds.kind import Kind, Version
from podless.meta import names
from podless.meta.field import FieldError
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object
from podless.store import Operation

CREATE, UPDATE, DELETE, CONNECT = "CREATE", "UPDATE", "DELETE", "CONNECT"

# metadata that the garbage collector changes
_COLLECTED = ("ownerReferences", "finalizers", "managedFields", "resourceVersion")
_SCALE = ("autoscaling", "v1", "Scale")


class CombinedCommit(NamedTuple):
    """Operations that are committed together with a write.

    operations: returns the operations for the state that the cache shows now; it is called again after a conflict. It
    can raise an APIError that rejects the write, or AllocationConflict. locks: held during the commit, to avoid
    conflicts within this process.
    """

    locks: tuple[asyncio.Lock, ...]
    operations: Callable[[], Sequence[Operation]]


class AllocationConflict(Exception):
    """Another writer took the resource that was allocated to this object. The caller allocates again."""


def combine_commits(first: CombinedCommit | None, second: CombinedCommit | None) -> CombinedCommit | None:
    """Return the operations and locks of both together."""
    if first is None or second is None:
        return first or second
    return CombinedCommit((*first.locks, *second.locks), lambda: (*first.operations(), *second.operations()))


@dataclass()
class AdmissionAttributes:
    """One write that passes through admission."""

    operation: str  # CREATE, UPDATE, DELETE or CONNECT
    # kind, version, subresource: the target of the write; the object is a Scale for that subresource
    kind: Kind
    version: Version
    subresource: str
    namespace: str  # "" for cluster-scoped objects; a Namespace counts as being in itself
    name: str  # "" if it is not known yet, and for deletecollection
    # the object after the write, None for a delete, the options of a CONNECT; mutating plugins change or replace it
    obj: Object | None
    old: Object | None  # the object before the write, None for a create; read-only
    options: Object | None  # the CreateOptions, UpdateOptions or DeleteOptions, None for a CONNECT
    dry_run: bool
    user: User
    warnings: list[str] = field(default_factory=list)  # texts for the client
    annotations: dict[str, str] = field(default_factory=dict)  # for the audit log
    floats: Floats = field(default_factory=list)  # whole numbers that the client wrote as floats in a custom object
    verb: str = ""  # the API verb, "" for the server's own writes
    # class attributes, because most writes leave them unset and each assignment costs time
    run_again: bool = field(init=False, default=False)  # True in the second round of mutation
    reinvoke: bool = field(init=False, default=False)  # a plugin sets it to request a second round
    changed: bool = field(init=False, default=False)  # a webhook or policy has changed the object
    along: CombinedCommit | None = field(init=False, default=None)  # operations to commit with the write
    size: int = field(init=False, default=0)  # approximate bytes that plugins have added to the object
    # short work that the write needs anyway, which a validating plugin may do while it waits for an answer
    meanwhile: Callable[[], None] | None = field(init=False, default=None)
    reinvocations: dict[str, Any] | None = field(init=False, default=None)  # the plugins' notes for a second round
    # fields that the user may not write, reported together with validation errors
    refused: Sequence[FieldError] = field(init=False, default=())

    def annotate(self, key: str, value: str) -> None:
        """Add an annotation for the audit log. An invalid key, or one that has a value, changes nothing."""
        if key.count("/") == 1 and not names.check_qualified_name(key):
            self.annotations.setdefault(key, value)

    def refuse_fields(self, errors: Iterable[FieldError]) -> None:
        """Add errors of fields that the user may not write."""
        self.refused = (*self.refused, *errors)

    def kind_in(self, version: Version) -> Kind:
        """Return the kind that serves the objects in a version. Its group can differ from that of `kind`."""
        return next((view for view in self.kind.views if view.by_version.get(version.name) is version), self.kind)

    def is_written_in(self, version: Version) -> bool:
        """Return whether the client wrote in this version."""
        return version.name == self.version.name and self.kind_in(version) is self.kind

    @property
    def is_unchanged(self) -> bool:
        """Whether an update changes nothing except metadata that the garbage collector changes."""
        return self.obj is not None and self.old is not None and _strip_object(self.obj) == _strip_object(self.old)

    @property
    def of_namespace(self) -> bool:
        """Whether the object is a Namespace."""
        return self.kind.plural == "namespaces" and not self.kind.group

    @property
    def subresource_kind(self) -> Kind | None:
        """The kind of the object that the subresource takes, such as Eviction. None for Scales and no subresource."""
        subresource = self.kind.find_subresource(self.subresource) if self.subresource else None
        return subresource.kind if subresource is not None else None

    @property
    def needs_conversion(self) -> bool:
        """Whether the object must be converted between versions: Scales, Evictions and so on are the same in all."""
        return self.subresource != "scale" and self.subresource_kind is None

    @property
    def type(self) -> tuple[str, str, str]:
        """Group, version and kind of the object."""
        if self.subresource == "scale":
            return _SCALE
        if self.subresource_kind is not None:
            return self.subresource_kind.group, self.subresource_kind.versions[0].name, self.subresource_kind.kind
        return self.kind.group, self.version.name, self.kind.kind


def _strip_object(obj: Object) -> Object:
    metadata = {name: value for name, value in obj["metadata"].items() if name not in _COLLECTED}
    return {**obj, "metadata": metadata}
