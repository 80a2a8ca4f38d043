"""Lines in files: none is lost, none is torn, and old files go."""

from __future__ import annotations

import logging
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from podless.http.audit import backend
from podless.http.audit.backend import Backend

LINE = b"x" * 9 + b"\n"


def files_in(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


async def test_lines_are_in_the_file_when_it_is_closed(tmp_path: Path) -> None:
    file = tmp_path / "audit.log"
    file.write_bytes(b"before\n")
    log = Backend(file)
    log.open()
    log.queue_line(LINE)
    log.queue_line(LINE)
    await log.close()
    assert file.read_bytes() == b"before\n" + 2 * LINE


async def test_a_new_file_is_its_owners_alone(tmp_path: Path) -> None:
    log = Backend(tmp_path / "audit.log")
    log.open()
    await log.close()
    assert (tmp_path / "audit.log").stat().st_mode & 0o777 == 0o600


async def test_a_file_that_was_moved_is_begun_anew(tmp_path: Path) -> None:
    file, moved = tmp_path / "audit.log", tmp_path / "old.log"
    log = Backend(file)
    log.open()
    log.queue_line(LINE)
    file.rename(moved)
    log.open()
    log.queue_line(LINE)
    await log.close()
    assert (moved.read_bytes(), file.read_bytes()) == (LINE, LINE)


async def test_files_are_set_aside_by_size(tmp_path: Path) -> None:
    file = tmp_path / "audit.log"
    log = Backend(file, size=50)
    log.open()
    for _ in range(23):
        log.queue_line(LINE)
        log.flush()
    await log.close()
    files = files_in(tmp_path)
    assert sum(each.read_bytes().count(b"\n") for each in files) == 23
    assert all(each.stat().st_size <= 50 for each in files)
    assert file in files


async def test_only_some_old_files_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in range(5):
        (tmp_path / f"audit-2020-01-0{place + 1}T00-00-00.000.log").write_bytes(b"")
    (tmp_path / "audit-mine.log").write_bytes(b"")
    log = Backend(tmp_path / "audit.log", size=10, backups=2)
    log.open()
    for _ in range(2):
        log.queue_line(LINE)
    await log.close()
    kept = [each.name for each in files_in(tmp_path)]
    assert len(kept) == 4
    assert "audit-mine.log" in kept
    assert "audit-2020-01-05T00-00-00.000.log" in kept


async def test_a_full_disk_is_said_once_and_what_is_missing_when_it_works_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(backend, "_MAX", 25)
    monkeypatch.setattr(backend, "_RETRY_DELAY", 0)
    file, room, tried = tmp_path / "audit.log", threading.Event(), threading.Semaphore(0)
    write = os.write

    def full(where: int, data: Any) -> int:
        tried.release()
        if room.is_set():
            return write(where, data)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    log = Backend(file)
    log.open()
    with caplog.at_level(logging.ERROR):
        for _ in range(5):
            log.queue_line(LINE)
        log.flush()
        for _ in range(3):
            tried.acquire()
        room.set()
        await log.close()
    assert file.read_bytes() == 2 * LINE
    assert sorted(record.getMessage() for record in caplog.records) == [
        "audit: 3 events are missing in the log",
        "audit: cannot write the log: No space left on device",
        "audit: the queue is full: events are dropped until the log can be written",
    ]
    assert (log.events, log.dropped) == (5, 3)


async def test_a_line_that_was_cut_by_an_error_goes_on_where_it_was_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend, "_RETRY_DELAY", 0)
    write, turns = os.write, iter([4, OSError(28, "No space left on device"), 100])

    def cut(where: int, data: Any) -> int:
        turn = next(turns)
        if isinstance(turn, OSError):
            raise turn
        return write(where, data[:turn])

    monkeypatch.setattr(os, "write", cut)
    log = Backend(tmp_path / "audit.log")
    log.open()
    log.queue_line(b"0123456789\n")
    await log.close()
    assert (tmp_path / "audit.log").read_bytes() == b"0123456789\n"


async def test_another_file_takes_what_the_old_one_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad, tried = os.open("/dev/full", os.O_WRONLY), threading.Event()
    files = iter([bad, os.open(tmp_path / "new", os.O_WRONLY | os.O_CREAT)])
    monkeypatch.setattr(backend, "_open_file", lambda _: next(files))
    monkeypatch.setattr(backend.log, "error", lambda *_: tried.set())
    log = Backend(tmp_path / "audit.log")
    log.open()
    log.queue_line(LINE)
    log.flush()
    tried.wait()
    log.open()
    await log.close()
    assert (tmp_path / "new").read_bytes() == LINE


async def test_a_reader_that_stands_still_holds_up_neither_the_loop_nor_the_stop(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(backend, "_PATIENCE", 0.01)
    reader, writer = os.pipe()
    monkeypatch.setattr(backend, "_open_file", lambda _: writer)
    log = Backend(Path("pipe"))
    log.open()
    line = b"x" * 99_999 + b"\n"
    with caplog.at_level(logging.ERROR):
        for _ in range(100):
            log.queue_line(line)
        await log.close()
    told = [record.getMessage() for record in caplog.records]
    assert told[0] == "audit: the queue is full: events are dropped until the log can be written"
    assert told[1:] == ["audit: the log could not be written for 0.01 s: 83 events are missing at its end"]
    assert (log.events, log.dropped) == (100, 100)
    os.close(reader)
