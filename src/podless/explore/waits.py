"""Finds what the threads of a process wait for, as Linux reports it.

A thread that waits for a socket or another thread does nothing until something else acts. A thread that waits with a
timeout wakes by itself. So podless knows, without waiting, that a process has nothing more to do.

Source: proc(5), /proc/PID/task/TID/{stat,schedstat,syscall,children}, /proc/PID/mem, /proc/PID/net/tcp.
"""

from __future__ import annotations

import contextlib
import math
import os
import platform
import struct
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
_RUNNING = "RD"  # states in /proc/PID/stat of a thread that has work to do
_FUTEX_WAIT, _FUTEX_WAIT_BITSET, _FUTEX_CLOCK_REALTIME = 0, 9, 256

# returns the seconds until a call returns, from its arguments and the seconds that it may have lasted
_Limit = Callable[[Sequence[int], "_Memory", float], float]


Thread = tuple[int, int]  # (process ID, thread ID)


class _Unknown(Exception):
    """The timeout of a system call is unknown."""


class Activity(NamedTuple):
    """The activity of a process and its children so far."""

    running: bool  # whether a thread runs or is about to
    ticks: int  # CPU time of all threads, in clock ticks
    ran: tuple[int, ...]  # for each thread, nanoseconds of CPU time plus the number of times that it ran
    threads: tuple[Thread, ...]  # process and thread IDs


class _Memory:
    """The memory of a process, which has the timeouts of system calls."""

    def __init__(self, pid: int) -> None:
        self._file = os.open(PROC / str(pid) / "mem", os.O_RDONLY)

    def close(self) -> None:
        os.close(self._file)

    def read_pair(self, address: int) -> tuple[int, int]:
        """Return the two numbers of a timespec or timeval."""
        seconds, fraction = struct.unpack("qq", os.pread(self._file, 16, address))
        return seconds, fraction


def read_activity(pid: int) -> Activity:
    """Return the activity of a process and its children now."""
    running, ticks, ran, threads = False, 0, [], []
    for process, thread, state, spent, times in _read_threads(pid):
        running = running or state in _RUNNING
        ticks += spent
        ran.append(times)
        threads.append((process, thread))
    return Activity(running, ticks, tuple(ran), tuple(threads))


def find_next_wake(threads: Sequence[Thread], waited: Mapping[Thread, float], unknown: float) -> float:
    """Return the seconds after which the first of some waiting threads wakes by itself: inf for never.

    waited: the seconds for which each thread may have been in its system call; 0 for others. unknown: used for a thread
    whose timeout is unknown: on another system, without the permission to trace, or in a system call that is not in the
    table.
    """
    wakes = math.inf if threads else unknown
    for process in dict(threads):
        try:
            memory = _Memory(process)
        except OSError:
            wakes = min(wakes, unknown)
            continue
        with contextlib.closing(memory):
            for thread in threads:
                if thread[0] == process:
                    wakes = min(wakes, _read_wake(thread, memory, waited.get(thread, 0.0), unknown))
    return max(wakes, 0.0)


def list_sockets(threads: Sequence[Thread]) -> frozenset[str] | None:
    """Return the sockets of processes, None if they are unknown."""
    links: set[str] = set()
    for process in dict(threads):
        folder = f"/proc/{process}/fd"
        try:
            links.update(os.readlink(f"{folder}/{name}") for name in os.listdir(folder))
        except OSError:
            return None
    return frozenset(link for link in links if link.startswith("socket:"))


def has_other_connections(threads: Sequence[Thread], sockets: Collection[str], port: int) -> bool:
    """Return whether processes have TCP connections to other ports, through which another program may wake them.

    The kernel lists the connections of the whole machine, so this takes milliseconds.
    """
    for process in dict(threads):
        folder = PROC / str(process) / "net"
        try:
            lines = [line.split() for name in ("tcp", "tcp6") for line in (folder / name).read_text().splitlines()[1:]]
        except OSError:
            return True
        for line in lines:
            remote = int(line[2].rpartition(":")[2], 16)
            if remote not in (0, port) and f"socket:[{line[9]}]" in sockets:
                return True
    return False


def _read_threads(pid: int) -> Iterator[tuple[int, int, str, int, int]]:
    """Yield process, thread, state, clock ticks, and a number that changes when a thread runs."""
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return
    for task in tasks:
        folder = f"/proc/{pid}/task/{task}"
        try:  # the fields follow the command name, which is in parentheses
            fields = _read_file(f"{folder}/stat").rpartition(b")")[2].split()
            children = _read_file(f"{folder}/children").split()
        except OSError:  # the thread has ended meanwhile
            continue
        yield pid, int(task), fields[0].decode(), int(fields[11]) + int(fields[12]), _read_runs(folder)
        for child in children:
            yield from _read_threads(int(child))


