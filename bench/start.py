"""How long `podless serve` takes from its start to its first answer, and how much memory it holds when idle."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from bench.load.server import Served
from bench.record.figure import Figure, Sheet


def start(folder: Path) -> tuple[Served, float]:
    """A server that was started, asked and stopped, and its resident memory in MB when it was idle."""
    with Served(folder) as server:
        assert len(json.loads(server.send("GET", "/api/v1/namespaces"))["items"]) >= 4
        memory = server.rss()
    return server, memory


def main(smoke: bool = False) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        first, memory = start(Path(folder))
        runs = [start(Path(folder)) for _ in range(1 if smoke else 5)]
    sheet = Sheet()
    sheet.put("first start to the first answer, certificates made", first.ready * 1000, "ms")
    sheet.put("later start to the first answer, best", min(server.ready for server, _ in runs) * 1000, "ms")
    sheet.put("memory when idle, first start", memory, "MB")
    sheet.put("memory when idle, later start", runs[0][1], "MB")
    sheet.put(
        "SIGTERM to the end, worst", max(server.ended for server in (first, *(run[0] for run in runs))) * 1000, "ms"
    )
    return sheet
