"""What the history costs: writes with and without it, alternating; bytes of a change; reads among 5 million changes.

Both servers run at once and take turns, so that other work on the machine meets both alike. The server with history has
left its window before it is measured, so that its writes pay for packing, too.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.load import shapes
from bench.load.driver import Driver
from bench.load.server import Served
from bench.record.figure import Figure, Sheet
from bench.serve import creating, patching
from podless.store import Operation, Stored
from podless.store.contract import AUTHOR, Author
from podless.store.history import Keep
from podless.store.past import Bounds
from podless.store.sqlite import SQLiteStore

_LOG = "/apis/history.podless.dev/v1"
_TOGETHER = 500  # changes of one commit
_KEEP = Keep(1e9, 1 << 40, 1 << 40)
_OPTIONS = ("--history-log", "720h,100Gi,100000000")
_WINDOW = ("--history", "1h,256Mi,500")  # which is soon left
_USERS = 20
_READS = 9  # of each sort; the middle one counts


@dataclass(frozen=True, slots=True)
class Size:
    """How much of everything. seconds: of each load. warm: changes before the first one."""

    rounds: int = 6
    seconds: float = 3.0
    warm: int = 1000
    namespaces: int = 100
    objects: int = 1000
    changes: int = 50


SMOKE = Size(2, 0.1, 50, 2, 10, 4)


def _rates(size: Size, sheet: Sheet) -> None:
    """Alternate creates and patches between a server without authors and one with the history log."""
    rates: dict[tuple[str, str], list[float]] = {}
    costs: dict[tuple[str, str], list[float]] = {}
    with (
        Driver() as driver,
        Served(more=(*_WINDOW, "--no-history-authors")) as off,
        Served(more=(*_WINDOW, *_OPTIONS)) as on,
    ):
        servers = {"off": off, "on": on}
        for server in servers.values():
            server.send("POST", shapes.CRDS, shapes.definition())
            server.send("GET", f"{shapes.OBJECTS}?limit=1")
            server.send("POST", shapes.OBJECTS, shapes.engine("target"))
            driver.hammer(server.target, patching("target"), 16, most=size.warm)
        for number in range(size.rounds):
            for name in ("create", "merge patch"):
                for way in ("off", "on") if number % 2 else ("on", "off"):
                    server = servers[way]
                    ask = creating(f"round-{number}") if name == "create" else patching("target")
                    before = server.cpu()
                    load = driver.hammer(server.target, ask, 16, size.seconds)
                    rates.setdefault((name, way), []).append(load.rate)
                    costs.setdefault((name, way), []).append((server.cpu() - before) / load.requests * 1e6)
    for name in ("create", "merge patch"):
        for way in ("off", "on"):
            sheet.put(f"{name}, 16 connections, history {way}", statistics.median(rates[name, way]), "/s", more=True)
            sheet.put(f"{name}, history {way}: CPU each", statistics.median(costs[name, way]), "us")
        shares = [on / off for on, off in zip(rates[name, "on"], rates[name, "off"], strict=True)]
        sheet.put(f"{name}: rate with history", statistics.median(shares) * 100, "%", more=True)
        shares = [off / on for on, off in zip(costs[name, "on"], costs[name, "off"], strict=True)]
        sheet.put(f"{name}: CPU without / with history", statistics.median(shares) * 100, "%", more=True)


def _stored(namespace: str, name: str, turn: int) -> Stored:
    """A ConfigMap of 1.1 KB as the server stores it."""
    head = f'{{"kind":"ConfigMap","apiVersion":"v1","metadata":{{"name":"{name}","namespace":"{namespace}",'
    head += f'"uid":"00000000-0000-4000-8000-{abs(hash((namespace, name))) % 10**12:012}","resourceVersion":"'
    lines = ",".join(f'"key-{number}":"value {number * 7919}"' for number in range(30))
    tail = f'","creationTimestamp":"2026-01-01T00:00:00Z"}},"data":{{{lines},"turn":"{turn}"}}}}'
    return Stored((head + tail).encode(), len(head))


async def _fill(folder: Path, size: Size) -> tuple[int, int]:
    """Make changes of many objects. Returns how many, and a revision from the middle."""
    store = SQLiteStore(folder / "podless.db", keep=Keep(1e9, 1 << 40, 1 << 40), bounds=Bounds(_KEEP))
    await store.open()
    chance, revisions, middle, done = random.Random(1), dict[str, int](), 0, 0
    names = [(f"n{space}", f"c{number}") for space in range(size.namespaces) for number in range(size.objects)]
    for turn in range(size.changes):
        AUTHOR.set(Author(f"user-{turn % _USERS}", verb="update", manager="bench", agent="bench/1"))
        chance.shuffle(names)
        for start in range(0, len(names), _TOGETHER):
            operations = []
            for namespace, name in names[start : start + _TOGETHER]:
                key = f"/core/configmaps/{namespace}/{name}"
                operations.append(Operation(key, _stored(namespace, name, turn), revisions.get(key, 0)))
            revision = await store.commit(operations)
            revisions.update((one.key, revision) for one in operations)
            done += len(operations)
            await store.compact(revision - 4 * _TOGETHER)
        if turn == size.changes // 2:
            middle = revision
    await store.close()
    return done, middle


def _reads(size: Size, sheet: Sheet) -> None:
    with tempfile.TemporaryDirectory(prefix="podless-bench-") as scratch:
        folder = Path(scratch)
        began = time.perf_counter()
        done, middle = asyncio.run(_fill(folder, size))
        sheet.put(f"{done:,} changes written and packed", time.perf_counter() - began, "s")
        sheet.put("bytes of a change on disk, of 1.1 KB objects", (folder / "podless.db").stat().st_size / done, "B")
        with Served(folder, more=_OPTIONS) as server:
            sheet.put(f"start with {done:,} changes", server.ready, "s")
            fields = "object.group=,object.resource=configmaps,object.name=c7"
            log = f"{_LOG}/namespaces/n1/history?limit=100&fieldSelector={fields}"
            _timed(sheet, server, "log of one object", log)
            _timed(sheet, server, "log of a namespace, 100 changes", f"{_LOG}/namespaces/n1/history?limit=100")
            _timed(sheet, server, "log of the server, 100 changes", f"{_LOG}/history?limit=100")
            exact = f"resourceVersion={middle}&resourceVersionMatch=Exact"
            path = "/api/v1/namespaces/n1/configmaps"
            _timed(sheet, server, f"state of a namespace of {size.objects:,} objects", f"{path}?{exact}")
            _timed(sheet, server, "state of one object", f"{path}/c7?{exact}")


def _timed(sheet: Sheet, server: Served, name: str, path: str) -> None:
    """Ask a few times, and put the first and the middle time down."""
    times = []
    for _ in range(_READS):
        began = time.perf_counter()
        server.send("GET", path)
        times.append((time.perf_counter() - began) * 1000)
    sheet.put(f"{name}, first", times[0], "ms")
    sheet.put(name, statistics.median(times), "ms")


def main(smoke: bool = False) -> Sequence[Figure]:
    """Run it."""
    size, sheet = SMOKE if smoke else Size(), Sheet()
    _rates(size, sheet)
    _reads(size, sheet)
    return sheet
