"""`python -m tests.models`: the tests of generated modules with all definitions instead of a sample."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.models.corpus import EVERY

if __name__ == "__main__":
    os.environ[EVERY] = "1"
    sys.exit(
        pytest.main(
            [
                "-m",
                "",
                "--durations=10",
                str(Path(__file__).with_name("test_generated.py")),
                *sys.argv[1:],
            ]
        )
    )
