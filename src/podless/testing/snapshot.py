"""Saves the state of a server, and restores it."""

from __future__ import annotations

from dataclasses import field

from podless.apis.apiextensions.group import DEFINITIONS
from podless.app import App
from podless.runtime.dataclass import dataclass
from podless.store import Operation, Record
from podless.store.keys import OWN, StoredValue
from podless.verbs import storage

_PAGE = 1000


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state at a revision. The same server can restore it any number of times."""

    revision: int
    records: dict[str, StoredValue] = field(repr=False)


async def take_snapshot(app: App) -> Snapshot:
    """Return the present state."""
    revision, present = await _read_present(app)
    return Snapshot(revision, {key: record.stored for key, record in present.items() if record.stored is not None})


async def restore_state(app: App, snapshot: Snapshot) -> None:
    """Restore a state in one step; watches of clients see the changes.

    Objects keep their uids and get new resourceVersions. Raises Unavailable if clients keep writing.
    """
    assert app.cluster is not None
    api = app.cluster.api

    async def plan_restore() -> list[Operation]:
        return _compute_writes(snapshot, (await _read_present(app))[1])

    if not await storage.commit_together(api, plan_restore):
        return
    definitions = api.follow_ups.find_follow_up(DEFINITIONS)
    if definitions is not None:
        await definitions.reconcile_all()  # serve the restored kinds again


def _compute_writes(snapshot: Snapshot, present: dict[str, Record]) -> list[Operation]:
    """Return the writes, with the definitions to create first and those to delete last."""
    writes = [
        Operation(key, stored, present[key].revision if key in present else 0)
        for key, stored in snapshot.records.items()
        if key not in present or present[key].stored != stored
    ]
    deletes = [Operation(key, None, record.revision) for key, record in present.items() if key not in snapshot.records]
    prefix = DEFINITIONS.prefix
    writes.sort(key=lambda operation: not operation.key.startswith(prefix))
    deletes.sort(key=lambda operation: operation.key.startswith(prefix))
    return writes + deletes


async def _read_present(app: App) -> tuple[int, dict[str, Record]]:
    """Return the revision and the objects stored at it, without podless' own keys."""
    assert app.cluster is not None
    assert app.cluster.store is not None
    store = app.cluster.store
    revision, after, records_by_key = await store.read_revision(), "", dict[str, Record]()
    while True:
        page, after = await store.read_page(revision, after, _PAGE)
        records_by_key.update((record.key, record) for record in page if not record.key.startswith(OWN))
        if not after:
            return revision, records_by_key
