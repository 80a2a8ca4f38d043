"""/metrics: figures of what is held."""

from __future__ import annotations

import re

from tests.conftest import Client


def test_the_figures_are_those_of_the_server(client: Client) -> None:
    client.get("/api/v1/namespaces")
    answer = client.get("/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    text = answer.body.decode()
    found = dict(re.findall(r"^([a-z_]+(?:\{[^}]*\})?) ([0-9.e+-]+)$", text, re.MULTILINE))
    held = int(found['apiserver_resource_objects{group="",resource="namespaces"}'])
    assert held == len(client.get("/api/v1/namespaces").body["items"])
    assert int(found["process_resident_memory_bytes"]) > 1 << 20
    declared = re.findall(r"^# TYPE (\w+) (?:gauge|counter)$", text, re.MULTILINE)
    assert {name.partition("{")[0] for name in found} <= set(declared)
