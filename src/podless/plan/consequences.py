"""Consequences of a set beyond its own objects: cascading deletions, and changes by the server's controllers."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from podless.codec import serializer
from podless.plan.differences import compare_objects
from podless.plan.manifests import Identity
from podless.plan.result import Action, Change
from podless.plan.simulation import Simulation
from podless.runtime.jsonobject import Object
from podless.store import Record
from podless.store.keys import OWN, resource_of

_QUIET = {("", "events"), ("events.k8s.io", "events"), ("coordination.k8s.io", "leases")}


async def find_consequences(simulation: Simulation, revision: int, touched: Collection[str]) -> list[Change]:
    """Return the changes since a revision, except objects of the set that still exist."""
    first: dict[str, Record | None] = {}
    last: dict[str, Record | None] = {}
    for change in await simulation.api.store.read_changes("/", revision):
        if change.key.startswith(OWN) or resource_of(change.key) in _QUIET:
            continue
        first.setdefault(change.key, change.before)
        last[change.key] = change.record
    changes = []
    for key, before in first.items():
        after = last[key]
        if key in touched and after is not None:
            continue
        if (before is None and after is None) or (before and after and before.stored == after.stored):
            continue
        changes.append(_make_change(simulation, key, before, after))
    deletions = [change_ for change_ in changes if change_.action is Action.DELETE]
    for change_ in deletions:
        change_.message = _explain_deletion(change_, deletions)
    return [*deletions, *(change_ for change_ in changes if change_.action is not Action.DELETE and change_.fields)]


def _make_change(simulation: Simulation, key: str, before: Record | None, after: Record | None) -> Change:
    old, new = (_decode_record(record) for record in (before, after))
    obj = new or old
    assert obj is not None
    identity = Identity.of(obj)
    change = Change(Action.CREATE, identity, consequence=True, before=old, after=new)
    ends = new is not None and "deletionTimestamp" in new["metadata"]
    if new is None or (ends and old is not None and "deletionTimestamp" not in old["metadata"]):
        change.action = Action.DELETE
        change.waits = list((new or {}).get("metadata", {}).get("finalizers") or ())
    elif old is not None:
        change.action = Action.UPDATE
    if change.action is not Action.DELETE:
        change.fields = compare_objects(identity, old, new)
    return change


def _decode_record(record: Record | None) -> Object | None:
    if record is None:
        return None
    obj: Object = serializer.decode_json(record.stored.with_revision(record.revision))
    return obj


def _explain_deletion(change: Change, deletions: Iterable[Change]) -> str:
    identity, before = change.identity, change.before
    owners = {owner.get("uid") for owner in ((before or {}).get("metadata") or {}).get("ownerReferences") or ()}
    for deletion in deletions:
        metadata = (deletion.before or {}).get("metadata") or {}
        if metadata.get("uid") in owners:
            return f"its owner {deletion.identity} is deleted"
    for deletion in deletions:
        spec = (deletion.before or {}).get("spec") or {}
        if deletion.identity.kind == "Namespace" and deletion.identity.name == identity.namespace:
            return f"its namespace {deletion.identity.name} is deleted"
        defined = spec.get("group"), (spec.get("names") or {}).get("kind")
        if deletion.identity.kind == "CustomResourceDefinition" and defined == (identity.group, identity.kind):
            return f"its definition {deletion.identity.name} is deleted"
    return ""
