"""Ends everything that a worker of hooks has started, also processes that have left its group (Linux only).

The process that the server starts forks: its child becomes the worker, and it stays as the keeper. Processes whose
parents have ended become children of the keeper, whatever they did to their group, session and environment. When the
worker ends, or the server asks for it, the keeper kills them all.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Iterator

CAN_KEEP = sys.platform == "linux"
_SUBREAPER, _DEATH_SIGNAL = 36, 1  # PR_SET_CHILD_SUBREAPER and PR_SET_PDEATHSIG of linux/prctl.h
_MAX_SEARCHES = 1000  # maximum searches for processes that a worker has left behind
_SEARCH_DELAY = 0.005  # seconds between two searches


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
