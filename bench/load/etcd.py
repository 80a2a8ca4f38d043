"""An etcd cluster on this machine's disk, for as long as something is measured on it."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Self

import uvloop

from bench.load import process
from podless.store import Operation, StoredValue
from podless.store.etcd.settings import Etcd
from podless.store.etcd.store import EtcdStore

COMMAND = shutil.which("etcd")
_PATIENCE = 60.0  # seconds in which the members agree on a leader


class Cluster:
    """Some members; a context manager. urls: where clients reach them."""

    def __init__(self, members: int) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="podless-bench-etcd-")
        sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2 * members)]
        places = [f"http://127.0.0.1:{each.getsockname()[1]}" for each in sockets]
        for each in sockets:
            each.close()
        self.urls, self._peers = places[:members], places[members:]
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        assert COMMAND is not None
        whole = ",".join(f"m{number}={peer}" for number, peer in enumerate(self._peers))
        try:
            for number, (url, peer) in enumerate(zip(self.urls, self._peers, strict=True)):
                folder = Path(self._folder.name) / str(number)
                command = [COMMAND, "--name", f"m{number}", "--data-dir", str(folder)]
                command += ["--listen-client-urls", url, "--advertise-client-urls", url, "--listen-peer-urls", peer]
                command += ["--initial-advertise-peer-urls", peer, "--initial-cluster", whole]
                with Path(f"{folder}.log").open("wb") as log:
                    self._processes.append(subprocess.Popen(command, stdout=log, stderr=log))
            for url in self.urls:
                _reach(url)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for each in self._processes:
            each.kill()
            each.wait()
        self._folder.cleanup()

    @property
    def pids(self) -> list[int]:
        """The numbers of its processes."""
        return [each.pid for each in self._processes]

    def synced(self, seconds: float) -> float:
        """How often a second the disk that the members are on makes a small write durable."""
        path = Path(self._folder.name) / "probe"
        with path.open("wb", buffering=0) as file:
            began, count = time.perf_counter(), 0
            while time.perf_counter() < began + seconds:
                file.write(bytes(500))
                os.fdatasync(file.fileno())
                count += 1
            return count / (time.perf_counter() - began)

    def transactions(self, seconds: float, together: int) -> float:
        """How many transactions a second the cluster takes from one client that has some of them under way."""
        return asyncio.run(_transactions(self.urls, seconds, together))

    def questions(self, seconds: float) -> tuple[float, float]:
        """How often a second a client that has one question under way is told the newest revision.

        The second is the seconds of CPU that the members take for one.
        """
        before = sum(process.cpu(each.pid) for each in self._processes)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            rate = runner.run(_questions(self.urls, seconds))
        used = sum(process.cpu(each.pid) for each in self._processes) - before
        return rate, used / (rate * seconds)


async def _questions(urls: list[str], seconds: float) -> float:
    store = EtcdStore(Etcd(servers=urls, prefix="/bench"), interval=0)
    await store.open()
    until, count = time.perf_counter() + seconds, 0
    while time.perf_counter() < until:
        await store.read_revision()
        count += 1
    await store.close()
    return count / seconds


async def _transactions(urls: list[str], seconds: float, together: int) -> float:
    store = EtcdStore(Etcd(servers=urls, prefix="/bench"), interval=0)
    await store.open()
    value = StoredValue(b'{"spec":"%b"}' % (b"x" * 700))
    until, count = time.perf_counter() + seconds, 0

    async def write(number: int) -> None:
        nonlocal count
        own = 0
        while time.perf_counter() < until:
            await store.commit([Operation(f"/bench/objects/{number}-{own}", value, 0)])
            own += 1
            count += 1

    await asyncio.gather(*map(write, range(together)))
    await store.close()
    return count / seconds


def _reach(url: str) -> None:
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=2) as answer:
                if b"true" in answer.read():
                    return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"etcd does not answer at {url}")
