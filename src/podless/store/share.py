"""Files that all servers of a store share: the CA of their certificates, and the administrator's token."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from podless.runtime.files import write_file
from podless.store.contract import Operation, RevisionConflict, Store
from podless.store.keys import OWN, StoredValue

KEYS = f"{OWN}files/"


async def share_files(store: Store, paths: Sequence[Path], make: Callable[[], object]) -> None:
    """Copy files from the store; if it lacks some, create them here, and store them for all servers.

    make: creates missing files. Raises StoreError and OSError.
    """
    stored_files = await _read_shared(store, paths)
    if len(stored_files) < len(paths):
        make()
        operations = [Operation(f"{KEYS}{path.name}", StoredValue(path.read_bytes()), 0) for path in paths]
        try:
            await store.commit(operations)
        except RevisionConflict:
            stored_files = await _read_shared(store, paths)  # another server was faster
    for path in paths:
        shared = stored_files.get(path.name)
        if shared is not None and (not path.exists() or path.read_bytes() != shared):
            write_file(path, shared, 0o644 if path.suffix == ".crt" else 0o600)


async def _read_shared(store: Store, paths: Sequence[Path]) -> dict[str, bytes]:
    names = {path.name for path in paths}
    by_name = {record.key.removeprefix(KEYS): record.stored.data for record in (await store.read_range(KEYS))[0]}
    return {name: data for name, data in by_name.items() if name in names}
