"""Lines in files: none is lost, none is torn, and old files go."""

from __future__ import annotations

import logging
import os
from pathlib import Path

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
    log.note(LINE)
    log.note(LINE)
    log.close()
    assert file.read_bytes() == b"before\n" + 2 * LINE


async def test_a_new_file_is_its_owners_alone(tmp_path: Path) -> None:
    log = Backend(tmp_path / "audit.log")
    log.open()
    log.close()
    assert (tmp_path / "audit.log").stat().st_mode & 0o777 == 0o600


async def test_a_file_that_was_moved_is_begun_anew(tmp_path: Path) -> None:
    file, moved = tmp_path / "audit.log", tmp_path / "old.log"
    log = Backend(file)
    log.open()
    log.note(LINE)
    file.rename(moved)
    log.open()
    log.note(LINE)
    log.close()
    assert (moved.read_bytes(), file.read_bytes()) == (LINE, LINE)


async def test_files_are_set_aside_by_size(tmp_path: Path) -> None:
    file = tmp_path / "audit.log"
    log = Backend(file, size=50)
    log.open()
    for _ in range(23):
        log.note(LINE)
        log.flush()
    log.close()
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
        log.note(LINE)
    log.close()
    kept = [each.name for each in files_in(tmp_path)]
    assert len(kept) == 4
    assert "audit-mine.log" in kept
    assert "audit-2020-01-05T00-00-00.000.log" in kept


async def test_a_full_disk_is_said_once_it_works_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(backend, "_MOST", 25)
    file = tmp_path / "audit.log"
    log = Backend(file)
    log.open()
    with monkeypatch.context() as patch, caplog.at_level(logging.ERROR):

        def full(*_: object) -> int:
            raise OSError(28, "No space left on device")

        patch.setattr(os, "write", full)
        for _ in range(5):
            log.note(LINE)
        log.flush()
    with caplog.at_level(logging.ERROR):
        log.flush()
    assert file.read_bytes() == 2 * LINE
    assert [record.getMessage() for record in caplog.records] == [
        "the audit log cannot be written: No space left on device",
        "3 events are missing in the audit log",
    ]
    log.close()
