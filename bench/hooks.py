"""What a hook adds to a create: one that says yes and one that changes nothing, in a worker process.

Creates of a config map against a server in memory, without HTTP, in turns of servers with and without the hook. Time on
the clock includes the way to the worker and back; processor time is of the server's process alone. The best of many
short rounds counts, for others use the machine too.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import uvloop

from bench.record.figure import Figure, Sheet
from podless.app import App, Settings
from podless.testing.ask import ask_app

HOOKS = """
from podless import hooks

@hooks.{kind}("configmaps")
def trivial(obj):
    pass
"""
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
            told = f"{TOGETHER} at once" if together else "one by one"
            found: dict[str, list[tuple[float, float]]] = {name: [] for name in benches}
            for _ in range(rounds):
                for name, bench in benches.items():
                    found[name].append(await bench.measure(count, together=together))
            best = {name: [min(one) for one in zip(*rows, strict=True)] for name, rows in found.items()}
            wall, cpu = best.pop("a create")
            sheet.put(f"a create, {told}", wall, "us")
            sheet.put(f"a create, {told}, of the server", cpu, "us CPU")
            for name, (its_wall, its_cpu) in best.items():
                sheet.put(f"{name} adds, {told}", its_wall - wall, "us")
                sheet.put(f"{name} adds, {told}, to the server", its_cpu - cpu, "us CPU")
    finally:
        for app in apps.values():
            await app.stop()
    return sheet


def main(*, smoke: bool = False) -> Sequence[Figure]:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        files: dict[str, Path | None] = {"a create": None}
        for kind in ("validate", "mutate"):
            path = Path(folder) / f"{kind}.py"
            path.write_text(HOOKS.format(kind=kind))
            files[f"a {kind} hook"] = path
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(_measure(files, 32 if smoke else 64, 1 if smoke else 100))
