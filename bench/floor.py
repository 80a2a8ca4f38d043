"""Where the time of a GET, a create and a watch event goes, against a bare handler on the same HTTP stack.

The server runs in this process and the client in another, so that the CPU of this process is that of the server.
"""

from __future__ import annotations

import asyncio
import os
import signal
import ssl
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Self

import orjson
import uvloop

import podless
from bench.load import shapes
from bench.load.client import Ask, Fan, Load, Target
from bench.load.driver import Driver
from bench.record.figure import Figure, Sheet, short
from bench.serve import creating, patching
from podless.app import App, Settings
from podless.http import status
from podless.http.answering import ListenerState
from podless.http.clientmemory import ClientMemory
from podless.http.limits import Limits
from podless.http.listener import Listener
from podless.http.message import Answer, HTTPRequest, Response, Sink, Stream
from podless.http.tls import Certificates
from podless.store import Operation, StoredValue
from podless.store.sqlite import SQLiteStore

_ROOT = Path(podless.__file__).parent
# modules of http that the bare handler needs as well
_WIRE = {
    *("answering.py", "connection.py", "heads.py", "held.py", "incoming.py", "limits.py", "listener.py"),
    *("message.py", "outgoing.py", "parsing.py", "secure.py", "sending.py"),
}
_SENDING = ("wire", "http", "verbs", "cache")  # of a watch event; the rest is the write


@dataclass(frozen=True, slots=True)
class Size:
    """How much of everything. seconds: of each load. single: updates one by one. commits: in a row."""

    seconds: float = 1.0
    watchers: int = 200
    updates: int = 250
    single: int = 25
    commits: int = 2000


SMOKE = Size(0.05, 5, 5, 2, 20)
ROUNDS = 4  # of each load; the cheapest counts, as other work on the machine only makes it dearer
REST = 0.01  # seconds for which the bare handler gathers events, where it does


class Layers:
    """Which layer of podless is at work, looked at in even steps of this process's CPU time.

    What a layer calls outside of podless is its own; bytes, TLS and the event loop count as the wire.
    """

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGPROF, self._look)
        signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
        return self

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, self._before)

    def _look(self, _: int, frame: FrameType | None) -> None:
        while frame is not None:
            layer = _layer(frame.f_code.co_filename)
            if layer:
                self.seen[layer] += 1
                return
            frame = frame.f_back
        self.seen["wire"] += 1

    def split(self, whole: float) -> dict[str, float]:
        """A cost by layers, the largest first."""
        total = sum(self.seen.values()) or 1
        return {layer: whole * count / total for layer, count in self.seen.most_common()}


_known: dict[str, str] = {}


def _layer(file: str) -> str:
    """The layer that a source file is of, "" for one that is not podless's."""
    layer = _known.get(file)
    if layer is None:
        path = Path(file)
        inside = path.is_relative_to(_ROOT)
        layer = path.relative_to(_ROOT).parts[0].removesuffix(".py") if inside else ""
        if layer == "http" and path.name in _WIRE:
            layer = "wire"
        _known[file] = layer
    return layer


class Bare:
    """A handler that knows its answer: an object's bytes for every request, and for a watch a line at every PATCH.

    gathers: lines wait a moment for others, and are sent with them.
    """

    def __init__(self, body: bytes, gathers: bool = False) -> None:
        self._answer = Response(200, [body])
        self._line = b'{"type":"MODIFIED","object":%b}\n' % body
        self._sinks: list[Sink] = []
        self._gathers = gathers
        self._waiting = 0

    def handle(self, request: HTTPRequest) -> Answer:
        """The answer."""
        if "watch=1" in request.query_text:
            return Stream(self._watch)
        if request.method == "PATCH":
            self._waiting += 1
            if not self._gathers:
                self._flush()
            elif self._waiting == 1:
                asyncio.get_running_loop().call_later(REST, self._flush)
        return self._answer

    def _flush(self) -> None:
        lines, self._waiting = self._line * self._waiting, 0
        for sink in self._sinks:
            sink.send(lines)

    def _watch(self, sink: Sink) -> Callable[[], None]:
        self._sinks.append(sink)
        return lambda: self._sinks.remove(sink)

    @asynccontextmanager
    async def served(self, context: ssl.SSLContext | None) -> AsyncIterator[Target]:
        """Over the HTTP stack of podless."""
        limits = Limits()
        shared = ListenerState(self.handle, status.refuse_bytes, limits, ClientMemory(limits.held))
        listener = Listener(shared, context)
        port = await listener.open("127.0.0.1", 0)
        yield Target("127.0.0.1", port, tls=context is not None)
        await listener.close()


