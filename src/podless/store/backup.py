"""Backups: the whole state of a store at one revision, as lines that can be restored into any engine.

A file has a head, a line for each record in key order, and a foot with their number and a checksum. So a truncated or
modified file is detected before anything is written.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple
from zlib import crc32

import orjson

from podless.store import share
from podless.store.contract import Operation, Record, RevisionConflict, Store, StoreError, ValueTooLarge, read_record
from podless.store.keys import OWN, StoredValue, size_of

FORMAT = 1
RESTORING = f"{OWN}restoring"  # exists while a restore is in progress
_PAGE = 100  # maximum records of a page
# maximum records of one commit: etcd allows 128 operations, and each record comes with an entry of the history log
_COMMIT_RECORDS = 60
_COMMIT_BYTES = 1 << 20  # approximate maximum bytes of these records
_CONCURRENT_COMMITS = 16  # concurrent commits
_FIRST_RECORDS = 8  # records that are read first, to estimate how many fit into a page


class BadBackup(Exception):
    """The file is not a backup, or an incomplete one; the text is one line."""


def backup_head(revision: int) -> bytes:
    """Return the first line of a backup."""
    return orjson.dumps({"backup": "podless", "format": FORMAT, "revision": revision}) + b"\n"


def encode_line(record: Record) -> bytes:
    """Return the line of a record."""
    key, (data, offset, _), revision, created = record
    entry: dict[str, Any] = {"key": key, "revision": revision, "created": created, "offset": offset}
    try:
        entry["text"] = data.decode()
    except UnicodeDecodeError:
        entry["bytes"] = base64.b64encode(data).decode()
    return orjson.dumps(entry) + b"\n"


class BackupFooter:
    """Counts the lines of a backup for its last line."""

    def __init__(self) -> None:
        self.records = 0
        self._sum = 0

    def count_lines(self, lines: bytes) -> None:
        """Count complete lines, the head included."""
        self.records += lines.count(b"\n")
        self._sum = crc32(lines, self._sum)

    def encode_line(self) -> bytes:
        """Return the last line of the backup."""
        return orjson.dumps({"records": self.records - 1, "checksum": self._sum}) + b"\n"


async def read_page(store: Store, revision: int, after: str) -> tuple[bytes, str]:
    """Return lines of the state at a revision after a key, and the key to continue after. Raises HistoryCompacted.

    Their total size is bounded by an estimate from the first few records.
    """
    lines: list[bytes] = []
    read, size, limit = 0, 0, _FIRST_RECORDS
    while True:
        records, after = await store.read_page(revision, after, limit)
        lines += [encode_line(record) for record in records if record.key != RESTORING]
        read += limit
        size = sum(map(len, lines))
        limit = min(_PAGE - read, (_COMMIT_BYTES - size) * read // max(size, 1))
        if limit <= 0 or not after:
            return b"".join(lines), after


class BackupSummary(NamedTuple):
    """The revision and the number of records of a backup."""

    revision: int
    records: int


def check_backup(lines: Iterable[bytes]) -> BackupSummary:
    """Verify a backup, and return its summary. Raises BadBackup."""
    foot, last, revision = BackupFooter(), b"", 0
    for number, line in enumerate(lines):
        if number == 0:
            revision = _parse_revision(line)
        if last:
            foot.count_lines(last)
        last = line
    if foot.encode_line() != last:
        raise BadBackup("the backup is truncated or modified")
    return BackupSummary(revision, foot.records - 1)


def _parse_revision(text: bytes) -> int:
    try:
        header = orjson.loads(text)
        if header["backup"] == "podless" and header["format"] <= FORMAT:
            return int(header["revision"])
        reason = "a backup of a newer release" if header["backup"] == "podless" else "not a backup of podless"
    except (ValueError, TypeError, LookupError):
        reason = "not a backup of podless"
    raise BadBackup(reason)


def read_records(lines: Iterable[bytes]) -> Iterator[Operation]:
    """Yield the operations of a backup's lines without head and foot; `expect` is 0."""
    for line in lines:
        entry = orjson.loads(line)
        if "key" in entry:
            data = entry["text"].encode() if "text" in entry else base64.b64decode(entry["bytes"])
            yield Operation(entry["key"], StoredValue(data, entry["offset"]), 0)


async def mark_restoring(store: Store) -> bool:
    """Prevent servers from starting on a store until a restore ends.

    Returns False if it was marked before.
    """
    try:
        await store.commit([Operation(RESTORING, StoredValue(b"{}"), 0)])
    except RevisionConflict:
        return False
    return True


async def unmark_restoring(store: Store) -> None:
    """Undo `mark_restoring`."""
    mark = await read_record(store, RESTORING)
    assert mark is not None
    await store.commit([Operation(RESTORING, None, mark.revision)])


async def restore_backup(store: Store, revision: int, lines: Iterable[bytes], say: Callable[[str], None]) -> int:
    """Replace a store's state by a backup, and forget all history. Returns the number of records.

    No other process may write meanwhile. The key RESTORING exists until the end; run an interrupted restore again. New
    revisions are above `revision` and above those of the store. Shared data besides objects (`podless.store.share`)
    stays if the backup has none. say: called with the progress, as a text.
    """
    await mark_restoring(store)
    newest = max(revision, await store.read_revision())
    await store.advance_revision(newest, lambda now: say(f"skipped revisions up to {now} of {revision}"))
    present, written = await _read_revisions(store), 0
    for batch in _group_operations(read_records(lines)):
        await _commit_batch(store, [item._replace(expect=present.pop(item.key, 0)) for item in batch])
        written += len(batch)
        say(f"restored {written} records")
    present.pop(RESTORING)
    deletes = [Operation(key, None, expect) for key, expect in present.items() if not key.startswith(share.KEYS)]
    for start in range(0, len(deletes), _COMMIT_RECORDS):
        await _commit_batch(store, deletes[start : start + _COMMIT_RECORDS])
    await unmark_restoring(store)
    await store.advance_revision(await store.read_revision())
    return written


def _group_operations(operations: Iterable[Operation]) -> Iterator[list[Operation]]:
    """Yield the operations of each commit."""
    batch, size = list[Operation](), 0
    for operation in operations:
        size_of_data = size_of(operation.stored)
        if batch and (len(batch) == _COMMIT_RECORDS or size + size_of_data > _COMMIT_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(operation)
        size += size_of_data
    if batch:
        yield batch


async def _commit_batch(store: Store, batch: list[Operation]) -> None:
    commits = [batch] if store.atomic else [[item] for item in batch]
    try:
        for start in range(0, len(commits), _CONCURRENT_COMMITS):
            await asyncio.gather(*map(store.commit, commits[start : start + _CONCURRENT_COMMITS]))
    except ValueTooLarge as error:
        largest = max(batch, key=lambda item: size_of(item.stored))
        raise StoreError(f"{largest.key} has {size_of(largest.stored)} bytes: {error}") from None


async def _read_revisions(store: Store) -> dict[str, int]:
    """Return all keys with their revisions."""
    revision, after, revisions = await store.read_revision(), "", dict[str, int]()
    while True:
        page, after = await store.read_page(revision, after, _PAGE)
        revisions.update((record.key, record.revision) for record in page)
        if not after:
            return revisions


async def refuse_half(store: Store) -> None:
    """Raise StoreError if a restore of the store was interrupted, or still runs."""
    if await read_record(store, RESTORING) is not None:
        raise StoreError("a restore of this store was interrupted; restore it again")
