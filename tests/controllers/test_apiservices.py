"""APIServices tell what is served."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest

from podless import Server
from tests.conftest import CRDS, Client, definition
from tests.eventually import until

SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"


def test_every_served_version_has_one(client: Client) -> None:
    listed = client.get(SERVICES).body["items"]
    found = {(item["spec"].get("group", ""), item["spec"]["version"]) for item in listed}
    served = client.get("/apis").body["groups"]
    known = {(group["name"], version["version"]) for group in served for version in group["versions"]}
    own = ("apiregistration.k8s.io", "v1")  # of the server that shows these
    assert found >= {one for one in known if one[0].endswith("k8s.io")} - {own} | {("", "v1")}
    assert own not in found
    # their priorities are the order of discovery
    ranks = {item["spec"].get("group", ""): item["spec"]["groupPriorityMinimum"] for item in listed}
    shown = [ranks[group["name"]] for group in served if group["name"] in ranks]
    assert shown == sorted(shown, reverse=True)


def test_they_come_and_go_with_definitions(client: Client) -> None:
    group = f"g{uuid.uuid4().hex[:8]}.example.com"
    assert client.post(CRDS, definition(group)).status == 201
    until(lambda: client.get(f"{SERVICES}/v1.{group}").status == 200)
    service = client.get(f"{SERVICES}/v1.{group}").body
    assert service["spec"] == {"group": group, "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 100}
    condition = service["status"]["conditions"][0]
    assert (condition["type"], condition["status"], condition["reason"]) == ("Available", "True", "Local")
    shown = client.get(f"{SERVICES}/v1.{group}", Accept="application/json;as=Table;v=v1;g=meta.k8s.io").body
    assert shown["rows"][0]["cells"][:3] == [f"v1.{group}", "Local", "True"]
    client.send("DELETE", f"{CRDS}/gadgets.{group}")
    until(lambda: client.get(f"{SERVICES}/v1.{group}").status == 404)


def announcement(group: str, version: str = "v1", **spec: Any) -> dict[str, Any]:
    spec = {"group": group, "version": version, "groupPriorityMinimum": 50, "versionPriority": 5} | spec
    head = {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService"}
    return head | {"metadata": {"name": f"{version}.{group}"}, "spec": spec}


@pytest.fixture
def group() -> str:
    return f"g{uuid.uuid4().hex[:8]}.example.com"


def reason(client: Client, name: str) -> str:
    conditions = client.get(f"{SERVICES}/{name}").body["status"].get("conditions") or [{"reason": ""}]
    return str(conditions[0]["reason"])


def test_what_another_server_has_is_shown_and_not_available(client: Client, group: str) -> None:
    made = client.post(SERVICES, announcement(group, service={"namespace": "default", "name": group.split(".")[0]}))
    assert (made.status, made.body["status"]) == (201, {})
    assert made.body["spec"]["service"]["port"] == 443
    assert client.get(f"/apis/{group}").body["preferredVersion"]["version"] == "v1"
    assert client.get("/apis").body["groups"][-1]["name"] == group  # nothing counts less
    for path in (f"/apis/{group}/v1", f"/apis/{group}/v1/namespaces/default/things"):
        refused = client.get(path)
        assert (refused.status, refused.body) == (503, b"service unavailable\n")
    shown = client.get("/apis", Accept="application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList").body
    last = shown["items"][-1]
    assert last == {"metadata": {"name": group}, "versions": [{"version": "v1", "freshness": "Stale"}]}
    assert client.send("DELETE", f"{SERVICES}/v1.{group}").status == 200
    assert client.get(f"/apis/{group}").status == client.get(f"/apis/{group}/v1").status == 404


def test_the_status_says_why_a_service_cannot_be_reached(client: Client, group: str) -> None:
    service, name = group.split(".")[0], f"v1.{group}"
    client.post(SERVICES, announcement(group, service={"namespace": "default", "name": service}))
    until(lambda: reason(client, name) == "ServiceNotFound")
    services = "/api/v1/namespaces/default/services"
    slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
    client.post(services, {"metadata": {"name": service}, "spec": {"ports": [{"port": 80}]}})
    until(lambda: reason(client, name) == "ServicePortError")
    client.merge(f"{services}/{service}", {"spec": {"ports": [{"port": 443}]}})
    until(lambda: reason(client, name) == "EndpointsNotFound")
    labels = {"kubernetes.io/service-name": service}
    ends = {"metadata": {"name": service, "labels": labels}, "addressType": "IPv4", "ports": [{"port": 443}]}
    client.post(slices, ends | {"endpoints": []})
    until(lambda: reason(client, name) == "MissingEndpoints")
    client.merge(f"{slices}/{service}", {"endpoints": [{"addresses": ["10.1.2.3"]}]})
    until(lambda: reason(client, name) == "FailedDiscoveryCheck")
    client.send("DELETE", f"{SERVICES}/{name}")


def test_all_of_them_find_their_service_after_a_restart(tmp_path: Path) -> None:
    groups = [f"{letter}.example.com" for letter in "abc"]
    with Server(data=tmp_path) as server:
        client = Client(server.url, server.token)
        service = {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 443}]}}
        client.post("/api/v1/namespaces/default/services", service)
        labels = {"kubernetes.io/service-name": "s"}
        ends = {"metadata": {"name": "s", "labels": labels}, "addressType": "IPv4", "ports": [{"port": 443}]}
        slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
        client.post(slices, ends | {"endpoints": [{"addresses": ["10.1.2.3"]}]})
        for group in groups:
            client.post(SERVICES, announcement(group, service={"namespace": "default", "name": "s"}))
        until(lambda: {reason(client, f"v1.{group}") for group in groups} == {"FailedDiscoveryCheck"})
        before = [client.get(f"{SERVICES}/v1.{group}").body for group in groups]
        client.close()
    with Server(data=tmp_path) as server:
        client = Client(server.url, server.token)
        assert [client.get(f"{SERVICES}/v1.{group}").body for group in groups] == before  # none was lost meanwhile
        client.close()


def test_what_a_client_makes_without_a_service_is_local(client: Client, group: str) -> None:
    made = client.post(SERVICES, announcement(group))
    assert made.body["status"]["conditions"][0]["reason"] == "Local"
    assert client.get(f"/apis/{group}").status == 200
    assert client.get(f"/apis/{group}/v1").status == 404
    assert client.merge(f"{SERVICES}/v1.{group}", {"metadata": {"name": f"v1.{group}"}}).status == 200
    client.send("DELETE", f"{SERVICES}/v1.{group}")


def test_one_of_a_definition_is_kept_as_it_is_to_be(client: Client, group: str) -> None:
    client.post(CRDS, definition(group))
    path = f"{SERVICES}/v1.{group}"
    until(lambda: client.get(path).status == 200)
    client.merge(path, {"spec": {"versionPriority": 7}})
    until(lambda: client.get(path).body["spec"]["versionPriority"] == 100)
    client.send("DELETE", path)
    until(lambda: client.get(path).status == 200)
    client.send("DELETE", f"{CRDS}/gadgets.{group}")


def test_groups_are_listed_by_the_names_of_their_versions(client: Client) -> None:
    early, late = (f"{letter}{uuid.uuid4().hex[:8]}.example.com" for letter in "az")
    client.post(CRDS, definition(early, name="v1beta1"))
    client.post(CRDS, definition(late))
    listed = [group["name"] for group in client.get("/apis").body["groups"]]
    assert listed.index(late) < listed.index(early)  # v1.z comes before v1beta1.a
    for each in (early, late):
        client.send("DELETE", f"{CRDS}/gadgets.{each}")


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (
            {"groupPriorityMinimum": 20001},
            "spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less than 20000",
        ),
        ({"versionPriority": 1001}, "spec.versionPriority: Invalid value: 1001: must be positive and less than 1000"),
        ({"caBundle": "YWI="}, 'spec.caBundle: Invalid value: "2 bytes": local APIServices may not have a caBundle'),
        ({"service": {"name": "a"}}, "spec.service.namespace: Required value"),
        (
            {"service": {"namespace": "a", "name": "b", "port": 0}},
            "spec.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive",
        ),
    ],
)
def test_what_is_wrong_is_said(client: Client, group: str, changed: dict[str, Any], told: str) -> None:
    refused = client.post(SERVICES, announcement(group, **changed))
    assert refused.status == 422
    assert refused.body["message"].endswith(f"is invalid: {told}")


def test_it_is_called_by_version_and_group(client: Client, group: str) -> None:
    wrong = announcement(group) | {"metadata": {"name": "v1.other"}}
    told = client.post(SERVICES, wrong).body["message"]
    assert f'metadata.name: Invalid value: "v1.other": must be `spec.version+"."+spec.group`: "v1.{group}"' in told
