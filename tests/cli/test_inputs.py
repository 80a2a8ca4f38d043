"""Standard input and files without an end are read up to a limit."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from podless.cli import main
from podless.cli.transfer import documents
from podless.runtime import files

READERS = ["check -", "compare - -", "convert -", "eval true --object -", "import -", "model -", "plan -", "schema -"]


class Endless(io.RawIOBase):
    """A stream without an end."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        buffer[:] = b"y\n" * (len(buffer) // 2) + b"\n" * (len(buffer) % 2)
        return len(buffer)


@pytest.fixture(autouse=True)
def limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(files, "MAX", 2 << 20)
    monkeypatch.setattr(documents, "_INPUT", 3 << 20)
    yield
    assert not list(tmp_path.glob("podless-*"))


@pytest.mark.parametrize("command", READERS)
def test_standard_input_without_an_end_is_an_error(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(cast("Any", Endless()))))
    assert main(command.split()) in (1, 2)
    most = 3 if command == "import -" else 2
    said = f"podless: standard input: longer than {most} MiB; save it in a file, and name the file\n"
    assert capsys.readouterr() == ("", said)


@pytest.mark.parametrize("command", [*READERS, "import --audit-log --data history -"])
def test_a_closed_standard_input_is_an_error(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert main(command.split()) in (1, 2)
    said = "podless: standard input: closed; name a file, or pass the manifests through a pipe\n"
    assert capsys.readouterr() == ("", said)


@pytest.mark.parametrize("command", ["check", "convert", "schema"])
def test_a_device_without_an_end_is_an_error(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "/dev/zero"]) == 2
    assert capsys.readouterr().err == "podless: /dev/zero: longer than 2 MiB; save it in a file, and name the file\n"


def test_regular_files_have_any_length_and_pipes_are_read_whole(tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes(b"a" * (3 << 20))
    assert len(files.read_path(tmp_path / "long")) == 3 << 20
    reading, writing = os.pipe()
    os.write(writing, b"text")
    os.close(writing)
    assert files.read_path(Path(f"/dev/fd/{reading}")) == b"text"
    os.close(reading)


@pytest.mark.parametrize("command", ["check -", "compare a.yaml -", "model -", "plan -", "schema -", "test -"])
def test_empty_standard_input_is_an_error(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "a.yaml").write_text("{}")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\n")))
    assert main(command.split()) in (1, 2)
    assert capsys.readouterr().err == "podless: standard input is empty\n"