def _read_runs(folder: str) -> int:
    """Return the nanoseconds that a thread ran, plus the number of times; without schedstat a new number each time."""
    try:
        spent, _, times = _read_file(f"{folder}/schedstat").split()
    except OSError:
        return time.monotonic_ns()
    return int(spent) + int(times)


def _read_file(path: str) -> bytes:
    """Read a file of /proc. Called often, so it avoids the cost of buffering and decoding."""
    file = os.open(path, os.O_RDONLY)
    try:
        return os.read(file, 4096)
    finally:
        os.close(file)


def _read_wake(thread: Thread, memory: _Memory, waited: float, unknown: float) -> float:
    try:
        words = _read_file(f"/proc/{thread[0]}/task/{thread[1]}/syscall").split()
        if words[0] == b"running":
            return 0.0
        limit = _CALLS.get(int(words[0]))
        return unknown if limit is None else limit([int(word, 16) for word in words[1:7]], memory, waited)
    except (OSError, ValueError, struct.error, _Unknown):
        return unknown


def _without_timeout(arguments: Sequence[int], memory: _Memory, waited: float) -> float:
    return math.inf


def _read_milliseconds(position: int) -> _Limit:
    def limit(arguments: Sequence[int], memory: _Memory, waited: float) -> float:
        milliseconds = arguments[position] & 0xFFFFFFFF
        return math.inf if milliseconds & 0x80000000 else milliseconds / 1000 - waited

    return limit


def _read_timespec(position: int, per_second: float = 1e9) -> _Limit:
    def limit(arguments: Sequence[int], memory: _Memory, waited: float) -> float:
        if not arguments[position]:
            return math.inf
        seconds, fraction = memory.read_pair(arguments[position])
        return seconds + fraction / per_second - waited

    return limit


def _read_clock_sleep(arguments: Sequence[int], memory: _Memory, waited: float) -> float:
    if not arguments[1] & 1:
        return _read_timespec(2)(arguments, memory, waited)
    if arguments[0] != time.CLOCK_MONOTONIC:
        raise _Unknown
    return _read_timespec(2)(arguments, memory, 0.0) - time.monotonic()


def _read_futex(arguments: Sequence[int], memory: _Memory, waited: float) -> float:
    """Return the time limit of a futex wait: relative for FUTEX_WAIT, absolute for FUTEX_WAIT_BITSET."""
    operation = arguments[1] & 127
    if operation == _FUTEX_WAIT:
        return _read_timespec(3)(arguments, memory, waited)
    limit = _read_timespec(3)(arguments, memory, 0.0)
    if limit == math.inf:
        return limit
    if operation != _FUTEX_WAIT_BITSET or arguments[1] & _FUTEX_CLOCK_REALTIME:
        raise _Unknown
    return limit - time.monotonic()


# system call: numbers on x86_64 and aarch64 (None: does not exist), and the function that reads its timeout
_TABLE: Sequence[tuple[int | None, int | None, _Limit]] = (
    (202, 98, _read_futex),  # futex
    (232, None, _read_milliseconds(3)),  # epoll_wait
    (281, 22, _read_milliseconds(3)),  # epoll_pwait
    (441, 441, _read_timespec(3)),  # epoll_pwait2
    (7, None, _read_milliseconds(2)),  # poll
    (271, 73, _read_timespec(2)),  # ppoll
    (23, None, _read_timespec(4, 1e6)),  # select
    (270, 72, _read_timespec(4)),  # pselect6
    (35, 101, _read_timespec(0)),  # nanosleep
    (230, 115, _read_clock_sleep),  # clock_nanosleep
    (128, 137, _read_timespec(2)),  # rt_sigtimedwait
    (130, 133, _without_timeout),  # rt_sigsuspend
    (0, 63, _without_timeout),  # read
    (45, 207, _without_timeout),  # recvfrom
    (47, 212, _without_timeout),  # recvmsg
    (43, 202, _without_timeout),  # accept
    (288, 242, _without_timeout),  # accept4
    (61, 260, _without_timeout),  # wait4
    (247, 95, _without_timeout),  # waitid
)
_COLUMN = {"x86_64": 0, "aarch64": 1}.get(platform.machine())
_CALLS = {} if _COLUMN is None else {row[_COLUMN]: row[2] for row in _TABLE}
