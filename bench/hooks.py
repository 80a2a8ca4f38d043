"""What a hook adds to a create: hooks that accept or change nothing, in a worker process.

Creates of a config map against a server in memory, without HTTP, in turns of servers with and without the hook. Elapsed
time includes the way to the worker and back; processor time is of the server's process alone. The figures are medians
over many short rounds, of the difference to the server without hooks in the same round. Bytecode instructions are those
that the server's thread executes for a create; they do not depend on the load of the machine.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import uvloop

from bench.record.figure import Figure, Sheet
from podless.app import App, Settings
from podless.testing.ask import ask_app

HOOKS = """
from podless import hooks

@hooks.{kind}("configmaps")
{define} trivial(obj):
    pass
"""
TRIVIAL = {
    "a validate hook": ("validate", "def"),
    "an async validate hook": ("validate", "async def"),
    "a mutate hook": ("mutate", "def"),
}
NONE = "a create"
MAPS = "/api/v1/namespaces/default/configmaps"
TOGETHER = 16


class _Bench:
    """One server. numbers: of the objects that it has."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._number = 0

    async def create(self) -> None:
        self._number += 1
        metadata = {"name": f"c{self._number}", "labels": {"app": "bench"}}
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"key": "value"}}
        await ask_app(self._app, "POST", MAPS, body)

    async def one_by_one(self, count: int) -> None:
        for _ in range(count):
            await self.create()

    async def together(self, count: int) -> None:
        await asyncio.gather(*(self.one_by_one(count // TOGETHER) for _ in range(TOGETHER)))

    async def measure(self, count: int, *, together: bool) -> tuple[float, float]:
        """Microseconds on the clock and of the process for a create."""
        work = self.together if together else self.one_by_one
        began, cpu = time.perf_counter(), time.process_time()
        await work(count)
        return (time.perf_counter() - began) / count * 1e6, (time.process_time() - cpu) / count * 1e6

    async def count_instructions(self, count: int = 10) -> float:
        """Bytecode instructions of this thread for a create. To be run as a task of its own, whose frames are new."""
        number = 0

        def trace(frame: FrameType, event: str, arg: Any) -> Any:
            nonlocal number
            frame.f_trace_lines, frame.f_trace_opcodes = False, True
            number += event == "opcode"
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            await self.one_by_one(count)
        finally:
            sys.settrace(before)
        return number / count


async def _compare(sheet: Sheet, benches: dict[str, _Bench], count: int, rounds: int, *, together: bool) -> None:
    """Put down what hooks add, elapsed and to the server's processor time."""
    told = f"{TOGETHER} at once" if together else "one by one"
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in benches}
    for _ in range(rounds):
        for name, bench in benches.items():
            found[name].append(await bench.measure(count, together=together))
    plain = found.pop(NONE)
    for place, (what, unit) in enumerate((("", "us"), (" to the server", "us CPU"))):
        sheet.put(f"{NONE}, {told}{what and ', of the server'}", statistics.median(row[place] for row in plain), unit)
        for name, rows in found.items():
            added = statistics.median(row[place] - none[place] for row, none in zip(rows, plain, strict=True))
            sheet.put(f"{name} adds, {told}{what and ','}{what}", added, unit)


async def _measure(files: dict[str, Path | None], count: int, rounds: int) -> Sheet:
    sheet = Sheet()
    apps = {name: App(Settings(hooks=(file,) if file is not None else (), tls=False)) for name, file in files.items()}
    try:
        benches = {}
        for name, app in apps.items():
            await app.start()
            benches[name] = _Bench(app)
            await benches[name].one_by_one(count)
        for together in (False, True):
            await _compare(sheet, benches, count, rounds, together=together)
        counts = {name: await asyncio.create_task(bench.count_instructions()) for name, bench in benches.items()}
        sheet.put(NONE, counts[NONE], "bytecode instructions")
        for name in TRIVIAL:
            sheet.put(f"{name} adds", counts[name] - counts[NONE], "bytecode instructions")
    finally:
        for app in apps.values():
            await app.stop()
    return sheet


def main(*, smoke: bool = False) -> Sequence[Figure]:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        files: dict[str, Path | None] = {NONE: None}
        for name, (kind, define) in TRIVIAL.items():
            files[name] = path = Path(folder) / f"{name.replace(' ', '_')}.py"
            path.write_text(HOOKS.format(kind=kind, define=define))
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(_measure(files, 32 if smoke else 64, 1 if smoke else 100))
