"""`python -m tests.cli.lacking`: podless where modules and functions of POSIX and of Linux are not there.

It reads a JSON list of commands from standard input, runs each of them, and prints the code and the output of each.

It stands in for Windows as far as our own code goes. The standard library looks at os.name, so it is imported before,
and keeps what asyncio needs on this system.
"""

from __future__ import annotations

import asyncio  # noqa: F401
import concurrent.futures.process  # noqa: F401
import contextlib
import ctypes  # noqa: F401
import io
import json
import multiprocessing.connection  # noqa: F401
import os
import signal
import socket
import subprocess  # noqa: F401
import sys
import tempfile  # noqa: F401
import time
from collections.abc import Sequence
from types import ModuleType

MODULES = ("uvloop", "fcntl", "resource", "termios", "pwd", "grp", "syslog", "pty", "tty")
FUNCTIONS: dict[ModuleType, Sequence[str]] = {
    os: (
        *("fork", "forkpty", "register_at_fork", "getuid", "geteuid", "setsid", "getpgid", "killpg", "fchmod", "chown"),
        *("sysconf", "uname", "getloadavg", "mkfifo", "nice", "statvfs", "sched_getaffinity"),
    ),
    signal: (
        "SIGHUP",
        "SIGUSR1",
        "SIGUSR2",
        "SIGQUIT",
        "SIGALRM",
        "SIGPIPE",
        "SIGCHLD",
        "setitimer",
        "pthread_sigmask",
    ),
    time: ("CLOCK_BOOTTIME", "CLOCK_MONOTONIC", "clock_gettime", "pthread_getcpuclockid", "tzset"),
    socket: ("SO_REUSEPORT",),
}


class Lacking:
    """Finds none of the modules."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Raises ModuleNotFoundError for them."""
        if name.partition(".")[0] in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def take_away() -> None:
    """Take them away from this process."""
    sys.meta_path.insert(0, Lacking())
    for name in MODULES:
        sys.modules.pop(name, None)
    for module, names in FUNCTIONS.items():
        for name in names:
            if hasattr(module, name):
                delattr(module, name)


if __name__ == "__main__":
    take_away()
    from podless.cli import main

    answers = []
    for command in json.load(sys.stdin):
        code: object
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
            try:
                code = main(command)
            except SystemExit as ended:
                code = ended.code
        answers.append((code, out.getvalue()))
    print(json.dumps(answers))
