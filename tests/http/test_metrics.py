"""/metrics: what there is, under the names and with the labels of a real server."""

from __future__ import annotations

import re
import resource
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from podless.http import metrics
from podless.http.metrics import FAMILIES
from tests.conftest import Client

# what a kube-apiserver 1.36 has of each family, in any order: facts, from its "Kubernetes Metrics Reference"
REAL = {
    "apiserver_audit_error_total": ("counter", "plugin"),
    "apiserver_audit_event_total": ("counter", ""),
    "apiserver_current_inflight_requests": ("gauge", "request_kind"),
    "apiserver_flowcontrol_current_inqueue_requests": ("gauge", "flow_schema priority_level"),
    "apiserver_flowcontrol_dispatched_requests_total": ("counter", "flow_schema priority_level"),
    "apiserver_flowcontrol_lower_limit_seats": ("gauge", "priority_level"),
    "apiserver_flowcontrol_nominal_limit_seats": ("gauge", "priority_level"),
    "apiserver_flowcontrol_rejected_requests_total": ("counter", "flow_schema priority_level reason"),
    "apiserver_flowcontrol_request_wait_duration_seconds": ("histogram", "execute flow_schema priority_level"),
    "apiserver_flowcontrol_upper_limit_seats": ("gauge", "priority_level"),
    "apiserver_longrunning_requests": ("gauge", "component group resource scope subresource verb version"),
    "apiserver_request_duration_seconds": (
        "histogram",
        "component dry_run group resource scope subresource verb version",
    ),
    "apiserver_request_total": ("counter", "code component dry_run group resource scope subresource verb version"),
    "apiserver_resource_objects": ("gauge", "group resource"),
    "apiserver_storage_size_bytes": ("gauge", "storage_cluster_id"),
    "apiserver_watch_events_total": ("counter", "group resource version"),
    "etcd_request_duration_seconds": ("histogram", "group operation resource"),
    "process_cpu_seconds_total": ("counter", ""),
    "process_max_fds": ("gauge", ""),
    "process_open_fds": ("gauge", ""),
    "process_resident_memory_bytes": ("gauge", ""),
    "process_start_time_seconds": ("gauge", ""),
    "process_virtual_memory_bytes": ("gauge", ""),
}
# and what Prometheus' client for Python tells
PYTHON = {
    "python_gc_collections_total": ("counter", "generation"),
    "python_gc_objects_collected_total": ("counter", "generation"),
    "python_gc_objects_uncollectable_total": ("counter", "generation"),
    "python_info": ("gauge", "implementation major minor patchlevel version"),
}
_LINE = re.compile(r"^([a-z_]+)(?:\{(.*)\})? (\S+)$")
_LABEL = re.compile(r'([a-z_]+)="((?:[^"\\\n]|\\.)*)"(?:,|$)')


class Sample(NamedTuple):
    """One line."""

    name: str
    labels: dict[str, str]
    value: float


def parse(text: str) -> Iterator[Sample]:
    """The samples; that each stands below the help and the type of its family is asserted."""
    family = kind = helped = ""
    seen = set()
    for line in text.splitlines():
        if line.startswith("# HELP "):
            helped = line.split()[2]
            assert len(line.split()) > 3, line
        elif line.startswith("# TYPE "):
            _, _, family, kind = line.split()
            assert family == helped
            assert family not in seen, f"{family} twice"
            seen.add(family)
        else:
            found = _LINE.match(line)
            assert found is not None, line
            name, labels, value = found.groups()
            assert not _LABEL.sub("", labels or ""), line
            assert name.removeprefix(family) in (("_bucket", "_sum", "_count") if kind == "histogram" else ("",)), line
            yield Sample(name, dict(_LABEL.findall(labels or "")), float(value))


def told(client: Client) -> list[Sample]:
    answer = client.get("/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    return [*parse(answer.body.decode())]


def value(client: Client, name: str, **labels: str) -> float:
    return sum(one.value for one in told(client) if one.name == name and labels.items() <= one.labels.items())


def test_families_are_those_of_a_real_server() -> None:
    ours = {name: (family.type, " ".join(sorted(family.labels))) for name, family in FAMILIES.items()}
    own = {name for name in ours if name.startswith("podless_")}
    assert {name: ours[name] for name in ours if name not in own} == REAL | PYTHON


def test_samples_have_the_labels_of_their_family(client: Client) -> None:
    client.get("/api/v1/namespaces/default")
    samples = told(client)
    for name, labels, _ in samples:
        family = FAMILIES.get(name) or FAMILIES[name.rpartition("_")[0]]
        wanted = {*family.labels, "le"} if name.endswith("_bucket") else {*family.labels}
        assert labels.keys() == wanted, name
    assert "apiserver_request_total" in {sample.name for sample in samples}


def test_the_figures_are_those_of_the_server(client: Client) -> None:
    client.get("/api/v1/namespaces")
    held = value(client, "apiserver_resource_objects", group="", resource="namespaces")
    assert held == len(client.get("/api/v1/namespaces").body["items"])
    assert value(client, "process_resident_memory_bytes") > 1 << 20
    assert value(client, "apiserver_storage_size_bytes") > 0


LABELS = ["verb", "dry_run", "group", "version", "resource", "subresource", "scope", "component"]
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
MAP: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "measured"}}


