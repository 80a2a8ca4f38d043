"""A test that hangs ends the run, and is told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TESTS = """
import os, pytest, time

def test_right():
    pass

@pytest.mark.hangs_after(0.2)
def test_hangs():
    os.write(2, b"captured")
    while True:
        time.sleep(60)

def test_next():
    raise AssertionError
"""


def test_what_hangs_ends_with_its_stack(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = hangs_after(seconds): ends\n")
    command = [sys.executable, "-m", "pytest", "-p", "tests.hanging", "--rootdir", str(tmp_path), str(tmp_path)]
    root = Path(__file__).parent.parent
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 1
    assert "in test_hangs" in done.stderr
    assert "AssertionError" not in done.stdout
