"""The processes that run hooks: starts them, and ends everything that a worker has started (Linux only).

The process that the server starts forks: its child becomes the worker, and it stays as the keeper. Processes whose
parents have ended become children of the keeper, whatever they did to their group, session and environment. When the
worker ends, or the server asks for it, the keeper kills them all.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence

CAN_KEEP = sys.platform == "linux"
_START_CODE = (
    "import sys; sys.path[:] = {path!r}; from podless.hooks.processes import become_keeper; "
    "become_keeper({descriptor}); from podless.hooks.worker import main; main({descriptor}, {sources!r})"
)
_EXIT_TIMEOUT = 10.0  # seconds for the keeper to end
_SUBREAPER, _DEATH_SIGNAL = 36, 1  # PR_SET_CHILD_SUBREAPER and PR_SET_PDEATHSIG of linux/prctl.h
_MAX_SEARCHES = 1000  # maximum searches for processes that a worker has left behind
_SEARCH_DELAY = 0.005  # seconds between two searches


class WorkerProcess:
    """A process that runs hooks; on Linux, the keeper of one."""

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


def become_keeper(descriptor: int) -> None:
    """Fork, and return in the worker. The keeper ends here, after the worker and all its children.

    descriptor: the worker's socket. Standard input is a pipe from the server: input or its end ask to end the worker.
    """
    if not CAN_KEEP:
        return
    _set_process_option(_SUBREAPER, 1)
    worker = os.fork()
    with contextlib.suppress(OSError):  # both try it, because either of them may be the first to need it
        os.setpgid(worker, worker)
    if worker:
        os.close(descriptor)
        _wait_for_worker(worker)
        _end_children()
        os._exit(0)
    _set_process_option(_DEATH_SIGNAL, signal.SIGKILL)
    null_device = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null_device, 0)
    os.close(null_device)


def _set_process_option(option: int, value: int) -> None:
    with contextlib.suppress(ImportError, AttributeError, OSError):  # a Python without ctypes
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _wait_for_worker(worker: int) -> None:
    """Wait for the end of the worker, and kill it if the server asks for it."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    poll = select.poll()
    poll.register(reading, select.POLLIN)
    poll.register(0, select.POLLIN)
    while worker not in _reap_children():
        for descriptor, _ in poll.poll():
            if descriptor == reading:
                os.read(reading, 512)
            else:
                poll.unregister(0)
                os.killpg(worker, signal.SIGKILL)


def _reap_children() -> Iterator[int]:
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG)[0]) != 0:
            yield ended


def _end_children() -> None:
    """Kill all children. Their children become children of this process in turn."""
    for _ in range(_MAX_SEARCHES):
        for _ in _reap_children():
            pass
        children = [*_find_children()]
        if not children:
            return
        for child in children:
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)
        time.sleep(_SEARCH_DELAY)


def _find_children() -> Iterator[int]:
    """Yield the children of this process: those with its number in the fourth field of /proc/NUMBER/stat."""
    process_id = str(os.getpid()).encode()
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                if file.read().rpartition(b")")[2].split()[1] == process_id:
                    yield int(name)