@pytest.mark.parametrize(
    ("method", "path", "body", "labels"),
    [
        ("GET", "/api/v1/namespaces/default", None, "GET||||namespaces||resource"),
        ("GET", CONFIG_MAPS, None, "LIST||||configmaps||namespace"),
        ("GET", "/api/v1/configmaps", None, "LIST||||configmaps||cluster"),
        ("POST", CONFIG_MAPS, MAP, "POST||||configmaps||resource"),
        ("POST", f"{CONFIG_MAPS}?dryRun=All", MAP, "POST|All|||configmaps||resource"),
        ("POST", f"{CONFIG_MAPS}?dryRun=x", MAP, "POST|invalid|||configmaps||resource"),
        ("PUT", f"{CONFIG_MAPS}/measured", MAP, "PUT||||configmaps||resource"),
        ("DELETE", f"{CONFIG_MAPS}?labelSelector=a=b", None, "DELETE||||configmaps||namespace"),
        ("GET", "/api/v1/namespaces/default/status", None, "GET||||namespaces|status|resource"),
        ("GET", "/apis/apps/v1/deployments", None, "LIST||apps||deployments||cluster"),
    ],
)
def test_requests_are_counted_as_a_real_server_counts_them(
    client: Client, method: str, path: str, body: Any, labels: str
) -> None:
    verb, dry, group, _, name, subresource, scope = labels.split("|")
    wanted = dict(zip(LABELS, (verb, dry, group, "v1", name, subresource, scope, "apiserver"), strict=True))
    if method == "PUT":
        client.post(CONFIG_MAPS, MAP)  # what is not found is counted with other such requests
    before = value(client, "apiserver_request_total", **wanted)
    code = client.send(method, path, body).status
    assert value(client, "apiserver_request_total", **wanted) == before + 1
    assert value(client, "apiserver_request_total", **wanted, code=str(code)) >= 1
    assert value(client, "apiserver_request_duration_seconds_count", **wanted) >= before + 1


@pytest.mark.parametrize(("media", "verb"), [("merge-patch+json", "PATCH"), ("apply-patch+yaml", "APPLY")])
def test_what_is_applied_is_told_from_a_patch(client: Client, media: str, verb: str) -> None:
    path = f"{CONFIG_MAPS}/{verb.lower()}ed?fieldManager=test"
    before = value(client, "apiserver_request_total", verb=verb, resource="configmaps")
    body = {**MAP, "metadata": {"name": f"{verb.lower()}ed"}}
    if verb == "PATCH":
        client.post(CONFIG_MAPS, body)
    assert client.send("PATCH", path, body, Content_Type=f"application/{media}").status in (200, 201)
    assert value(client, "apiserver_request_total", verb=verb, resource="configmaps") == before + 1


def test_what_clients_make_up_is_not_told_apart(client: Client) -> None:
    for number in range(3):
        client.get(f"/apis/nowhere{number}.example.com/v1/things")
    assert "nowhere" not in str(told(client))


def test_requests_are_counted_by_what_came_of_them(client: Client) -> None:
    def counted(code: int) -> float:
        return value(client, "apiserver_request_total", verb="POST", resource="configmaps", code=str(code))

    before = counted(201), counted(409)
    one = {"metadata": {"name": "counted-by-code"}}
    assert [client.post(CONFIG_MAPS, one).status for _ in range(3)] == [201, 409, 409]
    assert (counted(201) - before[0], counted(409) - before[1]) == (1, 2)


def test_watches_are_counted_while_they_are_open(client: Client) -> None:
    def watching() -> float:
        return value(client, "apiserver_longrunning_requests", verb="WATCH", resource="secrets", scope="cluster")

    connection = client._connect()
    connection.request("GET", "/api/v1/secrets?watch=1", headers={"Authorization": f"Bearer {client._token}"})
    answer = connection.getresponse()
    assert watching() == 1
    told_before = value(client, "apiserver_watch_events_total", resource="secrets", version="v1")
    client.post("/api/v1/namespaces/default/secrets", {"metadata": {"name": "watched"}})
    assert answer.readline()
    assert value(client, "apiserver_watch_events_total", resource="secrets", version="v1") > told_before
    answer.close()
    connection.close()
    client.post("/api/v1/namespaces/default/secrets", {"metadata": {"name": "unwatched"}})
    while watching():  # until the server sees that the client is gone
        pass


@pytest.mark.parametrize(("system", "unit"), [("linux", 1024), ("darwin", 1)])
def test_memory_is_in_bytes_where_the_system_tells_only_the_most(
    monkeypatch: pytest.MonkeyPatch, system: str, unit: int
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(metrics, "_read_pages", lambda place: None)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ((_, resident),) = metrics._list_process(0.0)["process_resident_memory_bytes"]
    assert isinstance(resident, int)
    assert most * unit <= resident <= 2 * most * unit
