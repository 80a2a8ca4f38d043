"""Services: names for other hosts, and headless ones; addresses are not given away."""

from __future__ import annotations

from typing import Any

import pytest

from podless.kinds.builtin import SERVICES
from tests.conftest import Client

VERSION = SERVICES.versions[0]
PATH = "/api/v1/namespaces/default/services"


def service(**spec: Any) -> dict[str, Any]:
    return {"kind": "Service", "apiVersion": "v1", "metadata": {"name": "s"}, "spec": spec}


def faults(**spec: Any) -> list[str]:
    obj = SERVICES.strategy.decode(SERVICES, VERSION, service(**spec), [])
    SERVICES.strategy.prepare_create(VERSION, obj)
    return [str(error) for error in SERVICES.strategy.validate_create(SERVICES, VERSION, obj)]


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({"type": "ExternalName", "externalName": "example.com."}, ""),
        ({"type": "ExternalName"}, "spec.externalName: Required value"),
        ({"type": "ExternalName", "externalName": "a_b"}, "spec.externalName: Invalid value"),
        (
            {"type": "ExternalName", "externalName": "a", "clusterIP": "None"},
            "spec.clusterIP: Forbidden: may not be set for ExternalName services",
        ),
        ({"type": "Other"}, 'spec.type: Unsupported value: "Other": supported values: "ClusterIP", "ExternalName"'),
        ({"clusterIP": "None"}, ""),
        ({"clusterIP": "None", "ports": [{"port": 80}, {"port": 81}]}, "spec.ports[0].name: Required value"),
        ({"clusterIP": "None", "ports": [{"port": 0}]}, "spec.ports[0].port: Invalid value: 0"),
        (
            {"clusterIP": "None", "ports": [{"port": 1, "protocol": "X"}]},
            'spec.ports[0].protocol: Unsupported value: "X"',
        ),
        ({"clusterIP": "None", "sessionAffinity": "X"}, 'spec.sessionAffinity: Unsupported value: "X"'),
        ({"clusterIP": "None", "selector": {"a b": "c"}}, 'spec.selector: Invalid value: "a b"'),
        ({"clusterIP": "None", "clusterIPs": ["10.0.0.1"]}, "spec.clusterIPs: Invalid value"),
        ({}, "spec.clusterIP: Forbidden: podless has no network"),
        ({"clusterIP": "10.0.0.1"}, "spec.clusterIP: Forbidden: podless has no network"),
        ({"type": "NodePort"}, "spec.type: Forbidden: podless has no network"),
    ],
)
def test_what_a_service_must_say(spec: dict[str, Any], wanted: str) -> None:
    found = faults(**spec)
    assert found[0].startswith(wanted) if wanted else not found


def test_a_headless_service_is_completed_and_shown(client: Client) -> None:
    spec = {"clusterIP": "None", "selector": {"b": "2", "a": "1"}, "ports": [{"port": 80, "targetPort": "http"}]}
    made = client.post(PATH, service(**spec)).body
    assert made["spec"] == {
        "ports": [{"protocol": "TCP", "port": 80, "targetPort": "http"}],
        "selector": {"a": "1", "b": "2"},
        "clusterIP": "None",
        "clusterIPs": ["None"],
        "type": "ClusterIP",
        "sessionAffinity": "None",
        "ipFamilies": ["IPv4"],
        "ipFamilyPolicy": "SingleStack",
        "internalTrafficPolicy": "Cluster",
    }
    assert made["status"] == {"loadBalancer": {}}
    table = client.get(f"{PATH}/s", Accept="application/json;as=Table;v=v1;g=meta.k8s.io").body
    cells = table["rows"][0]["cells"]
    assert [*cells[:5], cells[6]] == ["s", "ClusterIP", "None", "<none>", "80/TCP", "a=1,b=2"]
    client.send("DELETE", f"{PATH}/s")


def test_ports_are_known_by_number_and_protocol_when_they_are_applied(client: Client) -> None:
    spec = {"clusterIP": "None", "ports": [{"port": 80}]}
    for _ in range(2):
        applied = client.send(
            "PATCH",
            f"{PATH}/s?fieldManager=test&force=true",
            service(**spec),
            Content_Type="application/apply-patch+yaml",
        )
        assert applied.status in (200, 201), applied.body
    named = {"spec": {"ports": [{"port": 81, "name": "b"}, {"port": 80, "name": "a"}]}}
    patched = client.send("PATCH", f"{PATH}/s", named, Content_Type="application/strategic-merge-patch+json").body
    assert {port["port"]: port["name"] for port in patched["spec"]["ports"]} == {80: "a", 81: "b"}
    client.send("DELETE", f"{PATH}/s")


@pytest.mark.parametrize(("prefix", "good"), [("web-", True), ("w", True), ("1web-", False), ("a.b-", False)])
def test_a_generated_name_begins_like_a_host(prefix: str, good: bool) -> None:
    assert (SERVICES.strategy.name_errors(prefix, True) == []) is good
