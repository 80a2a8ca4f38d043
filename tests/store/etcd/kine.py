"""kine for tests: an etcd API over SQLite, or over a PostgreSQL of its own.

`make kine` builds the program; PODLESS_KINE names another one. Debian: apt-get install postgresql.
"""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from tests.store.etcd.cluster import LEASH, STARTER, ports

KINE = os.environ.get("PODLESS_KINE") or shutil.which("kine", path=".clients/bin") or shutil.which("kine")
DATABASES = ("sqlite", "postgresql")
_SECONDS = 60  # for a program to start


class Kine:
    """One kine. url: of its etcd API."""

    def __init__(self, database: str) -> None:
        if KINE is None:
            pytest.skip("kine is not built (make kine)")
        self.folder = Path(tempfile.mkdtemp(prefix="podless-kine-"))
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
        (port,) = ports(1)
        self.url = f"http://127.0.0.1:{port}"
        endpoint = f"sqlite://{self.folder}/kine.db" if database == "sqlite" else _start_postgresql(self.folder)
        command = [*LEASH, KINE, "--listen-address", f"tcp://127.0.0.1:{port}", "--endpoint", endpoint]
        _start([*command, "--metrics-bind-address", "0", "--compact-min-retain", "0"], self.folder)
        _wait_for(port, self.folder / "log")


def _start(command: list[str], folder: Path, user: str | None = None) -> None:
    with (folder / "log").open("ab") as log:
        process = STARTER.submit(subprocess.Popen, command, stdout=log, stderr=log, cwd=folder, user=user).result()
    atexit.register(process.wait)
    atexit.register(process.terminate)


def _start_postgresql(folder: Path) -> str:
    """Start a cluster on a free port; returns the endpoint for kine. PostgreSQL refuses to run as root."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not programs:
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    user = None
    data = folder / "postgresql"
    data.mkdir()
    if os.getuid() == 0:
        user = "postgres"
        folder.chmod(0o755)
        shutil.chown(data, user)
    (port,) = ports(1)
    made = ["-D", str(data), "-A", "trust", "-N", "-U", "postgres"]
    subprocess.run(
        [str(programs[-1] / "initdb"), *made],
        check=True,
        stdout=subprocess.DEVNULL,
        cwd=data,
        user=user,
        timeout=_SECONDS,
    )
    more = ["-p", str(port), "-k", str(data), "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"]
    _start([*LEASH, str(programs[-1] / "postgres"), "-D", str(data), *more], folder, user)
    _wait_for(port, folder / "log")
    create = [str(programs[-1] / "createdb"), "-h", "127.0.0.1", "-p", str(port), "-U", "postgres", "kine"]
    until = time.monotonic() + _SECONDS
    while subprocess.run(create, stderr=subprocess.DEVNULL, check=False).returncode:
        assert time.monotonic() < until, (folder / "log").read_text()[-2000:]
        time.sleep(0.05)  # it listens before it takes connections
    return f"postgres://postgres@127.0.0.1:{port}/kine?sslmode=disable"


def _wait_for(port: int, log: Path) -> None:
    until = time.monotonic() + _SECONDS
    while time.monotonic() < until:
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(log.read_text()[-2000:])


@functools.cache
def shared(database: str) -> Kine:
    """One for all tests of a process, until that ends."""
    return Kine(database)
