"""What the history costs: writes with and without it, alternating; bytes of a change; reads among 5 million changes.

Both servers run at once and take turns, so that other work on the machine meets both alike. The server with history has
left its window before it is measured, so that it packs a state for each one that is replaced. It does some of that
after a burst of writes: the next turn begins when it is done, and its CPU counts.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import orjson

from bench.load import etcd, process, shapes
from bench.load.client import Ask
from bench.load.driver import Driver
from bench.load.server import Served
from bench.record.figure import Figure, Sheet
from bench.serve import FIRST, creating, patching
from podless.store.history import pack_value
from podless.store.sqlite import format
from podless.store.sqlite.logrows import row_checksum

_LOG = "/apis/history.podless.dev/v1"
_HEAD = '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"one","uid":"1","resourceVersion":"'
_OPTIONS = ("--history-log", "720h,100Gi,100000000")
_WINDOW = ("--history", "1h,256Mi,5000")  # which is soon left
_USERS = 20
_PATCHED = 500  # objects that are patched in turn
_REST = 0.25  # seconds in which a server that has nothing to do uses less than a hundredth of one
_READS = 9  # of each sort; the middle one counts


@dataclass(frozen=True, slots=True)
class Size:
    """How much of everything. rounds: turns of each server and load, a median needs many on a busy machine.

    writes: of each load. warm: changes before the first one.
    """

    rounds: int = 25
    writes: int = 2000
    warm: int = 5500
    namespaces: int = 100
    objects: int = 1000
    changes: int = 50


SMOKE = Size(2, 50, 50, 2, 10, 4)


def _patch() -> Ask:
    """Changes one of many objects."""
    return patching("many-%d", FIRST, _PATCHED)


@dataclass(slots=True)
class _Turn:
    """One load on one server: writes a second, and microseconds of CPU that each took."""

    rate: float
    cost: float


def _settle(pid: int) -> None:
    """Wait until a process has nothing to do."""
    before = -1.0
    while (now := process.cpu(pid)) > before:
        before = now
        time.sleep(_REST)


def _rates(
    size: Size, sheet: Sheet, engine: str, off_options: Sequence[str], on_options: Sequence[str], beside: Sequence[int]
) -> None:
    """Alternate creates and patches between a server without authors and one with the history log.

    beside: processes whose CPU counts as well.
    """
    turns: dict[tuple[str, str], list[_Turn]] = {}
    with Driver() as driver, Served(more=off_options) as off, Served(more=on_options) as on:
        servers = {"off": off, "on": on}
        for server in servers.values():
            server.send("POST", shapes.CRDS, shapes.definition())
            server.send("GET", f"{shapes.OBJECTS}?limit=1")
            driver.hammer(server.target, creating("many"), 16, most=_PATCHED)
            driver.hammer(server.target, _patch(), 16, most=size.warm)
        for number in range(size.rounds):
            for name in ("create", "merge patch"):
                for way in ("off", "on") if number % 2 else ("on", "off"):
                    ask = creating(f"round-{number}") if name == "create" else _patch()
                    pids = (servers[way].pid, *beside)
                    before = sum(map(process.cpu, pids))
                    load = driver.hammer(servers[way].target, ask, 16, most=size.writes)
                    _settle(servers[way].pid)
                    used = sum(map(process.cpu, pids)) - before
                    turns.setdefault((name, way), []).append(_Turn(load.rate, used / load.requests * 1e6))
    for name in ("create", "merge patch"):
        what, sides = f"{name} on {engine}", (turns[name, "off"], turns[name, "on"])
        for way, side in zip(("off", "on"), sides, strict=True):
            rate, cost = statistics.median(one.rate for one in side), statistics.median(one.cost for one in side)
            sheet.put(f"{what}, 16 connections, history {way}", rate, "/s", more=True)
            sheet.put(f"{what}, history {way}: CPU each", cost, "us")
        pairs = list(zip(*sides, strict=True))
        share = statistics.median(with_log.rate / without.rate for without, with_log in pairs)
        sheet.put(f"{what}: rate with history", share * 100, "%", more=True)
        share = statistics.median(without.cost / max(with_log.cost, 1) for without, with_log in pairs)
        sheet.put(f"{what}: CPU without / with history", share * 100, "%", more=True)


def _rates_on_etcd(size: Size, sheet: Sheet) -> None:
    """The same on one member of etcd, whose CPU counts."""
    if etcd.COMMAND is None:
        print("etcd is not installed")
        return
    with etcd.Cluster(1) as cluster:
        common = ("--store", "etcd", "--etcd-servers", ",".join(cluster.urls), "--etcd-prefix")
        off, on = (*common, "/off", "--no-history-authors"), (*common, "/on")
        _rates(size, sheet, "etcd", off, on, cluster.pids)


def _value(turn: int) -> bytes:
    """A ConfigMap of 1.1 KB as the server stores it; all have the same name, for the log goes by keys."""
    lines = ",".join(f'"key-{number}":"value {number * 7919}"' for number in range(30))
    tail = f'","creationTimestamp":"2026-01-01T00:00:00Z"}},"data":{{{lines},"turn":"{turn}"}}}}'
    return (_HEAD + tail).encode()


def _fill(path: Path, size: Size) -> tuple[int, int]:
    """Make a database of many changes, as the store would have packed them. Returns how many, and a middle revision.

    Each object is changed once in each turn, in the order of its number; what came last is in the log.
    """
    many, turns = size.namespaces * size.objects, size.changes
    values = [_value(turn) for turn in range(turns)]
    packed = [pack_value(value, values[turn // 32 * 32] if turn % 32 else b"") for turn, value in enumerate(values)]
    database = format.open_database(path)
    database.execute("PRAGMA synchronous = OFF")
    database.execute("BEGIN")
    database.execute("DROP INDEX past_sequence")
    for user in range(_USERS):
        text = orjson.dumps([f"user-{user}", "", "update", "", "bench", "bench/1"]).decode()
        database.execute("INSERT INTO authors VALUES (?, ?, ?)", (user + 1, text, crc32(text.encode())))
    offset, start, stored = len(_HEAD), int(time.time() * 1000) - 86_400_000, 0

    def rows(number: int, key: str) -> Iterator[tuple[object, ...]]:
        for turn in range(turns - 1):
            sequence, author = turn * many + number + 1, turn % _USERS + 1
            row = (key, values[turn], offset, sequence, number + 1, sequence, start + sequence, author, None)
            base = turn // 32 * 32 * many + number + 1 if turn % 32 else 0
            yield (
                number + 1,
                sequence,
                2,
                sequence,
                *row[4:5],
                offset,
                row[6],
                author,
                None,
                row_checksum(*row),
                base,
                packed[turn],
            )

    for number in range(many):
        key = f"/core/configmaps/n{number // size.objects}/c{number % size.objects}"
        database.execute("INSERT INTO names VALUES (?, ?)", (number + 1, key))
        database.executemany("INSERT INTO past VALUES (?,?,?,?,?,?,?,?,?,?,?,?)", rows(number, key))
        sequence = (turns - 1) * many + number + 1
        last = (key, values[-1], offset, sequence, number + 1, sequence, start + sequence, turns % _USERS + 1, None)
        database.execute(format.INSERT, (*last, row_checksum(*last)))
    stored = many * (turns - 1)
    resources = [(1, "/", 0, 0, 0), (2, "/core/configmaps/", 0, stored, stored * 200)]
    database.executemany("INSERT INTO resources VALUES (?, ?, ?, ?, ?)", resources)
    compacted = turns * many
    database.execute("UPDATE state SET compacted = ?, checksum = ?", (compacted, format.checksum_of(compacted)))
    database.execute("CREATE INDEX past_sequence ON past (resource, sequence)")
    database.execute("COMMIT")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    database.close()
    return turns * many, turns // 2 * many


def _reads(size: Size, sheet: Sheet) -> None:
    with tempfile.TemporaryDirectory(prefix="podless-bench-") as scratch:
        folder = Path(scratch)
        began = time.perf_counter()
        done, middle = _fill(folder / "podless.db", size)
        print(f"{done:,} changes made in {time.perf_counter() - began:.0f} s")
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
    _rates(size, sheet, "SQLite", (*_WINDOW, "--no-history-authors"), (*_WINDOW, *_OPTIONS), ())
    _rates_on_etcd(size, sheet)
    _reads(size, sheet)
    return sheet
