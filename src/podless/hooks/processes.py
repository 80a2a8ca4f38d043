"""Starts and ends the processes that run hooks, including processes that the hooks start."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

_START = "import sys; sys.path[:] = {path!r}; from podless.hooks.worker import main; main({descriptor}, {sources!r})"
_MARK = "PODLESS_HOOKS_WORKER"  # an environment variable of a worker and of its children
_ROUNDS = 100  # maximum searches for processes that a worker has left behind
_BREAK = 0.01  # seconds between two searches


class WorkerProcess:
    """A process that runs hooks. mark: the value of its environment variable."""

    def __init__(self, process: subprocess.Popen[bytes], mark: str) -> None:
        self._process = process
        self._mark = mark

    def kill(self) -> None:
        """Kill the process and its group. Does not block."""
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def clean_up(self) -> None:
        """Wait for the end of the process, then kill processes that it started and that have left its group.

        Searches all processes of the machine (Linux only). Processes without the variable are not found.
        """
        self._process.wait()
        if not hasattr(os, "pidfd_open") or not hasattr(signal, "pidfd_send_signal"):
            return
        for _ in range(_ROUNDS):
            found = False
            for descriptor in _find_marked(f"{_MARK}={self._mark}".encode()):
                found = True
                with contextlib.suppress(OSError):
                    signal.pidfd_send_signal(descriptor, signal.SIGKILL)
            if not found:
                return
            time.sleep(_BREAK)


def _find_marked(variable: bytes) -> Iterator[int]:
    """Yield pidfds of the processes with a variable in their environment. Each is closed afterwards."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # the process has ended, or belongs to another user
            # before the check, because the number may be given to another process
            descriptor = os.pidfd_open(int(folder.name))
            try:
                if variable in (folder / "environ").read_bytes().split(b"\0"):
                    yield descriptor
            finally:
                os.close(descriptor)


def start_worker(theirs: socket.socket, sources: Sequence[str]) -> WorkerProcess:
    """Start a process that loads hooks and communicates over a socket, whose end is closed here. Raises OSError."""
    mark = secrets.token_hex(16)
    with theirs:
        start = _START.format(path=sys.path, descriptor=theirs.fileno(), sources=list(sources))
        process = subprocess.Popen(
            [sys.executable, "-c", start],
            stdin=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(),),
            process_group=0,  # Ctrl+C in the terminal is for the server only
            env={**os.environ, _MARK: mark},
        )
    return WorkerProcess(process, mark)
