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
    for name in re.findall(r"^# TYPE (\w+) histogram$", text, re.MULTILINE):
        declared += [f"{name}_{part}" for part in ("bucket", "sum", "count")]
    assert {name.partition("{")[0] for name in found} <= set(declared)


def test_requests_are_measured_by_what_they_ask_for(client: Client) -> None:
    client.get("/api/v1/namespaces/default")
    client.post("/api/v1/namespaces", {"metadata": {"name": "measured"}})
    for number in range(3):
        client.get(f"/apis/nowhere{number}.example.com/v1/things")
    text = client.get("/metrics").body.decode()
    name = "apiserver_request_duration_seconds"
    for verb in ("GET", "POST"):
        labels = f'verb="{verb}",group="",version="v1",resource="namespaces",subresource=""'
        assert re.search(rf"^{name}_count\{{{labels}\}} [1-9]\d*$", text, re.MULTILINE)
        assert f'{name}_bucket{{{labels},le="+Inf"}}' in text
    assert "nowhere" not in text
    assert re.search(r'^apiserver_current_inflight_requests\{request_kind="mutating"\} 0$', text, re.MULTILINE)
    assert re.search(r'^apiserver_storage_objects\{resource="namespaces"\} [1-9]', text, re.MULTILINE)
    assert re.search(r'^etcd_request_duration_seconds_count\{operation="txn"\} [1-9]', text, re.MULTILINE)
    assert re.search(r'^apiserver_watch_events_total\{group="",resource="namespaces"\} \d', text, re.MULTILINE)


def test_requests_are_counted_by_what_came_of_them(client: Client) -> None:
    def counted() -> dict[str, str]:
        lines = client.get("/metrics").body.decode().splitlines()
        found = (line.rpartition(" ") for line in lines if line.startswith("apiserver_request_total{"))
        return {labels: count for labels, _, count in found}

    asked = 'verb="POST",group="",version="v1",resource="configmaps",subresource=""'
    good, known = (f'apiserver_request_total{{code="{code}",{asked}}}' for code in (201, 409))
    before = counted()
    one = {"metadata": {"name": "counted-by-code"}}
    assert [client.post("/api/v1/namespaces/default/configmaps", one).status for _ in range(3)] == [201, 409, 409]
    after = counted()
    assert [int(after[name]) - int(before.get(name, 0)) for name in (good, known)] == [1, 2]
