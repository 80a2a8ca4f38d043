"""What installing real CRDs costs: time through a server, and the memory that each takes while it is not used."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path

import orjson

from bench.load.server import Served
from bench.record.figure import Figure, Sheet
from bench.schema import CRDS, REAL


def definitions() -> list[bytes]:
    """The bodies of the recorded real CRDs, the smallest first."""
    found = []
    for file in sorted(REAL.glob("*.json")):
        steps = json.loads(file.read_text())["steps"]
        found += [orjson.dumps(step["body"]) for step in steps if step.get("path") == CRDS and "body" in step][:1]
    return sorted(found, key=len)


def main(smoke: bool = False) -> list[Figure]:
    bodies = definitions()
    if not bodies:
        print("the recorded CRDs are not beside this checkout")
        return []
    if smoke:
        bodies = bodies[:8]
    with tempfile.TemporaryDirectory() as name:
        folder, spent = Path(name), []
        with Served(folder, tls=False) as server:
            empty, began = server.rss(), time.perf_counter()
            for body in bodies:
                start = time.perf_counter()
                server.send("POST", CRDS, body)
                spent.append(time.perf_counter() - start)
            total, full = time.perf_counter() - began, server.rss()
        with Served(folder, tls=False) as server:
            server.send("GET", CRDS + "?limit=1")
            again = server.rss() - empty
    print(f"{len(bodies)} real CRDs, {sum(map(len, bodies)) / 2**20:.1f} MB of JSON")
    sheet = Sheet()
    sheet.put("all installed and established in", total, "s")
    sheet.put("the slowest took", max(spent), "s")
    sheet.put("resident memory grew by, each", (full - empty) / len(bodies), "MB")
    sheet.put("more than an empty server after a restart, each", again / len(bodies), "MB")
    return sheet
