"""How cost grows: with objects, definitions, watchers and rules. Points and pictures go to bench/plots.

A figure that grows faster than the work it stands for is marked.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.load import shapes
from bench.load.client import Ask, version
from bench.load.driver import Driver
from bench.load.server import Served
from bench.record import plot
from bench.record.book import Place
from bench.record.figure import Figure
from bench.record.series import Curve, Series
from bench.serve import FIRST, creating, group, patching, wide

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


@dataclass(frozen=True, slots=True)
class Sizes:
    """How far to go.

    seconds: of each load. events: delivered in all at each number of watchers. turns: of what is seldom and slow.
    """

    objects: tuple[int, ...] = (1_000, 10_000, 30_000, 100_000)
    definitions: tuple[int, ...] = (100, 500, 1_000, 2_000)
    watchers: tuple[int, ...] = (100, 1_000, 5_000)
    rules: tuple[int, ...] = (0, 10, 100)
    seconds: float = 2.0
    events: int = 50_000
    turns: int = 3


SMOKE = Sizes((50, 100), (5, 10), (5, 10), (0, 10), 0.1, 100, 1)


def objects(driver: Driver, sizes: Sizes) -> Series:
    """One kind with more and more objects."""
    series = Series(
        "objects",
        [
            Curve("GET, 16 connections", "/s", more=True),
            Curve("GET, CPU", "us"),
            Curve("create, median", "ms"),
            Curve("create, 16 connections, CPU", "us"),
            Curve("merge patch, median", "ms"),
            Curve("page of 500, median", "ms"),
            Curve("memory each", "KB"),
        ],
    )
    with Served() as server:
        server.install(shapes.definition())
        empty, target = server.rss(), server.target
        there, first = 0, sizes.objects[0]
        names = f"fill{first}-%d"  # of the first objects, which are read and changed
        for size in sizes.objects:
            filled, before = size - there, server.cpu()
            driver.hammer(target, creating(f"fill{size}"), 16, most=filled)
            making, there = (server.cpu() - before) / filled * 1e6, size
            memory = (server.rss() - empty) * 1024 / size
            get = Ask("GET", f"{shapes.OBJECTS}/{names}", numbers=((FIRST, first),))
            before = server.cpu()
            got = driver.hammer(target, get, 16, sizes.seconds)
            getting = (server.cpu() - before) / got.requests * 1e6
            made = driver.hammer(target, creating(f"one{size}"), 1, sizes.seconds, most=size // 20)
            there += made.requests
            patched = driver.hammer(target, patching(names, FIRST, first), 1, sizes.seconds)
            page = driver.hammer(target, Ask("GET", f"{shapes.OBJECTS}?limit=500"), 1, most=20)
            series.put(size, got.rate, getting, made.at(0.5), making, patched.at(0.5), page.at(0.5), memory)
    return series


def definitions(driver: Driver, sizes: Sizes) -> Series:
    """More and more definitions of 72 properties, in 20 groups."""
    series = Series(
        "definitions",
        [
            Curve("creation, median of the last 50", "ms"),
            Curve("creation, CPU", "ms"),
            Curve("discovery document, first", "ms", work=1),
            Curve("discovery document, again", "ms", work=1),
            Curve("OpenAPI v3 index, first", "ms", work=1),
            Curve("a change seen in OpenAPI v3", "ms", work=1),  # the document of a group is as long as its kinds
            Curve("memory each", "MB"),
            Curve("cold kubectl get", "ms", work=1),
        ],
    )
    with Served() as server:
        server.install(shapes.definition())
        server.send("POST", shapes.OBJECTS, shapes.engine("target"))
        empty, there = server.rss(), 0
        for size in sizes.definitions:
            spent, before = [], server.cpu()
            for number in range(there, size):
                body = shapes.text(wide(number)).encode()
                began = time.perf_counter()
                server.send("POST", shapes.CRDS, body)
                spent.append(time.perf_counter() - began)
            making, there = (server.cpu() - before) * 1000 / len(spent), size
            memory = (server.rss() - empty) / size
            first, again = (_spent(lambda: server.send("GET", "/apis", accept=AGGREGATED)) for _ in range(2))
            index = _spent(lambda: server.send("GET", "/openapi/v3"))
            seen = statistics.median(_visible(server, size, turn) for turn in range(sizes.turns))
            cold = min(_cold_get(server) for _ in range(sizes.turns)) if shutil.which("kubectl") else None
            created = statistics.median(spent[-50:]) * 1000
            series.put(size, created, making, first, again, index, seen, memory, cold)
    return series


def _spent(work: Callable[[], object]) -> float:
    """Milliseconds."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def _visible(server: Served, size: int, turn: int) -> float:
    """Milliseconds from the change of a schema until the document of its group has it."""
    mark = f"as of {size} and {turn}"
    part = {"description": mark, "type": "object"}
    versions = wide(0)["spec"]["versions"]
    versions[0]["schema"]["openAPIV3Schema"]["properties"]["status"] = part
    change = {"spec": {"versions": versions}}

    def look() -> None:
        server.send("PATCH", f"{shapes.CRDS}/things0.{group(0)}", change, shapes.MERGE)
        patience = time.perf_counter() + 60
        while True:
            index = json.loads(server.send("GET", "/openapi/v3"))
            address = index["paths"][f"apis/{group(0)}/{shapes.VERSION}"]["serverRelativeURL"]
            if mark.encode() in server.send("GET", address):
                return
            assert time.perf_counter() < patience, "the change is not seen"

    return _spent(look)


