"""What one server holds, and what many objects and watchers would need by a model that is fitted to that.

Objects are put into the database itself, as a server has stored one of them; start, memory and requests are a server's.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.load import shapes
from bench.load.client import Ask, version
from bench.load.driver import Driver
from bench.load.server import Served
from bench.record.figure import Figure, Sheet
from bench.serve import creating, patching, wide
from podless.store import Operation, StoredValue
from podless.store.sqlite import SQLiteStore

_TOGETHER = 1000  # objects of one commit
_OBJECTS, _WATCHERS = 10_000_000, 100_000  # that the model is asked about


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much of everything. bytes: of objects as they are stored. seconds: of each load."""

    objects: tuple[int, ...] = (25_000, 100_000)
    bytes: tuple[int, ...] = (1024, 4096)
    definitions: int = 300
    watchers: int = 500
    updates: int = 20
    seconds: float = 3.0


SMOKE = Sizes((50, 100), (1024, 2048), 3, 5, 5, 0.1)


@dataclass(frozen=True, slots=True)
class Model:
    """What a server takes. Memory in bytes, time in seconds of one core.

    idle: without anything. entry: of an object beside its bytes. watcher: of one that waits. definition: of one that is
    served. load: of an object at the first request after a start. told: of an event at one watcher, in a row.
    """

    idle: float
    entry: float
    watcher: float
    definition: float
    load: float
    told: float

    def memory(self, objects: int, size: int, watchers: int) -> float:
        """Bytes of a server with so many objects of a size in bytes, and so many watchers."""
        return self.idle + objects * (size + self.entry) + watchers * self.watcher


def fill(database: Path, template: bytes, count: int, size: int) -> None:
    """Put copies of an object into a database, each of `size` bytes."""
    obj = json.loads(template)
    obj["metadata"]["resourceVersion"] = ""
    obj["metadata"]["annotations"] = {"note": ""}
    obj["metadata"]["name"] = "n0000000"

    def encoded() -> bytes:
        return json.dumps(obj, separators=(",", ":"), sort_keys=True).encode()

    obj["metadata"]["annotations"]["note"] = "n" * max(size - len(encoded()), 0)
    text, mark = encoded(), b'"resourceVersion":"'

    async def run() -> None:
        store = SQLiteStore(database)
        await store.open()
        for start in range(0, count, _TOGETHER):
            made = []
            for number in range(start, min(start + _TOGETHER, count)):
                name = b"n%07d" % number
                body = text.replace(b"n0000000", name)
                key = f"/{shapes.GROUP}/{shapes.PLURAL}/default/{name.decode()}"
                made.append(Operation(key, StoredValue(body, body.index(mark) + len(mark)), 0))
            await store.commit(made)
        await store.close()

    asyncio.run(run())


def template(folder: Path) -> bytes:
    """A small object as a server shows it; the folder then has its definition, and no object."""
    with Served(folder) as server:
        server.install(shapes.definition())
        small = shapes.engine("small")
        small["spec"] = {"model": "m", "cylinders": 4}
        found = server.send("POST", shapes.OBJECTS, small)
        server.send("DELETE", f"{shapes.OBJECTS}/small")
    return found


def started(folder: Path) -> tuple[float, float, float]:
    """Seconds from the start to the first page of a list, those of CPU, and MB of memory then."""
    began = time.perf_counter()
    with Served(folder) as server:
        server.send("GET", f"{shapes.OBJECTS}?limit=1")
        return time.perf_counter() - began, server.cpu(), server.rss()


def slope(points: Sequence[tuple[float, float]]) -> float:
    """How much the second number grows with the first, by least squares."""
    count = len(points)
    x, y = sum(point[0] for point in points) / count, sum(point[1] for point in points) / count
    return sum((one - x) * (other - y) for one, other in points) / sum((one - x) ** 2 for one, _ in points)


def objects(sheet: Sheet, sizes: Sizes) -> tuple[float, float]:
    """Bytes of memory of an object beside its own, and seconds that it takes at a start."""
    beside, loads = [], []
    for size in sizes.bytes:
        memories, times = [], []
        for count in sizes.objects:
            with tempfile.TemporaryDirectory(prefix="podless-bench-") as name:
                folder = Path(name)
                fill(folder / "podless.db", template(folder), count, size)
                seconds, cpu, memory = min(started(folder) for _ in range(2))
            sheet.put(f"start to the first list, {count:,} of {size} bytes", seconds, "s")
            sheet.put(f"CPU of that, {count:,} of {size} bytes", cpu, "s")
            sheet.put(f"memory with {count:,} of {size} bytes", memory, "MB")
            memories.append((count, memory * (1 << 20)))
            times.append((count, cpu))
        beside.append(slope(memories) - size)
        loads.append(slope(times))
    sheet.put("memory of an object beside its bytes", sum(beside) / len(beside), "bytes")
    sheet.put("CPU of an object at a start", loads[0] * 1e6, "us")
    return sum(beside) / len(beside), loads[0]


def main(smoke: bool = False) -> list[Figure]:
    sizes, sheet = SMOKE if smoke else Sizes(), Sheet()
    with Driver() as driver:
        with Served() as server:
            idle = server.rss()
            sheet.put("memory when idle", idle, "MB")
            server.install(shapes.definition())
            server.send("POST", shapes.OBJECTS, shapes.engine("target"))
            for title, ask in (("GET", Ask("GET", f"{shapes.OBJECTS}/target")), ("create", creating("made"))):
                before = server.cpu()
                load = driver.hammer(server.target, ask, 16, sizes.seconds)
                sheet.put(f"{title}, 16 connections", load.rate, "/s", more=True)
                sheet.put(f"{title}, 16 connections, CPU", (server.cpu() - before) / load.requests * 1e6, "us")
        with Served() as server:
            server.install(shapes.definition())
            server.send("POST", shapes.OBJECTS, shapes.engine("target"))
            empty = server.rss()
            watch = Ask("GET", f"{shapes.OBJECTS}?watch=1&resourceVersion={version(server.target, shapes.OBJECTS)}")
            write = patching("target")
            fan = driver.fanout(server.target, watch, write, sizes.watchers, sizes.updates, server.pid)
            watcher = (fan.memory - empty) * (1 << 20) / sizes.watchers
            sheet.put("events, in a row", fan.rate, "/s", more=True)
            sheet.put("an event at a watcher, CPU", fan.cpu * 1e6, "us")
            sheet.put("memory of a watcher", watcher / 1024, "KB")
        with Served() as server:
            server.send("POST", shapes.CRDS, shapes.definition())
            empty = server.rss()
            for number in range(sizes.definitions):
                server.send("POST", shapes.CRDS, shapes.text(wide(number)).encode())
            definition = (server.rss() - empty) * (1 << 20) / sizes.definitions
            sheet.put("memory of a definition", definition / 1024, "KB")
    entry, load_time = objects(sheet, sizes)
    model = Model(idle * (1 << 20), entry, watcher, definition, load_time, fan.cpu)
    told(sheet, model)
    return sheet


def told(sheet: Sheet, model: Model) -> None:
    """What the model says."""
    sheet.put(f"model: memory, {_OBJECTS:,} objects of 1 KiB", model.memory(_OBJECTS, 1024, 0) / (1 << 30), "GB")
    sheet.put(f"model: start, {_OBJECTS:,} objects", _OBJECTS * model.load, "s")
    sheet.put(f"model: memory, {_WATCHERS:,} watchers", model.memory(0, 0, _WATCHERS) / (1 << 30), "GB")
    sheet.put(f"model: an event at {_WATCHERS:,} watchers, CPU", _WATCHERS * model.told, "s")
