"""What another client feels beside 1,000 anonymous and 100 authenticated hostile ones, and what memory that takes.

The hostile are of six sorts, in a process of their own: half an open TLS handshake, slow bodies, big bodies, answers
that are not read, watches that are not read, and floods of pipelined requests.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import multiprocessing
import os
import ssl
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.flood import BASE, DEFINITION, Wire, request, widget
from bench.load.server import Served
from bench.record.figure import Figure

ANONYMOUS, KNOWN = 1000, 100
OBJECTS = 2000
HEAD = "GET {path} HTTP/1.1\r\nHost: bench\r\n{token}\r\n"


def bearer(number: int) -> str:
    return f"Authorization: Bearer hostile{number}\r\n" if number >= 0 else ""


async def connect(port: int, limit: int = 1 << 10) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    context = ssl._create_unverified_context()
    return await asyncio.open_connection("127.0.0.1", port, ssl=context, limit=limit)


async def half(port: int, who: int) -> None:
    """A handshake that does not go on."""
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"\x16\x03\x01\x02\x00\x01")
    await asyncio.sleep(20)
    writer.close()


async def slow(port: int, who: int) -> None:
    """A body that comes byte by byte."""
    _, writer = await connect(port)
    head = f"POST {BASE} HTTP/1.1\r\nHost: h\r\n{bearer(who)}Content-Type: application/json\r\n"
    writer.write(f"{head}Content-Length: 3000000\r\n\r\n".encode() + b"{" + b" " * 100_000)
    while True:
        writer.write(b" ")
        await asyncio.sleep(0.5)


async def big(port: int, who: int) -> None:
    """Bodies of 3 MB that are no objects, one after the other."""
    reader, writer = await connect(port)
    body = b'{"spec":' + b"[" * 40 + b'"a",' * 700_000 + b'"a"' + b"]" * 40 + b"}"
    head = f"POST {BASE}?dryRun=All HTTP/1.1\r\nHost: h\r\n{bearer(who)}Content-Type: application/json\r\n"
    writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    while await reader.read(1 << 16):
        pass


async def unread(port: int, who: int) -> None:
    """A list whose answer is not read."""
    _, writer = await connect(port)
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    accept = ("application/json", "application/yaml", "application/json;as=Table;v=v1;g=meta.k8s.io")[who % 3]
    writer.write(f"GET {BASE} HTTP/1.1\r\nHost: h\r\n{bearer(who)}Accept: {accept}\r\n\r\n".encode())
    await asyncio.sleep(60)


async def stopped(port: int, who: int) -> None:
    """A watch that is not read."""
    _, writer = await connect(port)
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    writer.write(HEAD.format(path=f"{BASE}?watch=1", token=bearer(who)).encode())
    await asyncio.sleep(60)


async def pipelined(port: int, who: int) -> None:
    """Many requests at once, and no answer is read."""
    _, writer = await connect(port)
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    one = HEAD.format(path=f"{BASE}?limit=5", token=bearer(who)).encode()
    while True:
        writer.write(one * 500)
        await asyncio.wait_for(writer.drain(), 30)


SORTS = (half, slow, big, unread, stopped, pipelined)


def hostile(port: int, seconds: float, anonymous: int, known: int, ready: Any) -> None:
    """A process of them all; who is cut off comes again."""
    os.nice(10)

    async def one(number: int, who: int) -> None:
        while True:
            with contextlib.suppress(OSError, TimeoutError, asyncio.IncompleteReadError, RuntimeError):
                await SORTS[number % len(SORTS)](port, who)
            await asyncio.sleep(1)

    logging.getLogger("asyncio").setLevel(logging.CRITICAL)

    async def run() -> None:
        tasks = []
        for number in range(anonymous + known):
            who = number - anonymous if number >= anonymous else -1
            tasks.append(asyncio.ensure_future(one(number, who)))
            if number % 20 == 0:
                await asyncio.sleep(0.05)
        ready.set()
        await asyncio.sleep(seconds)
        os._exit(0)

    asyncio.run(run())


def resident(pid: int) -> float:
    """MB of memory."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


async def victim(port: int, pid: int, seconds: float) -> tuple[dict[str, list[float]], float]:
    """The times of one who asks in order, and the most memory seen."""
    wire, refused = await Wire.open(port), 0
    times: dict[str, list[float]] = {"get": [], "create": []}
    most, until, number = 0.0, time.monotonic() + seconds, 0
    while time.monotonic() < until:
        number += 1
        for name, data in (
            ("get", request("victim", "GET", f"{BASE}/one")),
            ("create", request("victim", "POST", BASE, widget(f"v{number}-{os.getpid()}-{int(until)}"))),
        ):
            began = time.perf_counter()
            code = await wire.ask(data)
            refused += code >= 300
            times[name].append(time.perf_counter() - began)
        most = max(most, resident(pid))
        await asyncio.sleep(0.005)
    print(f"refused: {refused}")
    return times, most


def main(smoke: bool = False) -> list[Figure]:
    """Print times and memory."""
    seconds, anonymous, known, objects = (1.0, 20, 12, 50) if smoke else (20.0, ANONYMOUS, KNOWN, OBJECTS)
    with tempfile.TemporaryDirectory() as folder:
        tokens = Path(folder) / "tokens"
        lines = ['victim,victim,1,"system:masters"']
        lines += [f'hostile{number},hostile{number},h{number},"system:masters"' for number in range(KNOWN)]
        tokens.write_text("\n".join(lines) + "\n")
        with Served(Path(folder) / "data", more=("--token-auth-file", str(tokens))) as server:
            return measure(server, seconds, anonymous, known, objects)


def measure(server: Any, seconds: float, anonymous: int, known: int, objects: int) -> list[Figure]:
    port = int(server.target.port)

    async def fill() -> None:
        wire = await Wire.open(port)
        crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        assert await wire.ask(request("victim", "POST", crds, DEFINITION)) == 201
        assert await wire.ask(request("victim", "POST", BASE, widget("one"))) == 201
        for number in range(objects):
            body = widget(f"w{number}")
            body["spec"]["note"] = json.dumps(list(range(1000)))
            assert await wire.ask(request("victim", "POST", BASE, body)) == 201

    asyncio.run(fill())
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    process = context.Process(target=hostile, args=(port, seconds + 2, anonymous, known, ready))
    process.start()
    ready.wait()
    times, most = asyncio.run(victim(port, server.pid, seconds))
    process.join()
    figures = []
    for name, found in times.items():
        found.sort()
        middle, late = statistics.median(found) * 1e3, found[int(len(found) * 0.99)] * 1e3
        print(f"{name:8} p50 {middle:8.1f} ms   p99 {late:8.1f} ms   {len(found)} requests")
        figures += [Figure(f"{name}, median", middle, "ms"), Figure(f"{name}, 99%", late, "ms")]
    print(f"memory, the most: {most:.0f} MB")
    return [*figures, Figure("memory, the most", most, "MB")]


if __name__ == "__main__":
    import sys

    main("--smoke" in sys.argv)
