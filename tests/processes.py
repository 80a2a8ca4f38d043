"""Signals to processes that tests have started."""

from __future__ import annotations

import os
import signal
import subprocess
from typing import Any


def send(process: subprocess.Popen[Any], number: int) -> None:
    """Send a signal to a child of this process. What is to stop stands still when this returns.

    A process of many threads goes on until the one that the signal was given to has had its turn.
    """
    process.send_signal(number)
    if number == signal.SIGSTOP:
        os.waitid(os.P_PID, process.pid, os.WSTOPPED)
