"""APIServices tell what is served."""

from __future__ import annotations

import uuid

from tests.conftest import CRDS, Client, definition
from tests.controllers.test_teardown import until

SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"


def test_every_served_version_has_one(client: Client) -> None:
    listed = client.get(SERVICES).body["items"]
    found = {(item["spec"].get("group", ""), item["spec"]["version"]) for item in listed}
    served = client.get("/apis").body["groups"]
    known = {(group["name"], version["version"]) for group in served for version in group["versions"]}
    assert found >= {one for one in known if one[0].endswith("k8s.io")} | {("", "v1")}
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


def test_nobody_else_writes_them(client: Client) -> None:
    assert client.post(SERVICES, {"metadata": {"name": "v1.a.example.com"}}).status == 405
    assert client.send("DELETE", f"{SERVICES}/v1.").status == 405
