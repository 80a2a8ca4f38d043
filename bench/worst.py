"""The worst that one request of up to 3 MB can do: how long it holds the event loop, for every parser and every write.

Each request is sent to a server in this process, beside a heartbeat on the same loop; what counts is the longest rest
between two beats while the request was at work. What held the loop for long is sent again, with all forgotten that the
process knows from before, and the best of all tries counts. Three clocks tell of a rest: the wall's, which counts what
else the machine does, the processor time of the process, which does not and is what the list goes by, and that of the
loop's own thread: what another thread keeps the interpreter for is the difference. The worst ten are printed, and all
the processor time of each request.

    python -m bench.worst [--every] [--where] [WORDS]

--every: each shape of object in each kind, form and verb too, some minutes. --where: the lines at which the loop was
held. WORDS: only requests whose names have them.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import multiprocessing
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from types import FrameType
from typing import Any, NamedTuple

import re2

from bench.asks import bodies, definitions, kinds, places, reads, writes
from bench.asks.ask import CRDS, MAPS, THINGS, Ask, ask, config, crd, named, raw, text
from bench.asks.schemas import SCHEMA
from bench.flood import Wire
from bench.record.figure import Figure
from podless.apis.apiextensions.definition import schemas
from podless.app import App, Settings
from podless.cel.rules import verdict
from podless.http.limits import Limits
from podless.runtime.bounded import CACHES
from podless.runtime.collector import Collector

MAX_TIME = 30.0  # seconds that an answer is waited for
AGAIN = 0.06  # seconds; who held the loop for longer is sent again
TRIES = 3


def wanted(only: str, every: bool) -> Iterator[tuple[str, Ask]]:
    """The requests, each made when it is its turn."""
    for part in (bodies.bodies, writes.writes, definitions.definitions, reads.reads, places.places):
        yield from (each for each in part() if only in each[0])
    if every:
        yield from kinds.kinds(only)


class Hold(NamedTuple):
    """The longest rest between two beats, in seconds. process: processor time, loop: of the loop's thread alone."""

    process: float = 0.0
    loop: float = 0.0
    wall: float = 0.0


class Found(NamedTuple):
    """What a request did. spent: processor time in all. where: the lines at which it was seen, and how often."""

    hold: Hold
    spent: float
    name: str
    code: int
    where: str = ""

    def __str__(self) -> str:
        hold = "".join(f"{seconds * 1e3:9.1f}" for seconds in (*self.hold, self.spent))
        return f"{hold}  {self.code}  {self.name}{self.where}"


HEADS = "  process     loop     wall   in all  ms"


def clocks() -> Hold:
    return Hold(time.process_time(), time.thread_time(), time.perf_counter())


class Watcher(threading.Thread):
    """Looks at what all threads do, a few hundred times a second, and remembers the last moments."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._seen: list[tuple[float, str]] = []

    def run(self) -> None:
        mine = threading.get_ident()
        while True:
            time.sleep(0.003)
            now = time.perf_counter()
            frames = sys._current_frames()
            lines = [_lines(frame) for ident, frame in frames.items() if ident != mine]
            del frames
            self._seen = [*self._seen[-2000:], *((now, line) for line in lines if line)]

    def between(self, since: float) -> str:
        found = Counter(line for when, line in self._seen if when >= since)
        return "".join(f"\n      {number:4} {line}" for line, number in found.most_common(6))


def _lines(frame: FrameType | None) -> str:
    """The innermost lines of a stack that are the project's."""
    told: list[str] = []
    inner = ""
    while frame is not None and len(told) < 4:
        name = frame.f_code.co_filename
        if "/podless/" in name:
            told.append(f"{name.rpartition('/podless/')[2]}:{frame.f_lineno}")
        elif not told and not inner:
            inner = f"{name.rpartition('/')[2]}:{frame.f_code.co_name} "
        frame = frame.f_back
    return inner + " < ".join(told) if told else ""


class Heart:
    """Beats as often as the loop lets it."""

    def __init__(self, watcher: Watcher | None) -> None:
        self._loop = asyncio.get_running_loop()
        self._watcher = watcher
        self._stopped = False
        self.longest = Hold()
        self.where = ""
        self._last = self._first = clocks()
        self._beat()

    def _beat(self) -> None:
        now = clocks()
        rest = Hold(*(later - before for later, before in zip(now, self._last, strict=True)))
        if self._watcher is not None and rest.process > max(self.longest.process, 0.04):
            self.where = self._watcher.between(self._last.wall)
        self.longest = Hold(*map(max, self.longest, rest))
        self._last = now
        if not self._stopped:
            self._loop.call_later(0.0005, self._beat)

    def begin(self) -> None:
        self.longest, self.where = Hold(), ""
        self._last = self._first = clocks()

    def spent(self) -> float:
        return time.process_time() - self._first.process

    def stop(self) -> None:
        self._stopped = True


