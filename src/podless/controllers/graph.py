"""The graph of owners and dependents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from podless.runtime.meter import each_part


class GraphOwner(NamedTuple):
    """One of an object's ownerReferences, without the version. blocks: the owner's foreground delete waits for it."""

    group: str
    kind: str
    name: str
    uid: str
    blocks: bool

    @classmethod
    def read_reference(cls, reference: dict[str, Any]) -> GraphOwner:
        """Parse an entry of metadata.ownerReferences."""
        group = str(reference.get("apiVersion") or "").rpartition("/")[0]
        kind, name, uid = (str(reference.get(field) or "") for field in ("kind", "name", "uid"))
        return cls(group, kind, name, uid, bool(reference.get("blockOwnerDeletion")))


class Graph:
    """Objects by their keys in the store, and owners as their references name them.

    Methods charge the meter for each reference. One that changes the graph must end before the next one starts.
    """

    def __init__(self) -> None:
        self._owners: dict[str, tuple[GraphOwner, ...]] = {}
        # by owner, the keys of its dependents with their references to it
        self._dependents: dict[tuple[str, str, str], dict[str, list[GraphOwner]]] = {}

    def put_owners(self, key: str, owners: Sequence[GraphOwner]) -> None:
        """Set the owners of an object."""
        self.remove_object(key)
        if owners:
            self._owners[key] = tuple(owners)
            for part in each_part(owners):
                for owner in part:
                    self._dependents.setdefault(owner[:3], {}).setdefault(key, []).append(owner)

    def remove_object(self, key: str) -> tuple[GraphOwner, ...]:
        """Remove an object that was deleted or has no owners. Returns its former owners."""
        owners = self._owners.pop(key, ())
        for part in each_part(owners):
            for owner in part:
                known = self._dependents.get(owner[:3])
                if known is not None:
                    known.pop(key, None)
                    if not known:
                        del self._dependents[owner[:3]]
        return owners

    def owners(self, key: str) -> tuple[GraphOwner, ...]:
        """Return the owners of an object."""
        return self._owners.get(key, ())

    def dependents(self, group: str, kind: str, name: str) -> list[tuple[str, GraphOwner]]:
        """Return the keys of objects that reference this owner, with their references; uids can differ."""
        known = list(self._dependents.get((group, kind, name), {}).items())
        return [(key, owner) for part in each_part(known) for key, owners in part for owner in owners]

    def count_dependents(self, group: str, kind: str, name: str) -> int:
        """Return the number of objects that reference this owner."""
        return len(self._dependents.get((group, kind, name), ()))
