"""What admission is asked about: one write, as it is to be and as it was."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from podless.auth.user import User
from podless.codec.serializer import Floats
from podless.kinds.kind import Kind, Version
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.store import Operation

CREATE, UPDATE, DELETE, CONNECT = "CREATE", "UPDATE", "DELETE", "CONNECT"

_SCALE = ("autoscaling", "v1", "Scale")


class Along(NamedTuple):
    """What is committed together with a write, or not at all.

    operations: makes it, of what the cache shows now; called again where others were quicker. Raises what refuses the
    write, or AllocationConflict. locks: held meanwhile, so that writers of one process do not get in each other's way.
    """

    locks: tuple[asyncio.Lock, ...]
    operations: Callable[[], Sequence[Operation]]


class AllocationConflict(Exception):
    """Another writer took what was allocated to an object: allocate again."""


def join_along(one: Along | None, other: Along | None) -> Along | None:
    """What two of them want to be committed with a write."""
    if one is None or other is None:
        return one or other
    return Along((*one.locks, *other.locks), lambda: (*one.operations(), *other.operations()))


@dataclass(slots=True)
class AdmissionAttributes:
    """One write.

    operation: CREATE, UPDATE, DELETE or CONNECT. kind, version, subresource: what is written to; the object is a Scale
    where the subresource is one. namespace: a namespace is in itself, what is cluster-scoped in none. name: "" where it
    is not known yet, and for the delete of a collection. obj: as it is to be, None for a delete, and the options of a
    CONNECT; plugins that mutate change it or put another one here. old: as it is, None for a create; nobody may change
    it. options: the CreateOptions, UpdateOptions or DeleteOptions, None for a CONNECT. warnings: texts for the client.
    annotations: for the audit log. again: whether mutation goes round a second time; reinvoke: whether a plugin asks
    for that. rounds: what a plugin keeps for that. along: what plugins want to be committed with the write. floats:
    whole numbers that a custom object was sent with as floats. size: bytes that plugins have put into the object,
    about. verb: of the API, "" for what a server does itself. refused: what of the object the user may not write, told
    together with what is wrong with it.
    """

    operation: str
    kind: Kind
    version: Version
    subresource: str
    namespace: str
    name: str
    obj: Object | None
    old: Object | None
    options: Object | None
    dry_run: bool
    user: User
    warnings: list[str] = field(default_factory=list)
    annotations: dict[str, str] = field(default_factory=dict)
    again: bool = False
    reinvoke: bool = False
    reinvocations: dict[str, Any] = field(default_factory=dict)
    along: Along | None = None
    floats: Floats = field(default_factory=list)
    size: int = 0
    verb: str = ""
    refused: list[FieldError] = field(default_factory=list)

    def kind_in(self, version: Version) -> Kind:
        """The kind that shows the objects in a version, which may be of another group than the one written to."""
        return next((view for view in self.kind.views if view.by_version.get(version.name) is version), self.kind)

    def written(self, version: Version) -> bool:
        """Whether a version is the one that is written to."""
        return version.name == self.version.name and self.kind_in(version) is self.kind

    @property
    def of_namespace(self) -> bool:
        """Whether the object is a namespace."""
        return self.kind.plural == "namespaces" and not self.kind.group

    @property
    def own(self) -> Kind | None:
        """The kind of the object, where a subresource has objects of its own and they are no Scales."""
        known = self.kind.subresource(self.subresource) if self.subresource else None
        return known.kind if known is not None else None

    @property
    def converted(self) -> bool:
        """Whether the object is another in each version of its resource."""
        return self.subresource != "scale" and self.own is None

    @property
    def type(self) -> tuple[str, str, str]:
        """Group, version and kind of the object."""
        if self.subresource == "scale":
            return _SCALE
        if self.own is not None:
            return self.own.group, self.own.versions[0].name, self.own.kind
        return self.kind.group, self.version.name, self.kind.kind
