"""Accepts the names of definitions, and sets their conditions.

Within a group, names are accepted one definition after the other. Source: the naming and establishing controllers of
k8s.io/apiextensions-apiserver.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from podless.admission import CombinedCommit
from podless.apis.apiextensions.definition import status as rules
from podless.apis.apiextensions.definition.webhook import bundle_fault
from podless.apis.apiextensions.group import DEFINITIONS
from podless.cache.events import CacheEvent
from podless.cache.watchcache import WatchCache
from podless.controllers.write import SELF, report_status, with_status
from podless.meta.validation import is_condition_true
from podless.runtime import clock
from podless.runtime.jsonobject import Object
from podless.store import FOLLOWING, Operation, ResourceKeys, StoredValue, keys
from podless.verbs import storage
from podless.verbs.call import API
from podless.verbs.followup import FollowUpCommits

_INSTALLING = ("False", "Installing", "the initial names have been accepted")
_ESTABLISHED = ("True", "InitialNamesAccepted", "the initial names have been accepted")
_BAD_BUNDLE = ("False", "InvalidCABundle", "The conversion webhook CABundle is invalid")
_NOT_ACCEPTED = ("False", "NotAccepted", "not all names are accepted")
_NAMES = ResourceKeys(f"{keys.OWN}names/", namespaced=False)


class _NamesState(NamedTuple):
    """The part of a definition's status that other definitions of its group depend on."""

    names: Object
    accepted: bool

    @classmethod
    def from_definition(cls, definition: Object) -> _NamesState:
        names = (definition.get("status") or {}).get("acceptedNames") or {}
        return cls(names, is_condition_true(definition, "NamesAccepted"))


class NameAcceptance:
    """Knows the accepted names of each group, and accepts names of definitions."""

    def __init__(self, api: API) -> None:
        self._api = api
        self._collection: WatchCache = api.collection(DEFINITIONS)
        self._names = api.cache.collection(_NAMES)
        self._groups: dict[str, dict[str, _NamesState | None]] = {}  # by group and key; None if not read yet

    async def load(self) -> None:
        """Load the keys of groups."""
        await self._names.load()

    def note_event(self, event: CacheEvent) -> None:
        """Record a definition that is stored, was changed or deleted."""
        if event.after is None:
            self._group_definitions(event.key).pop(event.key, None)
        else:
            self._group_definitions(event.key)[event.key] = None

    def list_group(self, key: str) -> list[str]:
        """Return the definitions of the key's group."""
        return list(self._group_definitions(key))

    def list_unnamed(self, key: str) -> list[str]:
        """Return the definitions of the key's group that lack a name, which can be free now."""
        states = ((each_key, self._read_state(each_key)) for each_key in self.list_group(key))
        return [each_key for each_key, state in states if state is not None and not state.accepted]

    def note_state(self, key: str, definition: Object) -> None:
        """Record the state of a definition that the caller has read."""
        self._group_definitions(key)[key] = _NamesState.from_definition(definition)

    def _read_state(self, key: str) -> _NamesState | None:
        """Return the state of a definition, None if it is gone."""
        group = self._group_definitions(key)
        state = group.get(key)
        if state is None and (entry := self._collection.get(key)) is not None:
            state = _NamesState.from_definition(entry.decode())
            if self._collection.get(key) is entry:  # decoding can be suspended
                group[key] = state
        return state

    async def accept_names(self, key: str, definition: Object) -> Object | None:
        """Accept or reject the names, then establish. Each stage is a separate write, as in kube-apiserver.

        Returns the definition after that, None if it was deleted.
        """
        claim = _GroupClaim(self._names, _group_of(key))

        def set_names(obj: Object) -> Object:
            claim.read_names()
            before = obj["status"].get("acceptedNames")
            named = self._accept_definition(key, obj)
            claim.is_read = named["status"]["acceptedNames"] != before
            return named

        write = partial(report_status, self._api, DEFINITIONS, key, hooks=False)
        stored = await write(set_names, SELF, definition, along=claim.along)
        if stored is not None and not is_condition_true(stored, "Established"):
            # the first of the two writes has set the fields of both conditions
            owned = not definition["status"].get("conditions")
            stored = await write(_set_established, "" if owned else SELF, stored)
        return stored

    def follow_up_commits(self, key: str, definition: Object) -> FollowUpCommits | None:
        claim = _GroupClaim(self._names, _group_of(key))
        claim.read_names()
        claim.is_read = True
        named = with_status(DEFINITIONS, definition, partial(self._accept_definition, key), SELF)
        if not is_condition_true(named, "NamesAccepted"):
            return None
        established = with_status(DEFINITIONS, named, _set_established, "")
        accept, establish = (
            Operation(key, storage.encode_stored(DEFINITIONS, obj), FOLLOWING) for obj in (named, established)
        )
        return FollowUpCommits(((accept, *claim.along.operations()), (establish,)), established)

    def _other_definitions(self, key: str) -> list[Object]:
        """Return the other definitions of the group, reduced to their names."""
        states = (self._read_state(each_key) for each_key in self.list_group(key) if each_key != key)
        return [{"status": {"acceptedNames": state.names if state is not None else None}} for state in states]

    def _accept_definition(self, key: str, obj: Object) -> Object:
        now = clock.now()
        if not rules.has_accepted_names(obj):
            accepted, verdict = rules.accepted_names(obj, self._other_definitions(key))
            obj.setdefault("status", {})["acceptedNames"] = accepted
            rules.set_condition(obj, verdict["type"], verdict["status"], verdict["reason"], verdict["message"], now)
            if not is_condition_true(obj, "Established"):
                stage = _INSTALLING if verdict["status"] == "True" else _NOT_ACCEPTED
                rules.set_condition(obj, "Established", *stage, now)
        rules.set_approval(obj, now)
        rules.set_structural(obj, now)
        return obj

    def _group_definitions(self, key: str) -> dict[str, _NamesState | None]:
        """Return the definitions of the group of a definition."""
        return self._groups.setdefault(_group_of(key), {})


class _GroupClaim:
    """Serializes the acceptance of names within a group among all servers, with a key that each acceptance writes.

    A server that did not write it last reads the names again. is_read: new names are accepted.
    """

    def __init__(self, names: WatchCache, group: str) -> None:
        self._names = names
        self._key = names.keys.key("", group)
        self._revision = 0
        self.is_read = False
        self._lock = asyncio.Lock()

    @property
    def along(self) -> CombinedCommit:
        """The key, for the commit of the names."""
        return CombinedCommit((self._lock,), self._claim_operations)  # keeping it would make a reference cycle

    def _claim_operations(self) -> Sequence[Operation]:
        return (Operation(self._key, StoredValue(b""), self._revision),) if self.is_read else ()

    def read_names(self) -> None:
        """Read the key. Call this before reading names, which are then at least as new."""
        entry = self._names.get(self._key)
        self._revision = entry.revision if entry is not None else 0


def _group_of(key: str) -> str:
    """Return the group in a definition's name."""
    return keys.name_of(key).partition(".")[2]


def _set_established(obj: Object) -> Object:
    if not is_condition_true(obj, "NamesAccepted"):
        return obj
    if bundle_fault(obj["spec"].get("conversion")):
        rules.set_condition(obj, "Established", *_BAD_BUNDLE, clock.now())
    else:
        rules.set_condition(obj, "Established", *_ESTABLISHED, clock.now())
    return obj
