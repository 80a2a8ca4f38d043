"""The database file: older and newer formats, damage, and who may read it."""

from __future__ import annotations

import random
import shutil
import sqlite3
import stat
from pathlib import Path

import pytest

from podless.store import Operation, Record, Store, StoreDamaged, StoredValue, StoreError
from podless.store.sqlite import SQLiteStore, wal
from tests.conftest import tries
from tests.store.contract import delete, put

pytestmark = pytest.mark.slow

SECOND_FORMAT = """
CREATE TABLE log (
    sequence INTEGER PRIMARY KEY, revision INTEGER NOT NULL, key TEXT NOT NULL, created INTEGER NOT NULL,
    offset INTEGER NOT NULL, value BLOB
);
CREATE INDEX log_key ON log (key, revision);
CREATE TABLE state (compacted INTEGER NOT NULL);
INSERT INTO state VALUES (2);
INSERT INTO log VALUES (1, 1, '/g/r/a', 1, 0, x'31'), (3, 3, '/g/r/b', 2, 0, NULL), (4, 4, '/g/r/a', 1, 1, x'3133'),
    (5, 4, '/g/r/c', 4, 0, x'35');
PRAGMA application_id = 0x706F646C;
PRAGMA user_version = 2;
"""


async def opened(path: Path) -> SQLiteStore:
    store = SQLiteStore(path)
    await store.open()
    return store


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def older(path: Path) -> None:
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode = WAL")
    database.executescript(SECOND_FORMAT)
    database.close()


async def test_a_database_of_the_previous_format_is_read_on(tmp_path: Path) -> None:
    older(tmp_path / "db")
    for _ in range(2):
        store = await opened(tmp_path / "db")
        assert (await store.read_revision(), store.compacted_revision) == (4, 2)
        assert (await store.read_range("/g/"))[0] == [
            Record("/g/r/a", StoredValue(b"13", 1), 4, 1),
            Record("/g/r/c", StoredValue(b"5"), 4, 4),
        ]
        (change,) = (entry for entry in await store.read_changes("/g/", 2) if entry.key == "/g/r/a")
        assert change.before == Record("/g/r/a", StoredValue(b"1"), 1, 1)
        await store.close()
    assert names(tmp_path) == ["db", "db-reserve"]


async def test_an_older_database_stays_as_it_is_until_the_new_one_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older(tmp_path / "db")
    before = (tmp_path / "db").read_bytes()

    def fails(*_: object, **__: object) -> int:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr("podless.store.sqlite.format.row_checksum", fails)
        with pytest.raises(StoreError, match="disk is full"):
            await opened(tmp_path / "db")
    assert names(tmp_path) == ["db"]
    assert (tmp_path / "db").read_bytes() == before
    (tmp_path / "db.new").write_bytes(b"what an interrupted start left")
    store = await opened(tmp_path / "db")
    assert await store.read_revision() == 4
    await store.close()


async def test_a_database_of_a_newer_release_is_refused_in_one_line(tmp_path: Path) -> None:
    await (await opened(tmp_path / "db")).close()
    with sqlite3.connect(tmp_path / "db") as database:
        database.execute("PRAGMA user_version = 5")
    database.close()
    with pytest.raises(StoreError, match=r"newer release \(its format is 5, this one reads up to 4\)$"):
        await opened(tmp_path / "db")


