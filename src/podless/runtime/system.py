"""Functions of the operating system, with replacements for platforms that lack them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

_BOOT_CLOCK: int | None = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", None))


class ProcessUsage(NamedTuple):
    """The resources that this process has used.

    cpu: seconds. memory: the maximum so far, in bytes; 0 if the system does not report it.
    """

    cpu: float
    memory: int


def new_event_loop() -> asyncio.AbstractEventLoop:
    """Return an event loop: uvloop's, or asyncio's without uvloop (Windows)."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def find_thread_clock() -> int | None:
    """Return the id of the calling thread's processor clock, for other threads; None if there is none."""
    if not hasattr(time, "pthread_getcpuclockid") or not hasattr(time, "clock_gettime"):
        return None
    return time.pthread_getcpuclockid(threading.get_ident())


def read_usage() -> ProcessUsage:
    """Return the resources that this process has used."""
    try:
        import resource
    except ImportError:
        return ProcessUsage(time.process_time(), 0)
    used = resource.getrusage(resource.RUSAGE_SELF)
    unit = 1 if sys.platform == "darwin" else 1024  # bytes on macOS, KiB elsewhere
    return ProcessUsage(used.ru_utime + used.ru_stime, used.ru_maxrss * unit)


def read_page_size() -> int:
    """Return the page size of /proc figures, in bytes."""
    return os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def read_file_limit() -> int:
    """Return the maximum number of open files of this process, 0 if the system does not report it."""
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def raise_file_limit() -> None:
    """Raise the limit on open files to the system's maximum, because every connection is an open file."""
    try:
        import resource
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # macOS reports no limit, but allows no more than OPEN_MAX (10,240)
    for limit in (hard, 10_240):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, limit) if limit > 0 else limit, hard))
            return


def read_boot_clock() -> float:
    """Return the seconds of a clock that never goes back and, if possible, continues while the machine sleeps."""
    return time.monotonic() if _BOOT_CLOCK is None else time.clock_gettime(_BOOT_CLOCK)


def count_processors() -> int:
    """Return how many processors this process may use: by its affinity, and by the quota of its control group."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with contextlib.suppress(OSError, ValueError, IndexError):  # no Linux, no quota, or control groups of version 1
        group = Path("/proc/self/cgroup").read_text(encoding="utf-8").partition("::")[2].strip()
        quota, period = Path(f"/sys/fs/cgroup{group}/cpu.max").read_text(encoding="utf-8").split()
        count = min(count, int(quota) // int(period))
    return max(count, 1)
