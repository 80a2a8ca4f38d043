"""What a run leaves out is told at its end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import pytest

@pytest.mark.parametrize("number", range(3))
def test_store(number):
    pytest.skip("etcd is not installed")

@pytest.mark.skipif(True, reason="kubectl is not on this machine")
def test_client():
    pass

@pytest.mark.slow
def test_long():
    pass

def test_right():
    pass
"""


def run(folder: Path, *arguments: str) -> str:
    (folder / "test_some.py").write_text(TESTS)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = slow: takes seconds\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.leftout", "--rootdir", str(folder), *arguments]
    done = subprocess.run(
        [*command, str(folder)], cwd=Path(__file__).parent.parent, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("workers", ["0", pytest.param("2", marks=pytest.mark.slow)])
def test_reasons_are_told_with_their_number(tmp_path: Path, workers: str) -> None:
    told = run(tmp_path, "-n", workers)
    assert "left out: 4 tests\n     3  etcd is not installed\n     1  kubectl is not on this machine\n" in told, told
    assert "make test-all" not in told


def test_an_expression_that_leaves_tests_out_is_told(tmp_path: Path) -> None:
    told = run(tmp_path, "-m", "not slow", "-k", "right or long", "-n", "0")
    assert "left out by -m 'not slow': run `make test-all` for all tests\n" in told
    assert "left out: " not in told
