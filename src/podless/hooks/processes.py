"""Starts and ends the processes that run hooks, including processes that the hooks start."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence

from podless.hooks.keeper import CAN_KEEP

_START_CODE = (
    "import sys; sys.path[:] = {path!r}; from podless.hooks.keeper import become_keeper; become_keeper({descriptor}); "
    "from podless.hooks.worker import main; main({descriptor}, {sources!r})"
)
_EXIT_TIMEOUT = 10.0  # seconds for the keeper to end


class WorkerProcess:
    """A process that runs hooks; on Linux, the keeper of one (hooks/keeper.py)."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def kill(self) -> None:
        """Kill the worker and its children. Does not block."""
        pipe = self._process.stdin
        with contextlib.suppress(OSError):
            if pipe is None:
                os.killpg(self._process.pid, signal.SIGKILL)
            elif not pipe.closed:  # a forked process may keep the pipe open, so its end is not enough
                pipe.write(b"\n")
        with contextlib.suppress(OSError):
            if pipe is not None:
                pipe.close()

    def clean_up(self) -> None:
        """Wait for the end of the process, after `kill`."""
        try:
            self._process.wait(_EXIT_TIMEOUT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def start_worker(worker_end: socket.socket, sources: Sequence[str]) -> WorkerProcess:
    """Start a process that loads hooks and communicates over a socket, whose end is closed here. Raises OSError."""
    with worker_end:
        start = _START_CODE.format(path=sys.path, descriptor=worker_end.fileno(), sources=list(sources))
        process = subprocess.Popen(
            [sys.executable, "-c", start],
            bufsize=0,
            stdin=subprocess.PIPE if CAN_KEEP else subprocess.DEVNULL,
            pass_fds=(worker_end.fileno(),),
            process_group=0,  # Ctrl+C in the terminal is for the server only
        )
    return WorkerProcess(process)
