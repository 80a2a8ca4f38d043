"""The work of bench/serve.py on SQLite, on one server over etcd, without and with --etcd-exclusive, and on three
servers over three members.

The last lines are a table of all. With three servers the connections are spread over them. Beside them is what
the disk and etcd do without a server. Where etcd is not installed a line says so.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

from bench.load import etcd, shapes
from bench.load.client import Ask
from bench.load.driver import Driver
from bench.load.server import Served
from bench.record.figure import Figure, Sheet, short
from bench.serve import FIRST, SMOKE, Size, Work, creating, patching

_CROWD = 1000  # clients that create at once
_WRITERS = 16


class _Spread(Work):
    """The work on one server or on several that have one state. servers: the others."""

    def __init__(self, driver: Driver, servers: list[Served], size: Size) -> None:
        super().__init__(driver, servers[0], size)
        self._servers = servers
        others = tuple((each.target.host, each.target.port) for each in servers[1:])
        servers[0].target = replace(servers[0].target, others=others)

    def cpu(self) -> float:
        """Seconds of CPU so far of all servers."""
        return sum(each.cpu() for each in self._servers)

    def all(self, crowd: int) -> Sheet:
        """Every line."""
        self.server.install(shapes.definition())
        self.singles()
        self.mixed()
        self.lists()
        self.watch()
        load = self.driver.hammer(self.server.target, creating("crowd"), crowd, most=2 * crowd)
        self.sheet.put(f"create, {crowd:,} clients at once", load.rate, "/s", more=True)
        self.sheet.put(f"create, {crowd:,} clients at once: the last after", load.times[-1], "ms")
        self.sheet.put("memory after the run", self.server.rss(), "MB")
        self.definitions()
        return self.sheet

    def mixed(self) -> None:
        """Many clients that mostly read."""
        read = Ask("GET", f"{shapes.OBJECTS}/sixteen-%d", numbers=((FIRST, self.many),))
        write = (patching("sixteen-%d", FIRST, self.many), 10)
        load = self.driver.hammer(self.server.target, read, 64, self.size.seconds, other=write)
        self.sheet.put("mixed, 64 connections", load.rate, "/s", more=True)
        self.sheet.put("mixed, 64 connections: 99% within", load.at(0.99), "ms")


def _run(driver: Driver, size: Size, crowd: int, members: int, servers: int, *options: str) -> Sheet:
    """All lines on so many servers over so many members; on SQLite where there are none."""
    with ExitStack() as stack:
        more = [*options]
        beside = Sheet()
        if members:
            cluster = stack.enter_context(etcd.Cluster(members))
            more += ["--store", "etcd", "--etcd-servers", ",".join(cluster.urls)]
            if members == 1:
                beside.put("durable small writes of the disk", cluster.synced(size.seconds / 2), "/s", more=True)
            rate, cpu = cluster.questions(size.seconds / 2)
            beside.put("etcd's own linearizable reads, one after the other", rate, "/s", more=True)
            beside.put("etcd's own linearizable reads: CPU each", cpu * 1e6, "us")
            rate = cluster.transactions(size.seconds, _WRITERS)
            beside.put(f"etcd's own transactions, {_WRITERS} at once", rate, "/s", more=True)
        running = [stack.enter_context(Served(more=more)) for _ in range(servers)]
        sheet = _Spread(driver, running, size).all(crowd)
    return Sheet([*sheet, *beside])


def main(smoke: bool = False) -> list[Figure]:
    size, crowd = (SMOKE, 50) if smoke else (Size(), _CROWD)
    cases: dict[str, tuple[int, int, *tuple[str, ...]]] = {
        "SQLite": (0, 1),
        "one on etcd": (1, 1),
        "one, exclusive": (1, 1, "--etcd-exclusive"),
        "three on etcd": (3, 3),
    }
    if etcd.COMMAND is None:
        print("left out: etcd is not installed (Debian: apt-get install etcd-server)")
        return []
    sheets = {}
    with Driver() as driver:
        for name, case in list(cases.items())[-1 if smoke else 0 :]:
            print(f"-- {name}")
            sheets[name] = _run(driver, size, crowd, *case)
    lines = list(dict.fromkeys(each.name for sheet in reversed(sheets.values()) for each in sheet))
    print(f"{'':52}" + "".join(f"{name:>16}" for name in sheets) + f"{'etcd : SQLite':>16}")
    for line in lines:
        found = [next((each for each in sheet if each.name == line), None) for sheet in sheets.values()]
        values = "".join(f"{f'{short(one.value)} {one.unit}' if one else '-':>16}" for one in found)
        first, second = found[:2] if len(found) > 1 else (None, None)
        print(f"{line:52}{values}" + (f"{second.value / first.value:>15.2f}x" if first and second else ""))
    return [Figure(f"{name}: {one.name}", one.value, one.unit, one.more) for name, s in sheets.items() for one in s]


if __name__ == "__main__":
    main()
