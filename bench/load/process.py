"""What a process takes of the machine, as the kernel tells it."""

from __future__ import annotations

import os
import re
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")


def rss(process: int) -> float:
    """MB of resident memory."""
    return int(re.findall(r"VmRSS:\s+(\d+)", Path(f"/proc/{process}/status").read_text())[0]) / 1024


def cpu(process: int) -> float:
    """Seconds of CPU so far, to a hundredth."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / _TICK
