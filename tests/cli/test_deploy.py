"""What is in deploy/ is what the command takes."""

from __future__ import annotations

import json
import logging
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from podless.cli import main
from podless.cli.serve import JSONLines

DEPLOY = Path(__file__).parent.parent.parent / "deploy"
BINARY = "/opt/podless/bin/podless"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not on this machine")
def test_the_unit_is_one_that_systemd_takes(tmp_path: Path) -> None:
    unit = tmp_path / "podless.service"
    unit.write_text((DEPLOY / "podless.service").read_text().replace(BINARY, sys.executable))
    done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", ["podless.service", "Dockerfile"])
def test_the_options_in_a_file_are_those_of_the_command(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = (DEPLOY / name).read_text()
    assert BINARY in text
    with pytest.raises(SystemExit):
        main(["serve", "--help"])
    shown = capsys.readouterr().out
    used = {word.strip('",') for word in text.split() if word.strip('",').startswith("--") and "=" not in word}
    ours = {word for word in used if word in ("--data", "--bind")}
    assert ours == {"--data", "--bind"}
    assert all(word in shown for word in ours)


def test_a_log_that_no_terminal_shows_is_json() -> None:
    record = logging.LogRecord("podless", logging.WARNING, __file__, 1, "%s is\nfull", ("it",), None)
    told = json.loads(JSONLines().format(record))
    assert (told["level"], told["msg"]) == ("warning", "it is\nfull")
    assert told["ts"] > 1e12


def test_what_the_image_is_made_of_is_there_and_sent_to_the_daemon() -> None:
    root = DEPLOY.parent
    copied = [
        line.split()[1:-1] for line in (DEPLOY / "Dockerfile").read_text().splitlines() if line.startswith("COPY")
    ]
    wanted = {name for names in copied for name in names if not name.startswith(("--", "/"))}
    assert {"pyproject.toml", "requirements.lock", "src"} <= wanted
    assert all((root / name).exists() for name in wanted)
    sent = {line[1:] for line in (root / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert wanted == sent
