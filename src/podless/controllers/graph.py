"""The graph of owners and dependents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple


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
    """Objects by their keys in the store, and owners as their references name them."""

    def __init__(self) -> None:
        self._owners: dict[str, tuple[GraphOwner, ...]] = {}
        self._dependents: dict[tuple[str, str, str], dict[str, None]] = {}

    def put_owners(self, key: str, owners: Iterable[GraphOwner]) -> None:
        """Set the owners of an object."""
        self.remove_object(key)
        found = tuple(owners)
        if found:
            self._owners[key] = found
            for owner in found:
                self._dependents.setdefault(owner[:3], {})[key] = None

    def remove_object(self, key: str) -> tuple[GraphOwner, ...]:
        """Remove an object that was deleted or has no owners. Returns its former owners."""
        owners = self._owners.pop(key, ())
        for owner in owners:
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
        wanted = (group, kind, name)
        keys = self._dependents.get(wanted, ())
        return [(key, owner) for key in keys for owner in self._owners[key] if owner[:3] == wanted]