async def fill(wire: Wire, token: str, objects: int, more: int) -> None:
    async def must(asked: Ask) -> None:
        code = await wire.ask(raw(token, asked))
        assert code < 300, (asked[:2], code)

    await must(ask("POST", CRDS, text(crd("things", SCHEMA))))
    wide = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(60)}}
    for number in range(more):
        await must(ask("POST", CRDS, text(crd(f"more{number}", wide))))
    await must(ask("POST", THINGS, text(named({"any": [0]}, "one"))))
    for number in range(objects):
        await must(ask("POST", THINGS, text(named({"any": {"text": f"line {number} " * 60}}, f"t{number}"))))
        await must(ask("POST", MAPS, text(config(f"m{number}", {"a": f"line {number}\n" * 60}))))
    await must(ask("POST", MAPS, text(config("big", {"a": "some words: and more\n" * 40_000}))))
    for asked in (*kinds.setup(), *places.setup()):
        await must(asked)


async def read(port: int, data: bytes) -> int:
    """A request on a connection of its own, whatever its answer is."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    try:
        writer.write(data.replace(b"\r\n", b"\r\nConnection: close\r\n", 1))
        async with asyncio.timeout(MAX_TIME):
            head = await reader.readline()
            while await reader.read(1 << 20):
                pass
        return int(head[9:12] or 0)
    except (ConnectionError, ValueError, TimeoutError):
        return 0
    finally:
        writer.close()


def client(port: int, token: str, only: str, every: bool, wire: Any) -> None:
    """A process that sends one request at a time, as often as it is told to."""

    async def run() -> None:
        for name, asked in wanted(only, every):
            data = raw(token, asked)
            wire.send(name)
            while wire.recv():
                wire.send(await read(port, data))
        wire.send("")

    with contextlib.suppress(EOFError):
        asyncio.run(run())


class Talk:
    """The way to the client, which the loop goes on beside."""

    def __init__(self, wire: Any) -> None:
        self._wire = wire
        self._ready = asyncio.Event()
        asyncio.get_running_loop().add_reader(wire.fileno(), self._ready.set)

    async def ask(self, again: bool) -> Any:
        """Tell the client to send it again, or to go on; what it says."""
        self._ready.clear()
        self._wire.send(again)
        return await self.told()

    async def told(self) -> Any:
        await self._ready.wait()
        self._ready.clear()
        return self._wire.recv()

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._wire.fileno())
        self._wire.close()


def forget() -> None:
    """Nothing is known of a schema, a rule or a pattern from before."""
    for cache in CACHES:
        cache.clear()
    schemas._FAULTLESS.clear()
    verdict._compute_cached.cache_clear()  # type: ignore[attr-defined]
    re2.purge()


async def attempts(talk: Talk, heart: Heart, name: str, tries: int) -> Found:
    """The best of some tries."""
    seen: list[Found] = []
    while len(seen) < tries and (not seen or min(seen).hold.process > AGAIN):
        forget()
        await asyncio.sleep(0.01)
        heart.begin()
        code = await talk.ask(True)
        await asyncio.sleep(0.01)
        seen.append(Found(heart.longest, heart.spent(), name, code, heart.where))
    return min(seen)


async def measure(objects: int, more: int, only: str, every: bool, tries: int, where: bool, most: int) -> list[Found]:
    """most: how many requests are sent."""
    found: list[Found] = []
    app = App(Settings(tls=False, limits=Limits()))
    await app.start()
    watcher = Watcher() if where else None
    if watcher is not None:
        watcher.start()
    heart = Heart(watcher)
    collector = Collector()
    try:
        port = int(app.url.rpartition(":")[2])
        await fill(Wire(*await asyncio.open_connection("127.0.0.1", port)), app.token, objects, more)
        collector.start()
        context = multiprocessing.get_context("spawn")
        mine, theirs = context.Pipe()
        process = context.Process(target=client, args=(port, app.token, only, every, theirs))
        process.start()
        theirs.close()
        talk = Talk(mine)
        print(HEADS)
        name = await talk.told()
        while name and len(found) < most:
            found.append(await attempts(talk, heart, name, tries))
            print(found[-1], flush=True)
            name = await talk.ask(False)
        talk.close()
        if name:
            process.terminate()
        process.join()
    finally:
        heart.stop()
        collector.stop()
        await app.stop()
    return sorted(found, reverse=True)


def main(smoke: bool = False, only: str = "", every: bool = False, where: bool = False) -> list[Figure]:
    """Print the worst."""
    logging.getLogger("podless").setLevel(logging.ERROR)
    objects, more, tries, most = (20, 3, 1, 1) if smoke and not only else (2500, 200, TRIES, 10_000)
    found = asyncio.run(measure(objects, more, only, every, tries, where, most))
    print(f"the worst of {len(found)} requests, by the processor time that they held the loop for")
    print(HEADS)
    print(*found[: 60 if every else 10], sep="\n")
    return [
        Figure("the worst request holds the loop for", found[0].hold.process * 1e3, "ms"),
        Figure("by the wall's clock", max(each.hold.wall for each in found) * 1e3, "ms"),
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.worst", description=__doc__.splitlines()[0])
    parser.add_argument("only", nargs="?", default="", metavar="WORDS")
    for flag in ("smoke", "every", "where"):
        parser.add_argument(f"--{flag}", action="store_true")
    main(**vars(parser.parse_args()))
