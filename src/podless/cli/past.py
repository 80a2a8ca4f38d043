"""podless serve --at: serves a folder's earlier state from a copy."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path

from podless.app import Settings, StartError
from podless.cli.engine import DATABASE
from podless.history.moments import find_revision
from podless.store import Compacted, InUse, StoreError
from podless.store.sqlite import SQLiteStore
from podless.store.sqlite.copying import copy_state

# so that the same credentials hold
_FILES = ("token", "ca.crt", "ca.key", "server.crt", "server.key")
_FOREVER = 1e9  # seconds that events stay


def settle_past(settings: Settings, at: str, folder: Path) -> Settings:
    """Return settings that serve the state of `settings.data` at a moment, read-only, from `folder`.

    Raises StartError.
    """
    if settings.data is None or settings.store != "sqlite":
        raise StartError("--at requires a data folder with a SQLite database (--data)")
    source = Path(settings.data)
    if not (source / DATABASE).exists():
        raise StartError(f"{source / DATABASE}: no such database")
    try:
        asyncio.run(_copy(source / DATABASE, at, folder / DATABASE))
    except InUse:
        raise StartError(
            f"{source}: another server uses this folder; run podless backup --at {at}, and restore that elsewhere"
        ) from None
    except Compacted as error:
        raise StartError(
            f"{source}: the history has no state at {at}: the oldest one is revision {error.revision}"
        ) from None
    except ValueError as error:
        raise StartError(f"--at: {error}, or a revision") from None
    except StoreError as error:
        raise StartError(str(error)) from None
    for name in _FILES:
        if (source / name).exists():
            shutil.copy2(source / name, folder / name)
    return replace(settings, data=folder, read_only=True, event_ttl=_FOREVER, garbage_delay=None)


async def _copy(source: Path, at: str, target: Path) -> None:
    store = SQLiteStore(source)
    await store.open()
    store.hold()  # its history stays as it is
    try:
        await copy_state(store, await find_revision(store, at), target)
    finally:
        await store.close()
