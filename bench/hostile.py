"""What another client feels beside 1,000 anonymous and 100 authenticated hostile ones, and what memory that takes.

The hostile are of six sorts: half an open TLS handshake, slow bodies, big bodies, answers that are not read, watches
that are not read, and floods of pipelined requests; who is cut off comes again. All of them connect first, and begin
once all are there: else the handshakes of the last would wait behind what the first do. They are in one process, which
makes all that it sends beforehand and gives way where it wants the core that the server wants: what is measured is the
server, not who has more processors. The good client is another process, and asks the same without them first. Its
times are those from a request to its answer; beside them stand the processor time that the server had, and the
rest that the machine gave: one that is overloaded shows there.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import multiprocessing
import os
import resource
import socket
import ssl
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from bench.flood import BASE, DEFINITION, Wire, request, widget
from bench.load.server import Served
from bench.record.figure import Figure

ANONYMOUS, KNOWN = 1000, 100
OBJECTS = 2000
COME = 60.0  # seconds in which the hostile are to be there
MAX = 10.0  # seconds that the good client waits for one answer


class Size(NamedTuple):
    """How much of everything. seconds: of each measurement."""

    seconds: float = 20.0
    anonymous: int = ANONYMOUS
    known: int = KNOWN
    objects: int = OBJECTS


SMOKE = Size(1.0, 20, 12, 50)


def bearer(number: int) -> str:
    return f"Authorization: Bearer hostile{number}\r\n" if number >= 0 else ""


def _head(method: str, path: str, who: int, *lines: str) -> bytes:
    more = "".join(f"{line}\r\n" for line in lines)
    return f"{method} {path} HTTP/1.1\r\nHost: h\r\n{bearer(who)}{more}\r\n".encode()


class Hostile:
    """All of one sort and more: what they send is made once. came: how many have connected, each once. there: how many
    are connected now. begin: once they may do what they came for. again: how often one came anew.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._context = ssl._create_unverified_context()
        self._body = b'{"spec":' + b"[" * 40 + b'"a",' * 700_000 + b'"a"' + b"]" * 40 + b"}"
        self._spaces = b"{" + b" " * 100_000
        self.sorts = (self.half, self.slow, self.big, self.unread, self.stopped, self.pipelined)
        self.came = self.there = self.again = 0
        self.begin = asyncio.Event()

    async def one(self, number: int, who: int) -> None:
        """One of them, until the end."""
        sort = self.sorts[number % len(self.sorts)]
        come = False
        while True:
            with contextlib.suppress(OSError, TimeoutError, asyncio.IncompleteReadError, RuntimeError):
                reader, writer = await self._connect(None if sort == self.half else self._context)
                self.came += not come
                self.there += 1
                come = True
                try:
                    await self.begin.wait()
                    await sort(who, reader, writer)
                finally:
                    self.there -= 1
                    writer.transport.abort()
            self.again += self.begin.is_set()
            await asyncio.sleep(1)

    async def _connect(self, context: ssl.SSLContext | None) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        async with asyncio.timeout(COME):
            return await asyncio.open_connection("127.0.0.1", self._port, ssl=context, limit=1 << 10)

    def _deafen(self, writer: asyncio.StreamWriter) -> None:
        """Do not read; the system takes next to nothing for it either."""
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        writer.transport.pause_reading()  # type: ignore[attr-defined]

    async def _stay(self, writer: asyncio.StreamWriter, seconds: float = 60) -> None:
        async with asyncio.timeout(seconds):
            await writer.wait_closed()

    async def half(self, who: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A handshake that does not go on."""
        writer.write(b"\x16\x03\x01\x02\x00\x01")
        await self._stay(writer, 20)

    async def slow(self, who: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A body that comes byte by byte."""
        writer.write(_head("POST", BASE, who, "Content-Type: application/json", "Content-Length: 3000000"))
        writer.write(self._spaces)
        while not writer.is_closing():
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.5)

    async def big(self, who: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A body of 3 MB that is no object."""
        length = f"Content-Length: {len(self._body)}"
        writer.write(_head("POST", f"{BASE}?dryRun=All", who, "Content-Type: application/json", length))
        view = memoryview(self._body)
        for start in range(0, len(view), 1 << 16):  # as much as the server takes
            writer.write(view[start : start + (1 << 16)])
            await writer.drain()
        while await reader.read(1 << 16):
            pass

    async def unread(self, who: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A list whose answer is not read."""
        self._deafen(writer)
        accept = ("application/json", "application/yaml", "application/json;as=Table;v=v1;g=meta.k8s.io")[who % 3]
        writer.write(_head("GET", BASE, who, f"Accept: {accept}"))
        await self._stay(writer)

    async def stopped(self, who: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A watch that is not read."""
        self._deafen(writer)
        writer.write(_head("GET", f"{BASE}?watch=1", who))
        await self._stay(writer)

    async def pipelined(self, who: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Many requests at once, and no answer is read."""
        self._deafen(writer)
        many = _head("GET", f"{BASE}?limit=5", who) * 200
        async with asyncio.timeout(60):
            while not writer.is_closing():
                writer.write(many)
                await writer.drain()


def hostile(port: int, size: Size, ready: Any, end: Any, told: Any) -> None:
    """A process of them all, until it is told to end. ready: set once all have come, or the time for it is over."""
    os.nice(5)
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    async def run() -> None:
        them, all_ = Hostile(port), size.anonymous + size.known
        began, tasks = time.monotonic(), []
        for number in range(all_):
            tasks.append(asyncio.ensure_future(them.one(number, number - size.anonymous)))
            if number % 20 == 0:
                await asyncio.sleep(0.02)
        while them.came < all_ and time.monotonic() - began < COME:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        told.put((them.came, time.monotonic() - began))
        them.begin.set()
        ready.set()
        while not end.is_set():  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        told.put((them.there, them.again))
        told.close()
        told.join_thread()
        os._exit(0)

    asyncio.run(run())


def _usage(pid: int) -> tuple[float, float]:
    """MB of memory, and seconds of processor time."""
    memory = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return memory, (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Seen(NamedTuple):
    """What the good client saw. used: of a core. late: seconds that it woke up late, at the most."""

    times: dict[str, list[float]]
    refused: int
    memory: float
    used: float
    late: float


async def good(port: int, pid: int, seconds: float) -> Seen:
    """Ask in order, one request after the other; every one is to be answered in time."""
    wire, refused, late, most = await Wire.open(port), 0, 0.0, 0.0
    times: dict[str, list[float]] = {"get": [], "create": []}
    began, number, before = time.monotonic(), 0, _usage(pid)[1]
    while time.monotonic() - began < seconds:
        number += 1
        name = f"v{number}-{os.getpid()}-{int(began)}"
        asked = {"get": request("good", "GET", f"{BASE}/one"), "create": request("good", "POST", BASE, widget(name))}
        for verb, data in asked.items():
            start = time.perf_counter()
            try:
                async with asyncio.timeout(MAX):
                    refused += await wire.ask(data) >= 300
            except (TimeoutError, OSError, asyncio.IncompleteReadError):
                refused += 1
                wire = await Wire.open(port)
            times[verb].append(time.perf_counter() - start)
        most = max(most, _usage(pid)[0])
        start = time.perf_counter()
        await asyncio.sleep(0.005)
        late = max(late, time.perf_counter() - start - 0.005)
    return Seen(times, refused, most, (_usage(pid)[1] - before) / seconds, late)


def asking(port: int, pid: int, seconds: float, told: Any) -> None:
    """The good client's process."""
    told.put(asyncio.run(good(port, pid, seconds)))


def show(title: str, seen: Seen) -> list[Figure]:
    figures = []
    for verb, found in seen.times.items():
        found.sort()
        middle, late = statistics.median(found) * 1e3, found[int(len(found) * 0.99)] * 1e3
        told = f"{title:8} {verb:7} p50 {middle:7.1f} ms  p99 {late:7.1f} ms  worst {found[-1] * 1e3:7.1f} ms"
        print(f"{told}  {len(found)} requests")
        figures += [Figure(f"{title}: {verb}, median", middle, "ms"), Figure(f"{title}: {verb}, 99%", late, "ms")]
    print(
        f"{title:8} {seen.refused} not answered; the server used {seen.used:.2f} of a core and {seen.memory:.0f} MB; "
        f"the good client itself was {seen.late * 1e3:.0f} ms late at the most",
        flush=True,
    )
    return figures


def main(smoke: bool = False) -> list[Figure]:
    """Print times and memory."""
    size = SMOKE if smoke else Size()
    with tempfile.TemporaryDirectory() as folder:
        tokens = Path(folder) / "tokens"
        lines = ['good,good,1,"system:masters"']
        lines += [f'hostile{number},hostile{number},h{number},"system:masters"' for number in range(KNOWN)]
        tokens.write_text("\n".join(lines) + "\n")
        with Served(Path(folder) / "data", more=("--token-auth-file", str(tokens))) as server:
            return measure(server, size)


async def fill(port: int, objects: int) -> None:
    wire = await Wire.open(port)
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    assert await wire.ask(request("good", "POST", crds, DEFINITION)) == 201
    assert await wire.ask(request("good", "POST", BASE, widget("one"))) == 201
    for number in range(objects):
        body = widget(f"w{number}")
        body["spec"]["note"] = json.dumps(list(range(1000)))
        assert await wire.ask(request("good", "POST", BASE, body)) == 201


def measure(server: Any, size: Size) -> list[Figure]:
    port, pid = int(server.target.port), int(server.pid)
    context = multiprocessing.get_context("spawn")
    told, ready, end, news = context.Queue(), context.Event(), context.Event(), context.Queue()

    def ask() -> Seen:
        process = context.Process(target=asking, args=(port, pid, size.seconds, told))
        process.start()
        seen: Seen = told.get(timeout=size.seconds * 3 + 60)
        process.join()
        return seen

    asyncio.run(fill(port, size.objects))
    figures = show("alone", ask())
    process = context.Process(target=hostile, args=(port, size, ready, end, news))
    process.start()
    try:
        ready.wait(COME + 30)
        came, seconds = news.get(timeout=60)
        print(f"{came} hostile clients after {seconds:.1f} s")
        seen = ask()
        end.set()
        figures += show("beside", seen)
        there, again = news.get(timeout=60)
        print(f"{there} of them were there at the end, {again} times one was cut off and came again")
    finally:
        end.set()
        process.join(10)
        process.kill()
    return [*figures, Figure("memory, the most", seen.memory, "MB")]


if __name__ == "__main__":
    import sys

    main("--smoke" in sys.argv)
