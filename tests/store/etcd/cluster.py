"""etcd members for tests, each on free ports and in a folder of its own."""

from __future__ import annotations

import atexit
import functools
import random
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

import pytest

from tests.processes import send

ETCD = shutil.which("etcd")
# ends what a test has started also where the test's process is killed
LEASH = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
# what is on a leash ends with the thread that has started it: this one lasts as long as the process
STARTER = ThreadPoolExecutor(1, "etcd")
_MEMORY = Path("/dev/shm")  # a disk that is not slow to sync


def ports(count: int) -> list[int]:
    """Free ports. The system gives none of these to a client or to a server that takes any."""
    return [*islice(filter(is_free, random.sample(range(10_000, 32_000), 100)), count)]


def is_free(port: int) -> bool:
    with suppress(OSError), socket.create_server(("127.0.0.1", port)):
        return True
    return False


class Member:
    """One etcd. more: flags beside those that every one needs."""

    def __init__(self, *more: str, scheme: str = "http") -> None:
        if ETCD is None:
            pytest.skip("etcd is not installed (Debian: apt-get install etcd-server)")
        self.folder = tempfile.TemporaryDirectory(prefix="etcd-", dir=_MEMORY if _MEMORY.is_dir() else None)
        client, peer, metrics = ports(3)
        self.url = f"{scheme}://127.0.0.1:{client}"
        self.health = f"http://127.0.0.1:{metrics}"
        self.address = f"http://127.0.0.1:{peer}"
        self.more = more
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, with the data that it has."""
        assert ETCD is not None
        common = ["--data-dir", f"{self.folder.name}/data", "--listen-client-urls", self.url]
        common += ["--advertise-client-urls", self.url, "--listen-peer-urls", self.address]
        common += ["--initial-advertise-peer-urls", self.address, "--initial-cluster", f"default={self.address}"]
        common += ["--listen-metrics-urls", self.health]
        with (Path(self.folder.name) / "log").open("ab") as log:
            command = [*LEASH, ETCD, *common, *self.more]
            self.process = STARTER.submit(subprocess.Popen, command, stdout=log, stderr=log).result()

    def ready(self) -> None:
        """Wait until it answers."""
        for _ in range(200):
            try:
                with urllib.request.urlopen(f"{self.health}/health", timeout=1) as answer:
                    if b"true" in answer.read():
                        return
            except OSError:
                pass
            assert self.process is not None
            assert self.process.poll() is None, (Path(self.folder.name) / "log").read_text()[-2000:]
            time.sleep(0.05)
        raise AssertionError("etcd does not answer")

    def signal(self, number: int) -> None:
        """Send it a signal."""
        assert self.process is not None
        send(self.process, number)

    def stop(self) -> None:
        """Kill it; its data stays."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


@contextmanager
def running_member() -> Iterator[Member]:
    """Start an etcd of its own, and delete its data at the end."""
    member = Member()
    member.start()
    try:
        member.ready()
        yield member
    finally:
        member.stop()
        member.folder.cleanup()


@functools.cache
def shared() -> Member:
    """One for all tests of a process, until that ends."""
    member = Member()
    member.start()
    atexit.register(member.folder.cleanup)
    atexit.register(member.stop)
    member.ready()
    return member
