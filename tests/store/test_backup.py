"""Backups and restores over the contract, from any engine to any."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from podless.store import HistoryCompacted, Operation, Store, StoredValue, StoreError, ValueTooLarge, backup
from podless.store.backup import BackupFooter, BadBackup
from podless.store.sqlite import SQLiteStore
from tests.engines import ENGINES
from tests.store.contract import delete, put
from tests.store.late import FOREIGN, LateStore


async def taken(store: Store) -> list[bytes]:
    """The lines of a backup of a store as it is now."""
    revision, after, foot = await store.read_revision(), "", BackupFooter()
    text = backup.backup_head(revision)
    while True:
        lines, after = await backup.read_page(store, revision, after)
        text += lines
        if not after:
            break
    foot.count_lines(text)
    return (text + foot.encode_line()).splitlines(keepends=True)


async def filled(store: Store, count: int) -> None:
    await store.open()
    revisions = [
        await store.commit([Operation(f"/g/r/n{number:04}", StoredValue(b'{"number":%d}' % number, 5), 0)])
        for number in range(count)
    ]
    await put(store, "/podless/key", b"\xff\xfe not text")
    await delete(store, "/g/r/n0001", revisions[1])


async def state(store: Store) -> dict[str, StoredValue]:
    return {
        record.key: record.stored for record in (await store.read_range("/"))[0] if not record.key.startswith(FOREIGN)
    }


EACH: list[Any] = [("sqlite", "sqlite"), ("sqlite", "late"), ("late", "sqlite")]
WITH_ETCD = [("sqlite", "etcd"), ("etcd", "sqlite"), ("etcd", "etcd")]
EACH += [pytest.param(*pair, marks=pytest.mark.slow) for pair in WITH_ETCD]


def _make_target(name: str, path: Path) -> Store:
    """A store that a restore may use: nobody else writes there."""
    return LateStore(path, disturbed=()) if name == "late" else ENGINES[name](path)


@pytest.mark.parametrize(("source", "target"), EACH)
async def test_all_is_there_and_revisions_go_on(source: str, target: str, tmp_path: Path) -> None:
    first, second = ENGINES[source](), _make_target(target, tmp_path / "db")
    await filled(first, 250)
    lines = await taken(first)
    revision, count = backup.check_backup(lines)
    assert 250 < revision <= await first.read_revision()
    await second.open()
    other = await put(second, "/g/r/other", b"{}")
    old = await put(second, "/g/r/n0000", b"{}")
    told: list[str] = []
    assert await backup.restore_backup(second, revision, lines, told.append) == len(lines) - 2 == count
    restored = [int(text.split()[1]) for text in told if text.startswith("restored ")]
    assert restored == sorted(restored)
    assert restored[-1] == count
    assert await state(second) == await state(first)
    records, now = await second.read_range("/")
    assert min(record.revision for record in records) > max(revision, other, old)
    assert now >= max(record.revision for record in records)
    with pytest.raises(HistoryCompacted):
        second.watch("/", revision, lambda changes, revision: None)
    assert await put(second, "/g/r/new", b"{}") > now
    for store in (first, second):
        await store.close()


async def test_a_backup_is_of_one_moment() -> None:
    store = SQLiteStore()
    await filled(store, 150)
    revision, before = await store.read_revision(), await state(store)
    lines, after = await backup.read_page(store, revision, "")
    for number in range(140, 150):
        await put(store, f"/g/r/n{number:04}", b"changed", number + 1)
    await put(store, "/g/r/z", b"new")
    while after:
        more, after = await backup.read_page(store, revision, after)
        lines += more
    found = {record.key: record.stored for record in backup.read_records(lines.splitlines())}
    assert found == before
    await store.close()


async def test_a_page_of_large_objects_is_a_few_megabytes() -> None:
    store = SQLiteStore()
    await store.open()
    for number in range(40):
        await put(store, f"/g/r/n{number:04}", b'{"a":"%b"}' % (b"x" * 300_000))
    revision, after = await store.read_revision(), ""
    pages: list[bytes] = []
    while not pages or after:
        lines, after = await backup.read_page(store, revision, after)
        pages.append(lines)
    assert len(pages) >= 5
    assert max(map(len, pages)) < 3 << 20
    assert len([*backup.read_records(b"".join(pages).splitlines())]) == 40
    await store.close()


async def test_what_is_not_whole_is_known_before_anything_is_done() -> None:
    store = SQLiteStore()
    await filled(store, 5)
    lines = await taken(store)
    changed = [line.replace(b'{\\"number\\":3}', b'{\\"number\\":4}') for line in lines]
    assert changed != lines
    for bad in ([], lines[:-1], lines[:3] + lines[4:], changed, [*lines, lines[1]], [lines[0]], lines[1:]):
        with pytest.raises(BadBackup, match=r"truncated or modified|not a backup of podless"):
            backup.check_backup(bad)
    with pytest.raises(BadBackup, match="newer release"):
        backup.check_backup([lines[0].replace(b'"format":1', b'"format":2'), *lines[1:]])
    await store.close()


async def test_a_restore_that_was_interrupted_is_told_and_can_be_done_again(tmp_path: Path) -> None:
    first, second = SQLiteStore(), SQLiteStore(tmp_path / "db")
    await filled(first, 250)
    lines = await taken(first)
    await second.open()

    def interrupt(done: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await backup.restore_backup(second, 252, lines, interrupt)
    with pytest.raises(StoreError, match="was interrupted"):
        await backup.refuse_half(second)
    await backup.restore_backup(second, 252, lines, lambda done: None)
    await backup.refuse_half(second)
    assert await state(second) == await state(first)
    for store in (first, second):
        await store.close()


async def test_revisions_that_were_given_to_more_than_one_row_are_gone_past(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "db")
    await store.open()
    await store.commit(
        [Operation(f"/g/r/n{number}", StoredValue(b"{}"), 0) for number in range(10)]
    )  # one revision, ten rows
    await store.advance_revision(5)
    assert await put(store, "/g/r/new", b"{}") > 10
    assert len((await store.read_range("/g/r/"))[0]) == 11
    await store.close()


async def test_what_servers_share_stays_where_a_backup_has_none_of_it() -> None:
    first, second = SQLiteStore(), SQLiteStore()
    await filled(first, 3)
    await second.open()
    await put(second, "/podless/files/ca.key", b"secret")
    await put(second, "/g/r/other", b"{}")
    await backup.restore_backup(second, 1, await taken(first), lambda done: None)
    assert await state(second) == {**await state(first), "/podless/files/ca.key": StoredValue(b"secret")}
    await put(first, "/podless/files/ca.key", b"another")
    await backup.restore_backup(second, 1, await taken(first), lambda done: None)
    assert await state(second) == await state(first)
    for store in (first, second):
        await store.close()


async def test_a_record_that_the_engine_does_not_take_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = SQLiteStore(), SQLiteStore()
    await first.open()
    for name, size in (("a", 700 << 10), ("b", 700 << 10), ("c", 2 << 20)):
        await put(first, f"/g/r/{name}", b"x" * size)
    lines = await taken(first)
    await second.open()
    commit = second.commit

    async def narrow(operations: list[Operation]) -> int:
        """As etcd, which takes a megabyte and a half."""
        if sum(len(operation.stored.data) for operation in operations if operation.stored is not None) > 3 << 19:
            raise ValueTooLarge
        return await commit(operations)

    monkeypatch.setattr(second, "commit", narrow)
    with pytest.raises(StoreError, match=r"^/g/r/c has 2097152 bytes: etcdserver: request is too large$"):
        await backup.restore_backup(second, 1, lines, lambda done: None)
    assert {"/g/r/a", "/g/r/b"} <= set(await state(second))
    for store in (first, second):
        await store.close()