def _cold_get(server: Served) -> float:
    """Milliseconds of a kubectl get that knows nothing yet."""
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "HOME": home, "KUBECONFIG": str(server.kubeconfig)}
        command = ["kubectl", "get", f"{shapes.PLURAL}.{shapes.GROUP}", "target", "-o", "name"]
        began = time.perf_counter()
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, timeout=120)
        return (time.perf_counter() - began) * 1000


def watchers(driver: Driver, sizes: Sizes) -> Series:
    """More and more watchers of the same kind, on connections of their own."""
    series = Series(
        "watchers",
        [
            Curve("events", "/s", more=True),
            Curve("one update seen by all", "ms", work=1),
            Curve("CPU of the server, each event", "us"),
            Curve("memory each, after the updates", "KB"),
        ],
    )
    with Served() as server:
        server.install(shapes.definition())
        server.send("POST", shapes.OBJECTS, shapes.engine("target"))
        empty = server.rss()
        for size in sizes.watchers:
            now = version(server.target, shapes.OBJECTS)
            watch = Ask("GET", f"{shapes.OBJECTS}?watch=1&resourceVersion={now}")
            fan = driver.fanout(
                server.target, watch, patching("target"), size, max(5, sizes.events // size), server.pid
            )
            memory = (fan.memory - empty) * 1024 / size
            series.put(size, fan.rate, fan.lag, fan.cpu * 1e6, memory)
    return series


def rules(driver: Driver, sizes: Sizes) -> Series:
    """More and more rules on the spec of an object."""
    series = Series(
        "rules",
        [
            Curve("create, median", "ms", work=1),
            Curve("create, CPU", "us", work=1),
            Curve("merge patch, median", "ms", work=1),
            Curve("merge patch, CPU", "us", work=1),
        ],
    )
    with Served() as server:
        for size in sizes.rules:
            name = f"g{size}.{shapes.GROUP}"
            server.install(shapes.definition(group=name, rules=[_rule(number) for number in range(size)]))
            path = shapes.OBJECTS.replace(shapes.GROUP, name)
            server.send("POST", path, shapes.engine("target", group=name))  # rules are compiled with the first object
            body = shapes.text(shapes.engine("one-%d", group=name))
            create = Ask("POST", path, body, numbers=((FIRST, FIRST),))
            patch = Ask("PATCH", f"{path}/target", '{"spec":{"cylinders":%d}}', shapes.MERGE, numbers=((1000, 9000),))
            values: list[float] = []
            for ask in (create, patch):
                before = server.cpu()
                load = driver.hammer(server.target, ask, 1, sizes.seconds)
                values += [load.at(0.5), (server.cpu() - before) / load.requests * 1e6]
            series.put(size, *values)
    return series


def _rule(number: int) -> str:
    forms = (
        f"self.lowest <= self.cylinders + {number} && self.cylinders <= self.highest + {number}",
        f"!has(self.valves) || self.valves.all(v, v.size > 0 && v.size < {65536 + number})",
        f"self.model.startsWith('works') || self.cylinders > {number}",
        f"size(self.marks) < {100 + number}",
    )
    return forms[number % len(forms)]


ALL = (objects, definitions, watchers, rules)


def main(smoke: bool = False) -> list[Figure]:
    place, sizes = Place.here(), SMOKE if smoke else Sizes()
    figures: list[Figure] = []
    verdicts: list[str] = []
    with tempfile.TemporaryDirectory() as scratch, Driver() as driver:
        for work in ALL:
            series = work(driver, sizes)
            figures += series.figures()
            verdicts += series.verdicts()
            file = series.write(place, Path(scratch)) if smoke else series.write(place)
            try:
                print(f"drawn: {plot.draw(series, place, file.with_suffix('.svg'))}")
            except ImportError:
                print("not drawn: matplotlib is not installed (pip install podless[bench])")
    if not smoke:
        print(*verdicts, sep="\n")
    return figures
