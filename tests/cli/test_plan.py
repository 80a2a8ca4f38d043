"""podless plan on the command line."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from podless.cli import main

ONE = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {color: blue}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text(ONE)
    return tmp_path


def run(*arguments: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = main(["plan", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_exit_codes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("a.yaml", "--from-nothing", capsys=capsys)[0] == 2
    assert run("a.yaml", "--from", "a.yaml", capsys=capsys)[0] == 0
    (folder / "a.yaml").write_text(ONE.replace("name: a", "name: A"))
    code, out, _ = run("a.yaml", "--from-nothing", capsys=capsys)
    assert (code, out.splitlines()[-1]) == (1, "Plan: 0 to create, 0 to change, 0 to delete, 1 rejected, 0 unchanged.")
    assert "ConfigMap default/A  a.yaml:3:18\n" in out


def test_what_cannot_be_planned_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for given, said in (
        (["nowhere", "--from-nothing"], 'the path "nowhere" does not exist'),
        (["a.yaml", "--from", "nowhere"], 'the path "nowhere" does not exist'),
        (["a.yaml", "--from", "a.yaml", "--from-nothing"], "--from and --from-nothing exclude each other"),
        (["a.yaml", "--from-nothing", "--prune", "a=b", "--mode", "create"], "kubectl create does not prune"),
        (["-", "--watch"], "--watch follows files, not the standard input"),
        (["a.yaml", "--server", "ftp://x"], "give the server as https://HOST:PORT"),
    ):
        code, out, err = run(*given, capsys=capsys)
        assert (code, out) == (1, "")
        assert said in err
        assert err.count("\n") == 1


def test_mistakes_in_arguments_do_not_look_like_changes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for given in (["--bogus", "a.yaml"], [], ["--mode", "magic", "a.yaml"], ["a.yaml", "--request-timeout", "0"]):
        with pytest.raises(SystemExit) as ended:
            main(["plan", *given])
        assert ended.value.code == 1
        assert capsys.readouterr().err.count("\n") == 1


# a shell that starts the tests in the background has them ignore SIGINT, and programs inherit that
LISTENING = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from podless.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_watch_plans_again_when_a_file_changes(folder: Path) -> None:
    command = [sys.executable, "-c", LISTENING, "plan", "a.yaml", "--from-nothing", "--watch"]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert 'data.color: "blue"' in _read_until(process.stdout, "Plan:")
        _read_until(process.stderr, "waiting for changes")
        (folder / "new").write_text(ONE.replace("blue", "green"))
        (folder / "new").replace(folder / "a.yaml")  # in one step, so that no empty file is seen
        assert 'data.color: "green"' in _read_until(process.stdout, "Plan:")
        _read_until(process.stderr, "waiting for changes")
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 2


def _read_until(stream: Iterable[str], word: str) -> str:
    text = ""
    for line in stream:
        text += line
        if word in line:
            return text
    raise AssertionError(text)
