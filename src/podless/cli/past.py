"""podless serve --at: serve an earlier state of a folder or an etcd cluster from a copy."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from podless.app import Settings, StartError
from podless.cluster import configure_store
from podless.history.moments import find_revision
from podless.settings import ClusterSettings
from podless.store import HistoryCompacted, Store, StoreError, StoreInUse
from podless.store.engines import DATABASE, ENGINES
from podless.store.sqlite.copying import copy_state

# copied, so that the same credentials are valid
_FILES = ("token", "ca.crt", "ca.key", "server.crt", "server.key")
_FOREVER = 1e9  # seconds to keep events


def settle_past(settings: Settings, at: str, folder: Path) -> Settings:
    """Return settings that serve the state of a store at an earlier time, read-only, from a copy in `folder`.

    Raises StartError.
    """
    shared = ENGINES[settings.store].shared
    if settings.data is None and not shared:
        raise StartError("--at requires a data folder (--data) or --store etcd")
    source = Path(settings.data or "")
    if not shared and not (source / DATABASE).exists():
        raise StartError(f"{source / DATABASE}: no such database")
    try:
        asyncio.run(_copy_state(configure_store(settings, source / DATABASE, compacting=False), at, folder / DATABASE))
    except StoreInUse:
        raise StartError(
            f"{source}: another server uses this folder; run podless backup --at {at}, and restore that elsewhere"
        ) from None
    except HistoryCompacted as error:
        target_store = settings.store if shared else source
        raise StartError(
            f"{target_store}: the history has no state at {at}: the oldest one is revision {error.revision}"
        ) from None
    except ValueError as error:
        raise StartError(f"--at: {error}, or a revision") from None
    except StoreError as error:
        raise StartError(str(error)) from None
    for name in _FILES:
        if settings.data is not None and (source / name).exists():
            shutil.copy2(source / name, folder / name)
    copied: dict[str, Any] = {"store": "sqlite", "data": folder, "read_only": True}
    if shared:  # the copy is in SQLite, so reset the options of the engine
        copied[settings.store] = getattr(ClusterSettings(), settings.store)
    return replace(settings, **copied, event_ttl=_FOREVER, garbage_delay=None)


async def _copy_state(store: Store, at: str, target: Path) -> None:
    await store.open()
    try:
        await copy_state(store, await find_revision(store, at), target)
    finally:
        await store.close()