async def test_only_the_owner_may_read_it_and_others_lose_their_rights(tmp_path: Path) -> None:
    store = await opened(tmp_path / "db")
    await put(store, "/g/r/a", b"1")
    for name in ("db", "db-wal"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    await store.close()
    (tmp_path / "db").chmod(0o644)
    store = await opened(tmp_path / "db")
    assert stat.S_IMODE((tmp_path / "db").stat().st_mode) == 0o600
    await store.close()


async def filled(path: Path) -> list[Record]:
    """A database with some history, and what is in it."""
    store = await opened(path)
    revision = 0
    for number in range(60):
        revision = await store.commit([Operation(f"/g/r/n{number}", StoredValue(b'{"size":%d}' % number * 40), 0)])
    for number in range(0, 60, 3):
        await delete(store, f"/g/r/n{number}", number + 1)
    await store.compact(revision)
    records = (await store.read_range("/g/"))[0]
    await store.close()
    return records


def flip(path: Path, place: int, bit: int) -> None:
    with path.open("r+b") as file:
        file.seek(place)
        byte = file.read(1)[0]
        file.seek(place)
        file.write(bytes([byte ^ (1 << bit)]))


async def test_a_flipped_bit_is_told_and_never_served_as_good(tmp_path: Path) -> None:
    records = await filled(tmp_path / "good")
    size = (tmp_path / "good").stat().st_size
    chance = random.Random(1)
    told: list[str] = []
    for number in range(tries(1000)):
        path = tmp_path / f"db{number}"
        shutil.copy(tmp_path / "good", path)
        flip(path, chance.randrange(size), chance.randrange(8))
        store = SQLiteStore(path)
        try:
            await store.open()
            found = (await store.read_range("/g/"))[0]
            changes = await store.read_changes("/g/", store.compacted_revision)
            assert (found, len(changes)) == (records, 20)  # what was flipped is in use nowhere
        except StoreError as error:
            told.append(str(error))
        await store.close()
        path.unlink()
    assert told
    assert not [text for text in told if "\n" in text]


@pytest.mark.parametrize("change", ["log SET at = x'01'", "log SET revision = x'FF'", "state SET compacted = 'a'"])
async def test_what_is_no_number_is_told(tmp_path: Path, change: str) -> None:
    await filled(tmp_path / "db")
    with sqlite3.connect(tmp_path / "db") as database:
        database.execute(f"UPDATE {change}")
    database.close()
    with pytest.raises(StoreDamaged, match="a column has no number"):
        await SQLiteStore(tmp_path / "db").open()


async def test_what_is_read_later_is_checked_too(tmp_path: Path) -> None:
    await filled(tmp_path / "db")
    raw = (tmp_path / "db").read_bytes()
    flip(tmp_path / "db", raw.index(b'{"size":7}') + 3, 0)
    store = await opened(tmp_path / "db")
    with pytest.raises(StoreDamaged, match="'/g/r/n7' at revision 8 has a wrong checksum"):
        await store.read_range("/g/")
    await store.close()


async def crashed(store: Store, folder: Path, copy: Path) -> None:
    """What a kill leaves of an open database: its files as they are."""
    shutil.copytree(folder, copy)
    await store.close()


async def test_a_log_that_lost_durable_writes_is_refused_until_somebody_decides(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    store = await opened(tmp_path / "one" / "db")
    for number in range(20):
        await put(store, f"/g/r/n{number}", b"x" * 500)
    await crashed(store, tmp_path / "one", tmp_path / "two")
    log = tmp_path / "two" / "db-wal"
    flip(log, log.stat().st_size // 2, 3)
    for text in ("durable transactions cannot be read", "or remove .*db-wal.damaged to continue without them"):
        with pytest.raises(StoreDamaged, match=text):
            await opened(tmp_path / "two" / "db")
    (tmp_path / "two" / "db-wal.damaged").unlink()
    store = await opened(tmp_path / "two" / "db")
    assert 0 < len((await store.read_range("/g/"))[0]) < 20
    await store.close()


async def test_a_write_that_was_torn_is_as_if_it_had_not_been(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    store = await opened(tmp_path / "one" / "db")
    for number in range(20):
        await put(store, f"/g/r/n{number}", b"x" * 500)
    await crashed(store, tmp_path / "one", tmp_path / "two")
    log = tmp_path / "two" / "db-wal"
    with log.open("r+b") as file:
        file.truncate(log.stat().st_size - 100)
    store = await opened(tmp_path / "two" / "db")
    assert len((await store.read_range("/g/"))[0]) == 19
    await store.close()


@pytest.mark.parametrize("place", [0, 9, 17, 26])
async def test_a_logs_damaged_head_is_told(tmp_path: Path, place: int) -> None:
    (tmp_path / "one").mkdir()
    store = await opened(tmp_path / "one" / "db")
    await put(store, "/g/r/a", b"1")
    await crashed(store, tmp_path / "one", tmp_path / "two")
    flip(tmp_path / "two" / "db-wal", place, 2)
    with pytest.raises(StoreDamaged, match="damaged"):
        await opened(tmp_path / "two" / "db")


async def test_an_empty_file_and_a_log_without_its_database_are_refused(tmp_path: Path) -> None:
    (tmp_path / "db").touch()
    with pytest.raises(StoreDamaged, match="is empty"):
        await opened(tmp_path / "db")
    (tmp_path / "db").rename(tmp_path / "other")
    (tmp_path / "db-wal").write_bytes(b"something")
    with pytest.raises(StoreDamaged, match="the database is missing"):
        await opened(tmp_path / "db")


async def test_what_can_be_read_of_a_log_is_known_without_room_to_move_it(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    store = await opened(tmp_path / "one" / "db")
    for number in range(20):
        await put(store, f"/g/r/n{number}", b"x" * 500)
    await crashed(store, tmp_path / "one", tmp_path / "two")
    log = tmp_path / "two" / "db-wal"
    whole = wal.count_readable(log)
    assert whole == wal.find_commits(log)[-1]
    flip(log, log.stat().st_size // 2, 3)
    with sqlite3.connect(tmp_path / "two" / "db") as database:
        found = database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1]
    assert 0 < found <= wal.count_readable(log) < whole  # SQLite leaves out what no commit ends
    database.close()
