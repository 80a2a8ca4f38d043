"""What one client feels while another asks as fast as it can: times of its requests, with and without the flood.

A victim sends one request after the other on one connection; the flood is a process of its own with many connections.
Both have users of their own. The last lines are the same with turns between users switched off.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import ssl
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.record.figure import Figure
from podless import Server
from podless.http import fairness

CONNECTIONS = 64
GROUP, PLURAL = "bench.example.com", "widgets"
BASE = f"/apis/{GROUP}/v1/namespaces/default/{PLURAL}"
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"{PLURAL}.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"plural": PLURAL, "kind": "Widget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {"spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
                    }
                },
            }
        ],
    },
}


def request(token: str, method: str, path: str, body: Any = None) -> bytes:
    data = json.dumps(body).encode() if body is not None else b""
    head = f"{method} {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {token}\r\n"
    return f"{head}Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data


def widget(name: str) -> dict[str, Any]:
    spec = {"replicas": 3, "image": "registry.example.com/app:1.2.3", "note": "x" * 600}
    return {"apiVersion": f"{GROUP}/v1", "kind": "Widget", "metadata": {"name": name}, "spec": spec}


class Wire:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def open(cls, port: int) -> Wire:
        return cls(*await asyncio.open_connection("127.0.0.1", port, ssl=ssl._create_unverified_context()))

    async def ask(self, data: bytes) -> int:
        self.writer.write(data)
        head = await self.reader.readuntil(b"\r\n\r\n")
        size = int(head.lower().partition(b"content-length: ")[2].partition(b"\r")[0])
        await self.reader.readexactly(size)
        return int(head[9:12])


def flood(port: int, kind: str, seconds: float, ready: Any, counted: Any) -> None:
    """A process that asks for some seconds on all its connections. The victim goes first where they want one core."""
    os.nice(10)

    async def one(number: int, until: float) -> int:
        wire = await Wire.open(port)
        get, done = request("flood", "GET", f"{BASE}/one"), 0
        while time.monotonic() < until:
            if kind == "creates":
                get = request("flood", "POST", BASE, widget(f"f{number}-{done}-{int(until)}"))
            code = await wire.ask(get)
            done += code < 300
            if code == 429:
                await asyncio.sleep(1)
        return done

    async def run() -> None:
        until = time.monotonic() + seconds + 1.0
        tasks = [asyncio.ensure_future(one(number, until)) for number in range(CONNECTIONS)]
        await asyncio.sleep(0.5)
        ready.set()
        counted.value = sum(await asyncio.gather(*tasks))

    asyncio.run(run())


def victim(port: int, seconds: float, ready: Any, out: Any) -> None:
    """A process that measures its requests one after the other."""

    async def run() -> None:
        wire = await Wire.open(port)
        ready.wait()
        until, number = time.monotonic() + seconds, 0
        times: dict[str, list[float]] = {"get": [], "create": []}
        while time.monotonic() < until:
            number += 1
            for name, data in (
                ("get", request("victim", "GET", f"{BASE}/one")),
                ("create", request("victim", "POST", BASE, widget(f"v{number}-{int(until)}"))),
            ):
                began = time.perf_counter()
                code = await wire.ask(data)
                assert code < 300, code
                times[name].append(time.perf_counter() - began)
            await asyncio.sleep(0.002)
        out.put(times)

    asyncio.run(run())


def measure(port: int, kind: str, seconds: float) -> tuple[dict[str, list[float]], float]:
    """The victim's times over some seconds, and the flood's requests a second."""
    context = multiprocessing.get_context("spawn")
    ready, counted, out = context.Event(), context.Value("i", 0), context.Queue()
    parts = [context.Process(target=victim, args=(port, seconds, ready, out))]
    if kind:
        parts.append(context.Process(target=flood, args=(port, kind, seconds, ready, counted)))
    else:
        ready.set()
    for part in parts:
        part.start()
    times = out.get(timeout=60 + 10 * seconds)
    for part in parts:
        part.join()
    return times, counted.value / (seconds + 1.0)


def show(title: str, times: dict[str, list[float]], rate: float) -> list[Figure]:
    figures, cells = [], []
    for name in ("get", "create"):
        found = sorted(times[name])
        middle, late = statistics.median(found) * 1e3, found[int(len(found) * 0.99)] * 1e3
        cells.append(f"{middle:9.2f} {late:8.2f}")
        figures += [Figure(f"{title}: {name}, median", middle, "ms"), Figure(f"{title}: {name}, 99%", late, "ms")]
    print(f"{title:32} {'  '.join(cells)}  {rate:10.0f}")
    return figures


def main(smoke: bool = False) -> list[Figure]:
    """Print the table."""
    seconds, figures = 0.3 if smoke else 4.0, []
    print(f"{'milliseconds':32} {'get p50':>9} {'p99':>8}  {'create p50':>9} {'p99':>8}  {'flood/s':>9}")
    with tempfile.TemporaryDirectory() as folder:
        tokens = Path(folder) / "tokens"
        tokens.write_text('flood,flood,1,"system:masters"\nvictim,victim,2,"system:masters"\n')
        for turns in (True,) if smoke else (True, False):
            shared = fairness._SHARED
            fairness._SHARED = shared if turns else 0.0
            try:
                figures += run(Path(folder) / str(turns), tokens, turns, seconds)
            finally:
                fairness._SHARED = shared
    return figures


def run(data: Path, tokens: Path, turns: bool, seconds: float) -> list[Figure]:
    figures = []
    with Server(data=data, token_file=tokens) as server:
        port = int(server.url.rpartition(":")[2])

        async def fill() -> None:
            wire = await Wire.open(port)
            crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
            assert await wire.ask(request("victim", "POST", crds, DEFINITION)) == 201
            assert await wire.ask(request("victim", "POST", BASE, widget("one"))) == 201

        asyncio.run(fill())
        if turns:
            figures += show("alone", *measure(port, "", seconds))
        for kind in ("reads", "creates"):
            title = f"{CONNECTIONS} connections, {kind}"
            figures += show(title if turns else f"{title}, no turns", *measure(port, kind, seconds))
    return figures


if __name__ == "__main__":
    main()
