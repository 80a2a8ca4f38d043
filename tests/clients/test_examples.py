"""The operators in examples/ pass their own tests, which know nothing of this suite."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from podless.cli import main

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
pytestmark = [pytest.mark.slow, pytest.mark.clients]


def passes(command: list[str], folder: Path, seconds: float, **environment: str) -> None:
    """A suite's own run ends well."""
    given = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "KUBE"))}
    done = subprocess.run(
        command,
        cwd=folder,
        env=given | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8000:]


def test_the_kopf_operator_on_all_releases() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-c", "pytest.ini", "-p", "no:cacheprovider"]
    command += ["-p", "podless.pytest_plugin"]  # also where the package is not installed
    passes([*command, "--podless-kubernetes-version", "1.30-"], EXAMPLES / "kopf", 300)


def test_the_controller_in_plain_asyncio() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-c", "pytest.ini", "-p", "no:cacheprovider"]
    passes([*command, "-p", "podless.pytest_plugin"], EXAMPLES / "asyncio", 300)


def test_generated_classes_with_python_clients(capsys: pytest.CaptureFixture[str]) -> None:
    folder = EXAMPLES / "models"
    assert main(["model", str(folder / "crd.yaml"), "--style", "dataclass"]) == 0
    assert capsys.readouterr().out == (folder / "teams_v1.py").read_text()
    command = [sys.executable, "-m", "pytest", "-q", "-c", "pytest.ini", "-p", "no:cacheprovider"]
    passes([*command, "-p", "podless.pytest_plugin"], folder, 300)


@pytest.mark.hangs_after(1800)  # the first run fetches modules and compiles them
@pytest.mark.parametrize("more", [(), ("--chaos", "7")], ids=["plain", "chaos"])
def test_the_kubebuilder_operator(tmp_path: Path, more: tuple[str, ...]) -> None:
    if shutil.which("go") is None:
        pytest.skip("there is no Go on this machine")
    fetched = subprocess.run(
        ["go", "mod", "download"],
        cwd=EXAMPLES / "kubebuilder",
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    if fetched.returncode:
        pytest.skip(f"modules cannot be fetched: {fetched.stderr[-300:]}")
    assert main(["envtest", str(tmp_path), *more]) == 0
    command = ["go", "test", "-count=1", "./..."]
    passes(command, EXAMPLES / "kubebuilder", 1700, KUBEBUILDER_ASSETS=str(tmp_path))
