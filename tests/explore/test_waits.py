"""What Linux tells about a process: whether it waits, and when it wakes by itself."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from podless.explore.waits import find_next_wake, has_other_connections, list_sockets, read_activity

pytestmark = pytest.mark.skipif(not Path("/proc/self/syscall").exists(), reason="needs Linux")


@contextmanager
def _run(code: str) -> Iterator[int]:
    """Run a program that prints a line before it waits."""
    command = [sys.executable, "-c", f"import threading, time, select, socket\nprint(flush=True)\n{code}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process.pid
        finally:
            os.killpg(process.pid, signal.SIGKILL)  # with its children


def _find_wake(pid: int) -> float:
    """Return when a process that has come to rest wakes by itself."""
    until = time.monotonic() + 60
    before = read_activity(pid)
    while time.monotonic() < until:
        time.sleep(0.1)
        now = read_activity(pid)
        if now == before and not now.running:
            return find_next_wake(now.threads, {}, unknown=0.0)
        before = now
    raise AssertionError("it never rests")


@pytest.mark.parametrize(
    ("code", "least", "most"),
    [
        ("input()", math.inf, math.inf),
        ("threading.Event().wait()", math.inf, math.inf),
        ("select.epoll().poll()", math.inf, math.inf),
        ("time.sleep(900)", 600, 900),
        ("threading.Event().wait(900)", 600, 900),
        ("select.epoll().poll(900)", 600, 900),
        ("select.select([0], [], [], 900)", 600, 900),
        ("threading.Thread(target=time.sleep, args=[900]).start()\ninput()", 600, 900),
        ("import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import time; time.sleep(900)'])", 600, 900),
    ],
)
def test_the_next_wake_is_that_of_the_thread_with_the_shortest_limit(code: str, least: float, most: float) -> None:
    with _run(code) as pid:
        assert least <= _find_wake(pid) <= most


def test_the_time_that_a_thread_has_waited_already_counts() -> None:
    with _run("select.epoll().poll(900)") as pid:
        _find_wake(pid)
        thread = (pid, pid)
        assert find_next_wake([thread], {thread: 800.0}, unknown=0.0) == pytest.approx(100, abs=1)
        assert find_next_wake([thread], {thread: 1000.0}, unknown=0.0) == 0.0  # it is about to wake


def test_a_process_that_is_gone_says_nothing() -> None:
    with _run("input()") as pid:
        threads = read_activity(pid).threads
    assert read_activity(pid).threads == ()
    assert find_next_wake(threads, {}, unknown=7.0) == find_next_wake((), {}, unknown=7.0) == 7.0


def test_connections_to_another_port_are_known() -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with _run(f"kept = socket.create_connection(('127.0.0.1', {port}))\ninput()") as pid:
            server.accept()
            threads = read_activity(pid).threads
            sockets = list_sockets(threads)
            assert sockets
            assert has_other_connections(threads, sockets, port + 1)
            assert not has_other_connections(threads, sockets, port)
