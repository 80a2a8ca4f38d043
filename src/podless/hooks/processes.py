"""Starts and ends the processes that run hooks, with all processes that the hooks start."""

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
_MARK = "PODLESS_HOOKS_WORKER"  # a variable in the environment of a worker and of what it starts
_ROUNDS = 100  # looks for processes that a worker has left behind
_BREAK = 0.01  # seconds between two looks


class WorkerProcess:
    """A process that runs hooks. mark: the value of its variable."""

    def __init__(self, process: subprocess.Popen[bytes], mark: str) -> None:
        self._process = process
        self._mark = mark

    def kill(self) -> None:
        """End the process, and those of its group. Takes no time."""
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def clean_up(self) -> None:
        """Wait for the end of the process, then end those that it started and that have left its group.

        Looks through all processes of the machine (Linux only). Processes without the variable are not found.
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
    """Return descriptors of the processes whose environment has a variable with a value; each is closed afterwards."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended, or is another user's
            descriptor = os.pidfd_open(int(folder.name))  # before the look: the number may be given to another process
            try:
                if variable in (folder / "environ").read_bytes().split(b"\0"):
                    yield descriptor
            finally:
                os.close(descriptor)


def start_worker(theirs: socket.socket, sources: Sequence[str]) -> WorkerProcess:
    """Start a process that loads hooks and talks over a socket, which is closed here. Raises OSError."""
    mark = secrets.token_hex(16)
    with theirs:
        start = _START.format(path=sys.path, descriptor=theirs.fileno(), sources=list(sources))
        process = subprocess.Popen(
            [sys.executable, "-c", start],
            stdin=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(),),
            process_group=0,  # a signal from the terminal is for the server
            env={**os.environ, _MARK: mark},
        )
    return WorkerProcess(process, mark)
