"""What the operating system tells."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from podless.runtime.system import count_processors


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="needs Linux")
@pytest.mark.parametrize(
    ("told", "count"), [("max 100000", 8), ("400000 100000", 4), ("50000 100000", 1), ("", 8), ("1600000 100000", 8)]
)
def test_a_quota_of_the_control_group_counts(monkeypatch: pytest.MonkeyPatch, told: str, count: int) -> None:
    files = {"/proc/self/cgroup": "0::/a/b\n", "/sys/fs/cgroup/a/b/cpu.max": f"{told}\n"}
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {*range(8)})
    monkeypatch.setattr(Path, "read_text", lambda self, encoding: files[str(self)])
    assert count_processors() == count
