"""No input nests so deep that it takes the stack of a thread, however small a system makes it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.fuzz.deep import WORK

pytestmark = pytest.mark.slow

# bytes: the least that Python gives to threads (with musl); with glibc they have 2 MiB at least, and mostly 8
SMALLEST = 1 << 20


@pytest.mark.parametrize("name", WORK)
def test_the_deepest_input_fits_into_the_smallest_stack(name: str) -> None:
    code = [sys.executable, "-X", "faulthandler", "-m", "tests.fuzz.deep", str(SMALLEST), name]
    ended = subprocess.run(code, capture_output=True, text=True, timeout=600)
    assert ended.returncode == 0, ended.stderr
