"""The base of controllers that create objects for owners."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from podless.apis.core.group import PODS
from podless.cache.events import Event
from podless.controllers.controller import Controller
from podless.controllers.workloads import ask
from podless.kinds.kind import Kind
from podless.meta.errors import APIError, Forbidden
from podless.runtime import clock
from podless.runtime.jsonobject import Object
from podless.verbs.call import API

MOST_PODS = 10_000  # in all namespaces; the stand-ins make no more
_AGAIN = 5.0  # seconds after a rejected create


class CannotMake(Exception):
    """A thing could not be made; the text says why."""


class _Place(NamedTuple):
    """The owner of an object: its uid and key."""

    uid: str
    key: str


class OwnerController(Controller):
    """Reconciles objects of a kind, the owners, by what was created for them. Keys are those of owners.

    owners: their kind. things: the kind of the created objects. Objects of others are not adopted.
    """

    owners: ClassVar[Kind]
    things: ClassVar[Kind]

    def __init__(self, api: API) -> None:
        super().__init__(api)
        self._places: dict[str, _Place] = {}
        self._resting: set[str] = set()  # keys that are due at some later time of the clock
        self._making = 0
        self._made: dict[str, dict[str, Object]] = {}  # by uid of the owner and key

    async def begin(self) -> None:
        await self.follow(self.owners)
        self.leave.append(clock.CURRENT.get().listen(self._advanced))
        things = await self.api.load_collection(self.things)
        for entry in things.entries_under(self.things.prefix)[0]:
            self._note_owned(entry.key, entry.decode())
        self.leave.append(things.add_event_handler(self._note_thing))

    def _note_thing(self, events: Sequence[Event]) -> None:
        for event in events:
            self._note_owned(event.key, event.after.decode() if event.after is not None else None)

    def _note_owned(self, key: str, obj: Object | None) -> None:
        """Note a created object, or that it is gone."""
        before = self._places.pop(key, None)
        if before is not None:
            left = self._made[before.uid]
            del left[key]
            if not left:
                del self._made[before.uid]
            self.queue.add(before.key)
        place = self._place(obj) if obj is not None else None
        if obj is not None and place is not None:
            self._places[key] = place
            self._made.setdefault(place.uid, {})[key] = obj
            self.queue.add(place.key)

    def _place(self, obj: Object) -> _Place | None:
        metadata, owners = obj["metadata"], self.owners
        for ref in metadata.get("ownerReferences") or ():
            group = ref["apiVersion"].rpartition("/")[0]
            if ref.get("controller") and ref["kind"] == owners.kind and group == owners.group:
                return _Place(ref["uid"], owners.key(metadata["namespace"], ref["name"]))
        return None

    def rest(self, key: str, seconds: float) -> None:
        """Look at an owner again when the clock has gone on by so many seconds."""
        self._resting.add(key)
        self.queue.add(key, seconds)

    def _advanced(self, seconds: float) -> None:
        """Look at all owners that rest: the clock was moved."""
        for key in self._resting:
            self.queue.add(key)

    async def reconcile(self, key: str) -> None:
        self._resting.discard(key)
        entry = self.api.collection(self.owners).get(key)
        if entry is None or entry.terminating:
            return
        obj = entry.decode()
        try:
            await self.reconcile_owner(key, obj, list(self._made.get(obj["metadata"]["uid"], {}).values()))
        except CannotMake:
            self.queue.add(key, _AGAIN)

    async def reconcile_owner(self, key: str, obj: Object, made: list[Object]) -> None:
        """Reconcile the objects that were created for an owner."""
        raise NotImplementedError

    async def make(self, owner: Object, obj: Object) -> None:
        """Make a thing for an owner. Raises CannotMake, once an event says so, and StoreError."""
        metadata, kind = owner["metadata"], self.owners
        ref: Object = {"apiVersion": kind.api_version(kind.storage_version), "kind": kind.kind}
        ref |= {"name": metadata["name"], "uid": metadata["uid"], "controller": True, "blockOwnerDeletion": True}
        head = {"namespace": metadata["namespace"], **obj["metadata"], "ownerReferences": [ref]}
        try:
            if self.things is PODS and len(self.api.collection(PODS)) + self._making >= MOST_PODS:
                raise Forbidden(PODS.plural, "", "", f"the stand-ins for controllers make at most {MOST_PODS} pods")
            self._making += 1
            try:
                made = await ask.create_object(self.api, self.things, {**obj, "metadata": head})
            finally:
                self._making -= 1
        except APIError as error:
            await ask.record_warning(
                self.api, kind, owner, "FailedCreate", f"Error creating: {error.message}", self.name
            )
            raise CannotMake(error.message) from None
        self._note_owned(self.things.key(metadata["namespace"], made["metadata"]["name"]), made)

    async def drop(self, obj: Object) -> None:
        """Delete a thing."""
        await ask.drop_object(self.api, self.things, obj)


def pod_of(template: Object, **metadata: Any) -> Object:
    """Return a pod from a template. metadata: additional metadata."""
    given = template.get("metadata") or {}
    kept = {name: dict(given[name]) for name in ("labels", "annotations") if given.get(name)}
    return {"metadata": {**kept, **metadata}, "spec": dict(template["spec"])}
