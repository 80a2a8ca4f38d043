"""What small requests cost that a set-up makes expensive: the loop's time, and what another client feels beside them.

Each attack has a server of its own, a process of `podless serve` with SQLite on disk. An administrator stores what the
attack needs; then a good client asks every ten milliseconds, a GET and a create, alone at first; then the attack is
sent beside it. A line tells what was answered, the processor time that the server spent on the attack, the longest
time for which its loop was held (processor time of the loop's thread, and what the server itself told in
podless_loop_held_worst_seconds), the times of the good client from when it was to ask until it had its answer, for
creates also in processor time of the server, which does not grow where the machine is busy, and resident memory:
before, the most meanwhile, and when all is over.

    python -m bench.attack [--scale SHARE] [--limit SECONDS] [--list] [ROW ...]

ROW: a row of the table, such as F2, or a letter for all of its rows. --scale: multiplies the sizes. The exit code is 1
where an attack holds the loop for more than 100 ms, keeps more than 64 MB, is answered 500 (where a real server is not)
or not in time, or has the good client's creates wait for more than 50 ms of the server's processor time (99%).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import math
import multiprocessing
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from tests.webhooks import webhook

from bench.asks.ask import MAPS, Ask, ask, config, raw, text
from bench.attacks import extensions, limits, reads, rights, schemas, writes
from bench.attacks.attack import ADMIN, PLAIN, RBAC, Attack, Site
from bench.flood import Wire
from bench.load.beating import Held
from bench.load.server import Served
from bench.record.figure import Figure

ATTACKS = (*rights.ATTACKS, *reads.ATTACKS, *schemas.ATTACKS, *limits.ATTACKS, *extensions.ATTACKS, *writes.ATTACKS)
GOOD = "good"
EVERY = 0.01  # seconds between two requests of the good client
ALONE = 1.0  # seconds of it alone
_WATCHED = 3.0  # seconds for which watches are open where nothing else is asked
LOOK = 0.01  # seconds between two looks at memory
SETTLED = 1.0  # seconds for which memory must not fall before it counts as what is kept
PATIENCE = 8.0  # seconds that it may take to fall
MAX_HELD, MAX_LATE = 0.1, 0.05  # seconds
_TOLD = re.compile(r"^podless_loop_held_worst_seconds (\S+)$", re.MULTILINE)


class Times(NamedTuple):
    """Seconds from when a request was to be sent to its answer."""

    late: float = 0.0
    worst: float = 0.0

    @classmethod
    def of(cls, found: Sequence[float]) -> Times:
        ordered = sorted(found)
        return cls(ordered[int(len(ordered) * 0.99)], ordered[-1]) if ordered else cls()

    def __str__(self) -> str:
        return f"{self.late * 1e3:7.1f} {self.worst * 1e3:7.0f}"


class Found(NamedTuple):
    """What an attack did. told: by the server, 0 where it told nothing. answers: how often a status came.

    waited: processor seconds of the server while a create waited (99%).
    """

    attack: Attack
    answers: dict[int, int]
    seconds: float
    spent: float
    held: float
    told: float
    gets: Times
    creates: Times
    waited: float
    before: float
    most: float
    after: float

    def faults(self) -> list[str]:
        """What is out of bounds."""
        return [
            name
            for name, wrong in (
                ("held", max(self.held, 0.0) > MAX_HELD),
                ("kept", self.after - self.before > self.attack.keeps),
                ("late", self.waited > MAX_LATE),
                ("error", 500 in self.answers and not self.attack.fails),
                ("no answer", 0 in self.answers),
            )
            if wrong
        ]

    def __str__(self) -> str:
        codes = " ".join(f"{code or 'none'}{f'x{many}' if many > 1 else ''}" for code, many in self.answers.items())
        times = f"{self.seconds:6.2f} {self.spent:6.2f} {self.held * 1e3:7.0f} {self.told * 1e3:7.0f}"
        memory = f"{self.before:5.0f} {self.most:6.0f} {self.after:6.0f}"
        faults = ", ".join(self.faults()) or "ok"
        return (
            f"{self.attack.row:3} {codes:14} {times} {self.gets} {self.creates} {self.waited * 1e3:7.1f} {memory}  "
            f"{faults}: {self.attack.what}"
        )


HEADS = (
    f"{'':3} {'':14} {'s':>6} {'CPU s':>6} {'held ms':>7} {'told':>7} {'GET 99%':>7} {'worst':>7} "
    f"{'cre.99%':>7} {'worst':>7} {'CPU ms':>7} {'MB':>5} {'most':>6} {'after':>6}"
)


async def _steady(port: int, process: int, told: Connection) -> None:
    """The good client: asks at even times, on a connection each for what it reads and what it writes."""

    async def go_on(make: Callable[[int], Ask]) -> list[tuple[float, float, float]]:
        wire = Wire(*await asyncio.open_connection("127.0.0.1", port))
        seen: list[tuple[float, float, float]] = []
        clock = ~process << 3 | 2  # of the server's processor time, as clock_getcpuclockid makes it on Linux
        due, number = time.perf_counter(), 0
        while not stopped.is_set():
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            began = time.clock_gettime(clock)
            code = await wire.ask(raw(GOOD, make(number)))
            assert code < 300, code
            seen.append((due, time.perf_counter() - due, time.clock_gettime(clock) - began))
            due, number = due + EVERY, number + 1
        return seen

    stopped = asyncio.Event()
    asyncio.get_running_loop().add_reader(told.fileno(), stopped.set)
    gets = go_on(lambda number: ask("GET", f"{MAPS}/good"))
    creates = go_on(lambda number: ask("POST", MAPS, text(config(f"good{number}", {"a": "b"}))))
    told.send(await asyncio.gather(gets, creates))


def good(port: int, process: int, told: Connection) -> None:
    """Its process; it gives way to nothing, and ends when it is told anything."""
    asyncio.run(_steady(port, process, told))


async def _answered(port: int, data: bytes, limit: float) -> int:
    """The status of a request on a connection of its own, 0 where there is none in time."""
    with contextlib.suppress(OSError, TimeoutError, ValueError, asyncio.IncompleteReadError):
        async with asyncio.timeout(limit):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
            try:
                writer.write(data.replace(b"\r\n", b"\r\nConnection: close\r\n", 1))
                head = await reader.readline()
                while await reader.read(1 << 20):
                    pass
                return int(head[9:12])
            finally:
                writer.transport.abort()
    return 0


async def _attacking(
    port: int, watches: Sequence[bytes], asks: Sequence[bytes], abreast: int, limit: float, told: Connection
) -> None:
    refused: list[int] = []

    async def watch(data: bytes, begun: asyncio.Event) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(data)
            code = int((await reader.readline())[9:12] or 0)
            refused.extend([code] if code >= 300 else [])
            begun.set()
            while await reader.read(1 << 20):
                pass
        finally:
            begun.set()
            writer.transport.abort()

    tasks = []
    for data in watches:
        begun = asyncio.Event()
        tasks.append(asyncio.ensure_future(watch(data, begun)))
        await begun.wait()
    until, turns = time.monotonic() + limit, asyncio.Semaphore(abreast)

    async def ask_once(data: bytes) -> int:
        async with turns:
            return await _answered(port, data, max(0.01, until - time.monotonic()))

    codes = await asyncio.gather(*map(ask_once, asks))
    if not asks:
        await asyncio.sleep(_WATCHED)
    for task in tasks:
        task.cancel()
    told.send(refused + codes)


def attacker(port: int, limit: float, told: Connection) -> None:
    """The attacker's process; what it sends is made before it is begun."""
    watches, asks, abreast = told.recv()
    told.send("ready")
    told.recv()
    asyncio.run(_attacking(port, watches, asks, abreast, limit, told))


