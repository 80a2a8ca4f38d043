"""podless run: a command with a server of its own."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from podless.cli import main
from tests.conftest import definition

PROGRAM = """
import os
from podless.remote import kubeconfig
print(kubeconfig.read_kubeconfig(__import__("pathlib").Path(os.environ["KUBECONFIG"])).url)
raise SystemExit(3)
"""

VERSION = """
import json, os, pathlib, ssl, urllib.request
from podless.remote import kubeconfig
url = kubeconfig.read_kubeconfig(pathlib.Path(os.environ["KUBECONFIG"])).url
print(json.load(urllib.request.urlopen(url + "/version", context=ssl._create_unverified_context()))["gitVersion"])
"""


def test_the_command_has_a_server_and_its_code_is_passed_on(tmp_path: Path) -> None:
    (tmp_path / "crd.json").write_text(json.dumps(definition("run.example.com")))
    command = [sys.executable, "-m", "podless", "run", "--apply", str(tmp_path), "--", sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    assert done.stdout.startswith("https://127.0.0.1:")


def test_a_signal_reaches_the_command() -> None:
    program = "import sys, time; print('here', flush=True); time.sleep(60)"
    command = [sys.executable, "-m", "podless", "run", "--", sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "here\n"
        child.send_signal(signal.SIGTERM)
        assert child.wait() == 128 + signal.SIGTERM


def test_what_cannot_be_run_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--", "/nothing/here"]) == 127
    assert main(["run", "--apply", "/nothing", "--", "true"]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "podless: /nothing/here: the folder /nothing does not exist",
        "podless: /nothing: no such file or directory",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\n---\nkind: X\n", "1: an object needs apiVersion and kind"),
        ("kind: X\napiVersion: v1\nmetadata: {name: x}\n---\n- 1\n", "4: an object needs apiVersion and kind"),
        ("a: [\n", "1: yaml: line 1: did not find expected node content"),
    ],
)
def test_an_error_of_a_manifest_has_file_and_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    (tmp_path / "a.yaml").write_text(text)
    assert main(["run", "--apply", str(tmp_path), "--", "true"]) == 1
    assert capsys.readouterr().err == f"podless: {tmp_path}/a.yaml:{said}\n"


def test_chaos_tells_its_seed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--enable-faults", "--chaos", "7", "--", "true"]) == 0
    assert capsys.readouterr().err == "podless: chaos: seed 7; to get the same faults again, use --chaos 7\n"
    assert main(["run", "--enable-faults", "--chaos", "--", "true"]) == 0
    drawn = capsys.readouterr().err
    assert re.fullmatch(r"podless: chaos: seed (\d+); to get the same faults again, use --chaos \1\n", drawn)


def test_the_server_is_of_a_release(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--kubernetes-version", "1.32", "--", sys.executable, "-c", VERSION]) == 0
    assert capfd.readouterr().out.startswith("v1.32.")