@asynccontextmanager
async def whole(data: Path | None) -> AsyncIterator[Target]:
    """All of podless, over TLS; in memory without a folder."""
    app = App(Settings(data=data))
    await app.start()
    yield Target("127.0.0.1", int(app.url.rsplit(":", 1)[1]), app.token)
    await app.stop()


class Measure:
    """Loads from outside, and what they cost this process."""

    def __init__(self, driver: Driver, size: Size) -> None:
        self.driver, self.size = driver, size

    async def load(self, target: Target, ask: Ask, connections: int = 16, most: int = 1 << 40) -> Load:
        """client.hammer, while the loop goes on."""
        return await asyncio.to_thread(
            self.driver.hammer, target, ask, connections, seconds=self.size.seconds, most=most
        )

    async def each(
        self, target: Target, ask: Callable[[int], Ask], layers: Layers | None = None, connections: int = 16
    ) -> float:
        """Microseconds of CPU for one request. ask: what to ask in a round. layers: looks at more of the same."""
        best = float("inf")
        for turn in range(ROUNDS):
            started = time.process_time()
            load = await self.load(target, ask(turn), connections)
            best = min(best, (time.process_time() - started) / load.requests * 1e6)
        for turn in range(ROUNDS, 2 * ROUNDS if layers else ROUNDS):
            with layers or nullcontext():
                await self.load(target, ask(turn), connections)
        return best

    async def event(self, target: Target, selector: str = "", layers: Layers | None = None) -> tuple[float, float]:
        """Microseconds of CPU for one event at one watcher, the write left out: in a row, and of a single write."""
        size, write = self.size, patching("target")
        alone = await self.each(target, lambda _: write, connections=1)  # of one object: none has to try again

        def fan() -> Fan:
            now = self.driver.version(target, shapes.OBJECTS)
            watch = Ask("GET", f"{shapes.OBJECTS}?watch=1&resourceVersion={now}{selector}")
            return self.driver.fanout(target, watch, write, size.watchers, size.updates, os.getpid(), size.single)

        seen = [await asyncio.to_thread(fan) for _ in range(2)]
        if layers:
            with layers:
                await asyncio.to_thread(fan)
        row, single = min(each.cpu for each in seen) * 1e6, min(each.cpu_single for each in seen) * 1e6
        return max(0.0, row - alone / size.watchers), max(0.0, single - alone / size.watchers)


GET = Ask("GET", f"{shapes.OBJECTS}/target")


def get(_: int) -> Ask:
    """The same in every round."""
    return GET


async def bare(measure: Measure, folder: Path, stored: bytes) -> dict[str, float]:
    """The floor: the same bytes without podless behind them."""
    certificates = Certificates(folder)
    certificates.create_missing([])
    found = {}
    async with Bare(stored).served(None) as target:
        found["GET plain"] = await measure.each(target, get)
    async with Bare(stored).served(certificates.make_context()) as target:
        found["GET"] = await measure.each(target, get)
        found["create"] = await measure.each(target, lambda _: creating("floor"))
        found["watch event, single"] = (await measure.event(target))[1]
    async with Bare(stored, gathers=True).served(certificates.make_context()) as target:
        found["watch event"] = (await measure.event(target))[0]
    return found


async def prepare(measure: Measure, target: Target) -> None:
    """The definition, and the object that is read and changed."""
    once = {"connections": 1, "most": 1}
    await measure.load(target, Ask("POST", shapes.CRDS, shapes.text(shapes.definition())), **once)
    await measure.load(target, Ask("POST", shapes.OBJECTS, shapes.text(shapes.engine("target"))), **once)