class Measured:
    """One attack on a server of its own."""

    def __init__(self, attack: Attack, server: Served, held: Held, limit: float) -> None:
        self.attack = attack
        self._server, self._held, self._limit = server, held, limit
        self._context = multiprocessing.get_context("spawn")

    def _start(self, work: Any, *args: Any) -> tuple[Any, Connection]:
        mine, theirs = self._context.Pipe()
        child = self._context.Process(target=work, args=(*args, theirs), daemon=True)
        child.start()
        theirs.close()
        return child, mine

    def _told(self) -> float:
        """What the server says itself; it waits while the loop is held."""
        found = _TOLD.search(self._server.send("GET", "/metrics").decode())
        return float(found[1]) if found else 0.0

    def _used(self) -> tuple[float, float]:
        return time.perf_counter(), self._server.cpu()

    def run(self, scale: float, hook: Any) -> Found:
        """Set it up, attack, look."""
        site, port = Site(self._server, scale, hook), self._server.target.port
        allow(site)
        asks = [raw(ADMIN, each) for each in self.attack.setup(site)]
        watches = [raw(ADMIN, each) for each in self.attack.watches(site)]
        told = self._told()
        bad, wire = self._start(attacker, port, self._limit)
        other, line = self._start(good, port, self._server.pid)
        try:
            wire.send((watches, asks, self.attack.abreast))
            wire.recv()
            time.sleep(0.5)  # until the good client has begun
            quiet = self._used()
            time.sleep(ALONE)
            before, began = self._server.rss(), self._used()
            rate = (began[1] - quiet[1]) / (began[0] - quiet[0])
            self._held.set(0.0)
            most = self._attack(wire, before)
            ended = self._used()
            codes = wire.recv() if wire.poll(0) else [0]
            bad.terminate()
            time.sleep(0.05)
            now = self._told()
            held = self._held.read()
            line.send("end")
            seen = line.recv() if line.poll(self._limit) else [[], []]
            gets, creates = ([each for each in part if each[0] + each[1] >= began[0]] for part in seen)
        finally:
            bad.kill()
            other.kill()
        seconds = ended[0] - began[0]
        return Found(
            self.attack,
            {code: codes.count(code) for code in sorted(set(codes))},
            seconds,
            max(0.0, ended[1] - began[1] - rate * seconds),
            held,
            now if now > told else 0.0,
            Times.of([took for _, took, _ in gets]),
            Times.of([took for _, took, _ in creates]),
            Times.of([later for _, _, waited in creates for later in _every(waited)]).late,
            before,
            most,
            self._kept(most),
        )

    def _attack(self, wire: Connection, most: float) -> float:
        """Have it sent, and wait for it; the most memory meanwhile."""
        end = time.monotonic() + self._limit * 1.2 + 10
        wire.send("go")
        while not wire.poll(LOOK) and time.monotonic() < end:
            most = max(most, self._server.rss())
        return max(most, self._server.rss())

    def _kept(self, least: float) -> float:
        """Memory once it does not fall any more."""
        end, still = time.monotonic() + PATIENCE, time.monotonic() + SETTLED
        while time.monotonic() < min(end, still):
            now = self._server.rss()
            if now < least - 1:
                least, still = now, time.monotonic() + SETTLED
            time.sleep(0.05)
        return least


