"""The work of an API server, over TLS against `podless serve` in a process of its own, with SQLite on disk."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import Any

from bench.load import shapes
from bench.load.client import Ask, Load, version
from bench.load.driver import Driver
from bench.load.server import Served
from bench.record.figure import Figure, Sheet

FIRST = 10_000_000  # the number in the first name
APPLIED = 200  # objects that are applied
RUNS = 5  # a list is timed so often, and the middle one counts


@dataclass(frozen=True, slots=True)
class Size:
    """How much of everything. seconds: of each load."""

    seconds: float = 5.0
    objects: int = 10_000
    watchers: int = 200
    updates: int = 200
    definitions: int = 200


SMOKE = Size(seconds=0.2, objects=500, watchers=10, updates=10, definitions=5)


def creating(prefix: str) -> Ask:
    """Creates objects with names of their own."""
    body = shapes.text(shapes.engine(f"{prefix}-%d", "s%d"))
    return Ask("POST", shapes.OBJECTS, body, numbers=((FIRST, FIRST), (100, shapes.SHARDS)))


def patching(name: str, first: int = 1000, many: int = 1) -> Ask:
    """Changes a number in one of many objects; name has a %d where there are many."""
    values = (1000, 9000)
    body = '{"spec":{"cylinders":%d}}'
    numbers = ((first, many), values) if "%d" in name else (values,)
    return Ask("PATCH", f"{shapes.OBJECTS}/{name}", body, shapes.MERGE, numbers=numbers)


class Work:
    """The work on one server."""

    def __init__(self, driver: Driver, server: Served, size: Size) -> None:
        self.driver, self.server, self.size = driver, server, size
        self.sheet = Sheet()
        self.many = 0  # objects that sixteen connections have made

    def cpu(self) -> float:
        """Seconds of CPU so far of all that serve."""
        return self.server.cpu()

    def load(self, name: str, ask: Ask, connections: int, detail: bool = False, most: int = 1 << 40) -> Load:
        """Ask as fast as it goes and put the rate down. detail: latency and CPU too. most: requests."""
        before = self.cpu()
        load = self.driver.hammer(self.server.target, ask, connections, self.size.seconds, most)
        used = self.cpu() - before
        where = f"{name}, {connections} connection{'s' if connections > 1 else ''}"
        self.sheet.put(where, load.rate, "/s", more=True)
        if detail:
            self.sheet.put(f"{where}: 99% within", load.at(0.99), "ms")
            self.sheet.put(f"{where}: CPU each", used / load.requests * 1e6, "us")
        return load

    def timed(self, name: str, ask: Ask) -> None:
        """Ask a few times and put the middle time down."""
        load = self.driver.hammer(self.server.target, ask, 1, most=RUNS)
        self.sheet.put(name, statistics.median(load.times), "ms")

    def singles(self) -> None:
        """One object at a time."""
        self.server.send("POST", shapes.OBJECTS, shapes.engine("target"))
        get = Ask("GET", f"{shapes.OBJECTS}/target")
        self.load("GET", get, 16, detail=True)
        self.load("GET", get, 1)
        half = self.size.objects // 2
        many = self.many = self.load("create", creating("sixteen"), 16, detail=True, most=half).requests
        made = many + self.load("create", creating("one"), 1, most=half // 2).requests
        made += APPLIED + 1  # the target, and what is applied below
        self.driver.hammer(self.server.target, creating("fill"), 16, most=self.size.objects - made)
        self.load("merge patch", patching("sixteen-%d", FIRST, min(500, many)), 16, detail=True)
        self.load("merge patch", patching("target"), 1)
        self.load("server-side apply", self.applying(), 16, detail=True)
        self.load("server-side apply", self.applying(), 1)

    def applying(self) -> Ask:
        """Applies a few fields of some objects."""
        head = {"apiVersion": f"{shapes.GROUP}/{shapes.VERSION}", "kind": shapes.KIND}
        spec = '{"model":"a","cylinders":%d}'
        body = shapes.text(head)[:-1] + ',"metadata":{"name":"applied-%d"},"spec":' + spec + "}"
        path = f"{shapes.OBJECTS}/applied-%d?fieldManager=bench&force=true"
        return Ask("PATCH", path, body, shapes.APPLY, numbers=((APPLIED, APPLIED), (APPLIED, APPLIED), (1000, 9000)))

    def lists(self) -> None:
        """Many objects at a time."""
        count = f"{self.size.objects:,}"
        self.timed(f"LIST {count}", Ask("GET", shapes.OBJECTS))
        self.timed(f"LIST {count} as a Table", Ask("GET", shapes.OBJECTS, accept=shapes.TABLE))
        self.timed(f"LIST {count} by a label of 1%", Ask("GET", f"{shapes.OBJECTS}?labelSelector=shard%%3Ds107"))
        self.load("page of 500", Ask("GET", f"{shapes.OBJECTS}?limit=500"), 4)

    def watch(self) -> None:
        """Everybody sees every change."""
        size = self.size
        server = self.server
        now = version(server.target, shapes.OBJECTS)
        watch = Ask("GET", f"{shapes.OBJECTS}?watch=1&resourceVersion={now}")
        fan = self.driver.fanout(server.target, watch, patching("target"), size.watchers, size.updates, server.pid)
        where = f"watch, {size.watchers} watchers x {size.updates} updates"
        self.sheet.put(where, fan.rate, "/s", more=True)  # mostly the time of the writes, and so of the disk's syncs
        self.sheet.put(f"{where}: CPU each", fan.cpu * 1e6, "us")
        self.sheet.put(f"watch, one update seen by {size.watchers} after", fan.lag, "ms")

    def definitions(self) -> None:
        """Many definitions of 72 properties in 20 groups, made one after the other."""
        many, before = self.size.definitions, self.server.rss()
        bodies = [shapes.text(wide(number)).encode() for number in range(many)]
        began = time.perf_counter()
        for body in bodies:
            self.server.send("POST", shapes.CRDS, body)
        last = many - 1
        self.server.send("GET", f"/apis/{group(last)}/{shapes.VERSION}/things{last}?limit=1")
        self.sheet.put(f"{many} CRDs created and served", time.perf_counter() - began, "s")
        self.once("first /openapi/v2 after that", "/openapi/v2")
        self.once("first /openapi/v3 of one group", f"/openapi/v3/apis/{group(0)}/{shapes.VERSION}")
        self.sheet.put(f"memory grown by {many} CRDs and OpenAPI", self.server.rss() - before, "MB")

    def once(self, name: str, path: str) -> None:
        """Ask a single time."""
        began = time.perf_counter()
        self.server.send("GET", path)
        self.sheet.put(name, time.perf_counter() - began, "s")


def group(number: int) -> str:
    """The group of the definition of this number."""
    return f"g{number % 20}.{shapes.GROUP}"


def wide(number: int) -> dict[str, Any]:
    """The definition of this number."""
    return shapes.wide(f"things{number}", f"Thing{number}", group(number))


def main(smoke: bool = False, size: Size | None = None) -> list[Figure]:
    size = size or (SMOKE if smoke else Size())
    with Driver() as driver, Served() as server:
        work = Work(driver, server, size)
        work.sheet.put("start to ready, certificates made", server.ready, "s")
        work.sheet.put("memory, idle", server.rss(), "MB")
        began = time.perf_counter()
        server.install(shapes.definition())
        work.sheet.put("a CRD is served after", (time.perf_counter() - began) * 1000, "ms")
        work.singles()
        work.lists()
        work.watch()
        work.sheet.put(f"memory, {size.objects:,} objects after the run", server.rss(), "MB")
        work.definitions()
    return work.sheet
