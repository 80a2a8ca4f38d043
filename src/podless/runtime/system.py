"""Functions of the operating system, with replacements: imports nothing that a platform lacks."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
import time
from typing import NamedTuple

_BOOT_CLOCK: int | None = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", None))


class ProcessUsage(NamedTuple):
    """The resources that this process has used.

    cpu: seconds. memory: bytes, the maximum so far; 0 if the system does not report it.
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
    """Return the processor clock of the calling thread, for other threads; None if the system has none."""
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
    """Return the bytes of a page of memory, as /proc counts it."""
    return os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def read_file_limit() -> int:
    """Return how many files this process may have open, 0 where the system does not tell."""
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def raise_file_limit() -> None:
    """Take all the open files that the system allows: every connection is one."""
    try:
        import resource
    except ImportError:
        return
    soft, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    # macOS allows no more than OPEN_MAX (10,240) though it says that there is no limit
    for limit in (most, 10_240):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, limit) if limit > 0 else limit, most))
            return


def read_boot_clock() -> float:
    """Return seconds of a clock that never goes back, and goes on while the machine sleeps, if there is such a one."""
    return time.monotonic() if _BOOT_CLOCK is None else time.clock_gettime(_BOOT_CLOCK)
