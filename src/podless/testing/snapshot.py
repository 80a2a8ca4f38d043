"""All that a server has at one moment, and back to it."""

from __future__ import annotations

from dataclasses import dataclass, field

from podless.apis.apiextensions.group import DEFINITIONS
from podless.app import App
from podless.store import Operation, Record
from podless.store.keys import OWN, Stored
from podless.verbs import storage

_PAGE = 1000


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state at a revision. It can be gone back to any number of times, on the server that it is of."""

    revision: int
    records: dict[str, Stored] = field(repr=False)


async def take_snapshot(app: App) -> Snapshot:
    """What there is now."""
    revision, present = await _present(app)
    return Snapshot(revision, {key: record.stored for key, record in present.items() if record.stored is not None})


async def restore_state(app: App, wanted: Snapshot) -> None:
    """Make the state what it was, in one step: clients that watch see what that changes as any other change.

    Objects have their uids again, and new resourceVersions. Raises Unavailable where clients write all the time.
    """
    assert app.cluster is not None
    api = app.cluster.api

    async def plan() -> list[Operation]:
        return _difference(wanted, (await _present(app))[1])

    if not await storage.commit_together(api, plan):
        return
    definitions = api.follow_ups.of(DEFINITIONS)
    if definitions is not None:
        await definitions.flush()  # the kinds are served again that were


def _difference(wanted: Snapshot, present: dict[str, Record]) -> list[Operation]:
    """What is to be written, definitions that come first and definitions that go last."""
    writes = [
        Operation(key, stored, present[key].revision if key in present else 0)
        for key, stored in wanted.records.items()
        if key not in present or present[key].stored != stored
    ]
    gone = [Operation(key, None, record.revision) for key, record in present.items() if key not in wanted.records]
    prefix = DEFINITIONS.prefix
    writes.sort(key=lambda one: not one.key.startswith(prefix))
    gone.sort(key=lambda one: one.key.startswith(prefix))
    return writes + gone


async def _present(app: App) -> tuple[int, dict[str, Record]]:
    """The revision, and what is stored at it, but for what is podless' own."""
    assert app.cluster is not None
    assert app.cluster.store is not None
    store = app.cluster.store
    revision, after, found = await store.current(), "", dict[str, Record]()
    while True:
        page, after = await store.page(revision, after, _PAGE)
        found.update((record.key, record) for record in page if not record.key.startswith(OWN))
        if not after:
            return revision, found