async def podless_(measure: Measure, folder: Path) -> tuple[dict[str, float], dict[str, Layers]]:
    """The whole way, and which layers it goes through."""
    found, layers = {}, {name: Layers() for name in ("GET", "create", "watch event")}
    async with whole(None) as target:
        await prepare(measure, target)
        found["create in memory"] = await measure.each(target, lambda turn: creating(f"memory-{turn}"))
    async with whole(folder) as target:
        await prepare(measure, target)
        found["GET"] = await measure.each(target, get, layers["GET"])
        found["create"] = await measure.each(target, lambda turn: creating(f"disk-{turn}"), layers["create"])
        one = await measure.load(target, creating("one"), 1)
        found["create, one connection"] = one.at(0.5) * 1000
        found["watch event, selected"] = (await measure.event(target, "&fieldSelector=metadata.name%%3Dtarget"))[0]
        found["watch event"], found["watch event, single"] = await measure.event(target, "", layers["watch event"])
    return found, layers


async def commits(folder: Path, value: bytes, many: int) -> dict[str, tuple[float, float]]:
    """Microseconds of CPU and of waiting for a commit: alone, and each of sixteen that wait together."""
    store = SQLiteStore(folder / "commits.db")
    await store.open()
    found = {}
    for together in (1, 16):
        cpu, wall = time.process_time(), time.perf_counter()
        for turn in range(many // together):
            keys = (f"/floor/{together}/{turn}/{place}" for place in range(together))
            await asyncio.gather(*(store.commit([Operation(key, StoredValue(value), 0)]) for key in keys))
        made = many // together * together
        spent = ((time.process_time() - cpu) / made * 1e6, (time.perf_counter() - wall) / made * 1e6)
        found["a commit alone" if together == 1 else "a commit of sixteen together"] = spent
    await store.close()
    return found


def disk(folder: Path, size: int, many: int) -> float:
    """Microseconds until so many bytes that were appended to a file are on disk."""
    with (folder / "disk").open("wb", buffering=0) as file:
        began = time.perf_counter()
        for _ in range(many):
            file.write(bytes(size))
            os.fdatasync(file.fileno())
        return (time.perf_counter() - began) / many * 1e6


def stored() -> bytes:
    """About the bytes that an object is stored and answered as."""
    obj: dict[str, Any] = shapes.engine("target")
    managed = [{"manager": "bench", "operation": "Update", "fieldsV1": {"f:spec": {"f:marks": "m" * 1150}}}]
    obj["metadata"] |= {"managedFields": managed, "uid": "u" * 36, "resourceVersion": "1234"}
    return orjson.dumps(obj)


async def work(driver: Driver, folder: Path, size: Size) -> list[Figure]:
    measure, sheet = Measure(driver, size), Sheet()
    body = stored()
    floor = await bare(measure, folder, body)
    found, layers = await podless_(measure, folder / "data")
    sheet.put("GET: bare handler over plain HTTP", floor["GET plain"], "us")
    for name in ("GET", "create", "watch event"):
        sheet.put(f"{name}: bare handler", floor[name], "us")
        sheet.put(f"{name}: podless", found[name], "us")
        for layer, cost in layers[name].split(found[name]).items():
            if cost >= 0.02 * found[name] and (name != "watch event" or layer in _SENDING):
                sheet.put(f"{name}: podless, of that {layer}", cost, "us")
    sheet.put("watch event of a single write: bare handler", floor["watch event, single"], "us")
    sheet.put("watch event of a single write: podless", found["watch event, single"], "us")
    sheet.put("watch event with a field selector: podless", found["watch event, selected"], "us")
    sheet.put("create: podless, in memory", found["create in memory"], "us")
    sheet.put("create: podless, median wait over one connection", found["create, one connection"], "us")
    for name, (cpu, wall) in (await commits(folder, body, size.commits)).items():
        sheet.put(f"{name}: CPU", cpu, "us")
        sheet.put(f"{name}: until it is durable", wall, "us")
    sheet.put(f"disk: {short(len(body))} bytes appended and synced", disk(folder, len(body), size.commits // 4), "us")
    return sheet


def main(smoke: bool = False) -> list[Figure]:
    size = SMOKE if smoke else Size()
    with (
        tempfile.TemporaryDirectory(prefix="podless-bench-") as folder,
        Driver() as driver,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        return runner.run(work(driver, Path(folder), size))
