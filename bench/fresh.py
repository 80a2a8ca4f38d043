"""A hundred tests with a server of their own each, as pytest runs them."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.record.figure import Figure, Sheet

_SUITE = """
import pytest

MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}}

@pytest.mark.parametrize("number", range(%d))
def test_it(podless_fresh, number):
    assert podless_fresh.list("configmaps") == []
    podless_fresh.apply(MAP)
    assert podless_fresh.get("configmap", "one")
"""


def run(folder: Path, *more: str) -> tuple[float, float]:
    """Seconds that a run of the suite takes, and seconds of CPU."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "podless.pytest_plugin", "-p", "no:cacheprovider", *more]
    before, began = os.times(), time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    took, after = time.perf_counter() - began, os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return took, spent


def main(smoke: bool = False) -> list[Figure]:
    count = 3 if smoke else 100
    sheet = Sheet()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pytest.ini").write_text("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
        (folder / "test_fresh.py").write_text(_SUITE % count)
        run(folder)  # what is compiled once is there from then on
        for title, more in (("", ()), (", two workers of xdist", ("-n", "2"))):
            took, spent = run(folder, *more)
            sheet.put(f"{count} tests with a fresh server each{title}", took, "s")
            sheet.put(f"the same, CPU{title}", spent, "s")
    return sheet
