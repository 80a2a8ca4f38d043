"""The file of the SQLite engine: creates, opens, checks and upgrades it.

An older format is written to a new file, which then replaces the old one.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

from podless.runtime import clock
from podless.runtime.files import make_private
from podless.store.contract import StoreDamaged, StoreError
from podless.store.sqlite import past, refusals, wal
from podless.store.sqlite.logrows import AUTHORS_SCHEMA, COLUMNS, row_checksum

FORMAT = 4
_SUMMED = 3  # the oldest format with checksums
_APPLICATION = 0x706F646C  # "podl", to recognize databases of other programs
_MAGIC = b"SQLite format 3\0"
_MAX_LOG = 16 << 20  # bytes of the write-ahead log's file that stay allocated when it is empty
# Pages of the write-ahead log at which a commit runs a checkpoint itself, while all writers wait: 16 to 31 ms for 4,000
# pages. With a second connection for checkpoints (checkpoints.py), commits do this only if those fail.
_LOG_PAGES = 4000
_LOG_LIMIT = 16_000
# SQLite's exclusive locking mode would reject the second connection, too. This VFS only locks out other processes, and
# keeps the index of the log in memory, as that mode does (https://www.sqlite.org/vfs.html).
_VFS = "unix-excl"
_CHECK_TIME = 0.5  # maximum seconds for the check of the whole file at the start
_CHECK_EVERY = 20_000  # steps of SQLite's virtual machine between two checks of the clock

# A commit's revision is the sequence number of its first row. So revisions are never above sequence numbers, and rows
# later than a revision are found by the primary key. The value is the last column, so that the columns before it can be
# read without it.
_SCHEMA = f"""
CREATE TABLE log (
    sequence INTEGER PRIMARY KEY,
    revision INTEGER NOT NULL,
    key TEXT NOT NULL,
    created INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    at INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    author INTEGER NOT NULL,
    audit BLOB,
    value BLOB
);
CREATE INDEX log_key ON log (key, revision);
{AUTHORS_SCHEMA}
{past.SCHEMA}
CREATE TABLE state (compacted INTEGER NOT NULL, checksum INTEGER NOT NULL, probes INTEGER NOT NULL);
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {FORMAT};
"""
INSERT = f"INSERT INTO log ({COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?)"
# Rows and compacted revision of older formats. The first format had one row for each revision. The third one counted
# seconds and had checksums.
_OLDER = {
    1: (
        "SELECT key, value, mark, revision, created, revision, 0 FROM log ORDER BY revision",
        "SELECT floor FROM state",
    ),
    2: (
        "SELECT key, value, offset, revision, created, sequence, 0 FROM log ORDER BY sequence",
        "SELECT compacted FROM state",
    ),
    3: (
        "SELECT key, value, offset, revision, created, sequence, at, checksum FROM log ORDER BY sequence",
        "SELECT compacted FROM state",
    ),
}


def open_database(path: Path | None) -> sqlite3.Connection:
    """Return the database, locked for this process, or a new one in memory.

    Raises StoreDamaged for another file or a damaged one, StoreInUse, and StoreError for one of a newer release or one
    that cannot be written.
    """
    if path is None:
        return _create_database(":memory:")
    try:
        with contextlib.suppress(FileNotFoundError):
            path.with_name(f"{path.name}.new").unlink()  # left by an interrupted start
        if not path.exists():
            _create_file(path)
        return _open_database(path)
    except (sqlite3.DatabaseError, UnicodeError) as error:
        raise refusals.make_open_error(error, path) from None


def reject_foreign(path: Path) -> None:
    """Raise StoreDamaged for a file that podless has not written, without changing it.

    A missing or empty one is accepted. `open_database` would reject it too, but only after it has changed the file's
    mode and journal.
    """
    try:
        with path.open("rb") as file:
            head = file.read(100)
    except FileNotFoundError:
        return
    if head and not head.startswith(_MAGIC):
        raise StoreDamaged(f"{path}: not a podless database, or a damaged one (file is not a database)")
    if head and head[68:72] != _APPLICATION.to_bytes(4):
        raise StoreDamaged(f"{path}: this is another program's database")


def _create_database(name: str) -> sqlite3.Connection:
    database = sqlite3.connect(name, isolation_level=None, timeout=0, check_same_thread=False)
    try:
        database.execute("PRAGMA auto_vacuum = INCREMENTAL")
        database.executescript(f"BEGIN; {_SCHEMA} COMMIT;")
        database.execute("INSERT INTO state VALUES (0, ?, 0)", (checksum_of(0),))
    except BaseException:
        database.close()
        raise
    return database


def checksum_of(compacted: int) -> int:
    """Return the checksum of the compacted revision."""
    return row_checksum("compacted", None, 0, compacted, 0, 0, 0)


def write_compacted(database: sqlite3.Connection, compacted: int) -> None:
    """Write the compacted revision. Raises sqlite3.Error."""
    database.execute("UPDATE state SET compacted = ?, checksum = ?", (compacted, checksum_of(compacted)))


def _create_file(path: Path) -> None:
    """Create an empty database atomically."""
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise StoreDamaged(f"{path}: the database is missing, and {log.name} cannot replace it; restore a backup")
    log.unlink(missing_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)
    try:
        temporary.touch(0o600)  # the file contains keys and secrets
        _create_database(str(temporary)).close()
        with contextlib.suppress(FileExistsError):  # another process was faster
            os.link(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _open_database(path: Path) -> sqlite3.Connection:
    log = path.with_name(f"{path.name}-wal")
    evidence = path.with_name(f"{path.name}-wal.damaged")
    if evidence.exists():
        raise StoreDamaged(
            f"{path}: durable writes are missing from its log; restore a backup, "
            f"or remove {evidence} to continue without them"
        )
    if not path.stat().st_size:
        raise StoreDamaged(f"{path}: the database file is empty; restore a backup, or remove the file")
    for file in (path, log):
        make_private(file)
    try:
        ends = wal.find_commits(log)
    except wal.DamagedLog:
        raise StoreDamaged(f"{log}: damaged; restore a backup") from None
    database = _connect_database(path)
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA user_version").fetchone()  # opens the log
        database.execute("PRAGMA locking_mode = EXCLUSIVE")  # from then on; if set before, it could not be lifted
        database.execute("PRAGMA synchronous = FULL")
        database.execute(f"PRAGMA journal_size_limit = {_MAX_LOG}")
        database.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
        database.execute("BEGIN EXCLUSIVE")  # locks the file now, so that a second server fails at its start
        database.execute("COMMIT")
        if ends:
            _check_log(database, path, log, ends)
        version = _read_version(database, path)
        if version == FORMAT:
            _check_file(database, path)
            return database
        _upgrade_database(database, path, version)
    except BaseException:
        database.close()
        raise
    database.close()
    return _open_database(path)


def _connect_database(path: Path) -> sqlite3.Connection:
    name = f"{path.absolute().as_uri()}?vfs={_VFS}" if os.name == "posix" else str(path)
    return sqlite3.connect(name, isolation_level=None, timeout=0, check_same_thread=False, uri=True)


def open_second(database: sqlite3.Connection, path: Path) -> sqlite3.Connection:
    """Return a second connection to an open database, which runs its checkpoints from now on. Raises sqlite3.Error."""
    database.execute("PRAGMA locking_mode = NORMAL")
    database.execute("PRAGMA user_version").fetchone()  # the exclusive lock ends with a read
    second = _connect_database(path)
    try:
        second.execute("PRAGMA synchronous = FULL")
        second.execute("PRAGMA user_version").fetchone()
    except BaseException:
        second.close()
        raise
    database.execute(f"PRAGMA wal_autocheckpoint = {_LOG_LIMIT}")
    return second


def _check_log(database: sqlite3.Connection, path: Path, log: Path, ends: list[int]) -> None:
    """Raise StoreDamaged, and keep a copy of the log, if SQLite did not find all durable transactions in it."""
    try:
        read = database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1]
    except sqlite3.Error as error:
        if not refusals.is_full(error):
            raise
        read = wal.count_readable(log)  # on a full disk nothing can be moved from the log into the database
    lost = sum(end > read for end in ends)
    if lost > 1:
        os.link(log, path.with_name(f"{path.name}-wal.damaged"))
        raise StoreDamaged(f"{log}: damaged: {lost} durable transactions cannot be read; restore a backup")


def _read_version(database: sqlite3.Connection, path: Path) -> int:
    """Return the format of a database. Raises StoreDamaged for another program's, StoreError for a newer release's."""
    application = database.execute("PRAGMA application_id").fetchone()[0]
    version: int = database.execute("PRAGMA user_version").fetchone()[0]
    if application != _APPLICATION:
        raise StoreDamaged(f"{path}: this is another program's database")
    if version > FORMAT:
        raise StoreError(
            f"{path}: the database of a newer release (its format is {version}, this one reads up to {FORMAT})"
        )
    if version != FORMAT and version not in _OLDER:
        raise StoreDamaged(f"{path}: unknown format {version}")
    return version


def _check_file(database: sqlite3.Connection, path: Path) -> None:
    """Check the file as a whole, for at most `_CHECK_TIME` seconds. Each row is checked again when it is read.

    Raises StoreDamaged.
    """
    end = time.monotonic() + _CHECK_TIME
    database.set_progress_handler(lambda: time.monotonic() > end, _CHECK_EVERY)
    try:
        finding = database.execute("PRAGMA integrity_check(1)").fetchone()[0]
    except sqlite3.OperationalError as error:
        if not refusals.is_interrupt(error):
            raise
        finding = "ok"
    finally:
        database.set_progress_handler(None, 0)
    if finding != "ok":
        raise StoreDamaged(f"{path}: the database is damaged ({' '.join(finding.split())}); restore a backup")


def _third_checksum(key: Any, value: Any, *numbers: Any) -> int:
    """Return the checksum of a row of the third format, -1 for an invalid row.

    numbers: offset, revision, created, sequence, and seconds since 1970.
    """
    try:
        head = struct.pack("<6q", *numbers, -1 if value is None else len(value))
        return crc32(value or b"", crc32(head + key.encode()))
    except (TypeError, ValueError, AttributeError, struct.error):
        return -1


def _read_older(database: sqlite3.Connection, version: int) -> Iterator[tuple[Any, ...]]:
    """Yield the columns of older rows up to the time, in milliseconds, 0 if unknown. Raises StoreDamaged."""
    for row in database.execute(_OLDER[version][0]):
        if version == _SUMMED:
            *values, at, check = row
            if _third_checksum(*values, at) != check:
                raise StoreDamaged(f"the database is damaged: {row[0]!r} at revision {row[3]} is not what was written")
            yield (*values, at * 1000)
        else:
            yield row


def _upgrade_database(database: sqlite3.Connection, path: Path, version: int) -> None:
    name = path.with_name(f"{path.name}.new")
    name.touch(0o600)
    now = int(clock.time() * 1000)
    upgraded: sqlite3.Connection | None = None
    try:
        upgraded = _create_database(str(name))
        upgraded.execute("BEGIN")
        for *values, at in _read_older(database, version):
            row = (*values, at or now, 0, None)
            upgraded.execute(INSERT, (*row, row_checksum(*row)))
        compacted = database.execute(_OLDER[version][1]).fetchone()[0]
        if version == _SUMMED:
            check = database.execute("SELECT checksum FROM state").fetchone()[0]
            if _third_checksum("compacted", None, 0, compacted, 0, 0, 0) != check:
                raise StoreDamaged(f"{path}: the database is damaged (its state); restore a backup")
        write_compacted(upgraded, compacted)
        upgraded.execute("COMMIT")
        upgraded.close()
        # the log must be empty when the new file gets the name, or SQLite would apply it to that file
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        database.execute("PRAGMA journal_mode = DELETE")
        name.replace(path)
    except BaseException:
        if upgraded is not None:
            upgraded.close()
        name.unlink(missing_ok=True)
        raise
