"""Nothing that counts is missing in what workers tell."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TESTS = """
import pytest

@pytest.fixture
def broken():
    raise ValueError("at the start")

@pytest.fixture
def breaking():
    yield
    raise ValueError("at the end")

def test_right():
    pass

def test_wrong():
    assert not "wrong"

def test_left_out():
    pytest.skip("why not")

def test_never(broken):
    pass

def test_too_late(breaking):
    pass
"""


def test_every_failure_is_told(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-n", "1", "-rA", "-p", "tests.reports", "--rootdir", str(tmp_path)]
    root = Path(__file__).parent.parent
    done = subprocess.run([*command, str(tmp_path)], cwd=root, capture_output=True, text=True, check=False, timeout=100)
    assert "1 failed, 2 passed, 1 skipped, 2 errors" in done.stdout
    for text in ("ValueError: at the start", "ValueError: at the end", "assert not 'wrong'", "why not"):
        assert text in done.stdout