def _every(seconds: float) -> Sequence[float]:
    """What all would have waited that might have asked while one request waited."""
    return [seconds - turn * EVERY for turn in range(max(1, math.ceil(seconds / EVERY)))]


def allow(site: Site) -> None:
    """The attacker and the good client may do everything, and are no superusers of the server."""
    group = "rbac.authorization.k8s.io"
    reference = {"apiGroup": group, "kind": "ClusterRole", "name": "cluster-admin"}
    subjects = [{"kind": "User", "apiGroup": group, "name": name} for name in (ADMIN, GOOD)]
    body = {"metadata": {"name": "bench"}, "subjects": subjects, "roleRef": reference}
    site.post(f"{RBAC}/clusterrolebindings", body)
    site.post(MAPS, config(GOOD, {"a": "b"}))


def measure(attack: Attack, scale: float, limit: float) -> Found:
    """Run one on a server of its own."""
    with tempfile.TemporaryDirectory(prefix="podless-bench-") as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        tokens = "".join(f"{user},{user},{user},\n" for user in (ADMIN, GOOD, PLAIN))
        (folder / "tokens").write_text(tokens)
        held = stack.enter_context(Held(folder / "held"))
        program = ("-m", "bench.load.beating", str(folder / "held"))
        more = ("--token-auth-file", str(folder / "tokens"))
        with open(os.devnull, "w") as quiet, _errors(quiet.fileno()):
            server = stack.enter_context(Served(folder / "data", False, more, program))
        hook = None
        if attack.hook is not None:
            answer, site = attack.hook, Site(server, scale)
            hook = stack.enter_context(webhook(lambda body: answer(site, body)))
        return Measured(attack, server, held, limit).run(scale, hook)


@contextlib.contextmanager
def _errors(target: int) -> Any:
    """What a process that is begun here logs goes elsewhere."""
    kept = os.dup(2)
    os.dup2(target, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def wanted(rows: Sequence[str]) -> list[Attack]:
    """Those of some rows, all without one."""
    return [each for each in ATTACKS if not rows or any(_is(each.row, row) for row in rows)]


def _is(row: str, asked: str) -> bool:
    return row == asked or (asked.isalpha() and row.rstrip("0123456789") == asked)


def run(rows: Sequence[str] = (), scale: float = 1.0, limit: float = 60.0) -> list[Found]:
    """Measure them, one after the other."""
    print(HEADS, flush=True)
    found: list[Found] = []
    for attack in wanted(rows):
        try:
            found.append(measure(attack, scale, limit))
            print(found[-1], flush=True)
        except (RuntimeError, OSError, AssertionError) as error:
            print(f"{attack.row:3} cannot be set up: {str(error)[:300]}: {attack.what}", flush=True)
    return found


def main(smoke: bool = False) -> list[Figure]:
    """Print a line for each."""
    found = run(("A",), 0.05, 10.0) if smoke else run()
    return [
        Figure("the worst attack holds the loop for", max(each.held for each in found) * 1e3, "ms"),
        Figure("another client's creates, 99% (CPU)", max(each.waited for each in found) * 1e3, "ms"),
        Figure("memory kept after an attack", max(each.after - each.before for each in found), "MB"),
        Figure("attacks out of bounds", sum(bool(each.faults()) for each in found), ""),
    ]


def command() -> int:
    """As a program. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.attack", description=__doc__.splitlines()[0])
    parser.add_argument("row", nargs="*", metavar="ROW", help="such as F2, or F for all of these; all without one")
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies all sizes (default: 1)")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds that an attack may take (default: 60)")
    parser.add_argument("--list", action="store_true", help="say what there is, and run nothing")
    parser.add_argument("--json", type=Path, help="write what was found to this file too")
    options = parser.parse_args()
    if options.list:
        print(*(f"{each.row:3} {each.what}" for each in wanted(options.row)), sep="\n")
        return 0
    found = run(options.row, options.scale, options.limit)
    if options.json:
        lines = [{**each._asdict(), "attack": each.attack.row, "faults": each.faults()} for each in found]
        options.json.write_text(json.dumps(lines, indent=1))
    wrong = len(wanted(options.row)) - sum(not each.faults() for each in found)
    print(f"{wrong} of {len(wanted(options.row))} attacks are out of bounds")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(command())
