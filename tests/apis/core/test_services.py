"""Services: names for other hosts, and headless ones; addresses are not given away."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from podless.apis.core import servicespec
from podless.apis.core.group import ENDPOINTS, SERVICES
from podless.apis.features import choose_release
from podless.meta.errors import Invalid
from podless.runtime.release import CURRENT
from tests.conftest import Client

VERSION = SERVICES.versions[0]
PATH = "/api/v1/namespaces/default/services"

PORT = {"port": 80}
_TOO_LONG = {"timeoutSeconds": 86401}


def service(**spec: Any) -> dict[str, Any]:
    return {"kind": "Service", "apiVersion": "v1", "metadata": {"name": "s"}, "spec": spec}


def faults(**spec: Any) -> list[str]:
    obj = SERVICES.strategy.decode(SERVICES, VERSION, service(**spec), [])
    try:
        SERVICES.strategy.prepare_create(VERSION, obj)
    except Invalid as early:  # addresses and families come before all else
        return [str(error) for error in early.errors]
    return [str(error) for error in SERVICES.strategy.validate(VERSION, obj, None)]


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({"type": "ExternalName", "externalName": "example.com."}, ""),
        ({"type": "ExternalName"}, "spec.externalName: Required value"),
        ({"type": "ExternalName", "externalName": "a_b"}, "spec.externalName: Invalid value"),
        (
            {"type": "ExternalName", "externalName": "a", "clusterIP": "None"},
            "spec.clusterIPs: Forbidden: may not be set for ExternalName services",
        ),
        (
            {"type": "Other", "ports": [PORT]},
            'spec.type: Unsupported value: "Other": supported values: "ClusterIP", "ExternalName"',
        ),
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
        ({}, "spec.ports: Required value"),
        ({"clusterIP": "None", "clusterIPs": ["None", "None"]}, 'spec.clusterIPs: Invalid value: ["None","None"]: \'N'),
        ({"clusterIP": "None", "ipFamilies": ["IPv4", "IPv4"]}, 'spec.ipFamilies[1]: Duplicate value: "IPv4"'),
        ({"clusterIP": "None", "ipFamilyPolicy": "x"}, 'spec.ipFamilyPolicy: Unsupported value: "x"'),
        (
            {"clusterIP": "None", "selector": {"a": "b"}, "ipFamilyPolicy": "RequireDualStack"},
            'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack',
        ),
        (
            {"clusterIP": "None", "selector": {"a": "b"}, "ipFamilies": ["IPv6"]},
            'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
        ),
        (
            {"clusterIP": "None", "ports": [{**PORT, "name": "a"}, {**PORT, "name": "b"}]},
            'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0',
        ),
        ({"clusterIP": "None", "ports": [{**PORT, "targetPort": "a_b"}]}, "spec.ports[0].targetPort: Invalid value"),
        ({"clusterIP": "None", "ports": [{**PORT, "targetPort": 70000}]}, "spec.ports[0].targetPort: Invalid value"),
        ({"clusterIP": "None", "ports": [{**PORT, "nodePort": 30000}]}, "spec.ports[0].nodePort: Forbidden"),
        ({"clusterIP": "None", "ports": [{**PORT, "appProtocol": "a b"}]}, "spec.ports[0].appProtocol: Invalid value"),
        ({"clusterIP": "None", "externalTrafficPolicy": "Local"}, "spec.externalTrafficPolicy: Invalid value"),
        ({"clusterIP": "None", "internalTrafficPolicy": "x"}, "spec.internalTrafficPolicy: Unsupported value"),
        ({"clusterIP": "None", "trafficDistribution": "x"}, "spec.trafficDistribution: Unsupported value"),
        ({"clusterIP": "None", "healthCheckNodePort": 1}, "spec.healthCheckNodePort: Invalid value"),
        ({"clusterIP": "None", "loadBalancerClass": "a"}, "spec.loadBalancerClass: Forbidden: may only be used"),
        ({"clusterIP": "None", "allocateLoadBalancerNodePorts": True}, "spec.allocateLoadBalancerNodePorts: Forbidden"),
        ({"clusterIP": "None", "loadBalancerSourceRanges": ["10.0.0.0/8"]}, "spec.LoadBalancerSourceRanges: Forbidden"),
        ({"clusterIP": "None", "externalIPs": ["x"]}, 'spec.externalIPs[0]: Invalid value: "x": must be a valid IP'),
        ({"clusterIP": "None", "externalIPs": ["127.0.0.1"]}, "spec.externalIPs[0]: Invalid value"),
        ({"clusterIP": "None", "externalIPs": ["0.0.0.0"]}, "spec.externalIPs[0]: Invalid value"),
        (
            {"clusterIP": "None", "sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": _TOO_LONG}},
            "spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0",
        ),
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


@pytest.mark.parametrize(("prefix", "good"), [("web-", True), ("1web-", True), ("a.b-", False)])
def test_a_generated_name_is_a_label(prefix: str, good: bool) -> None:
    assert (SERVICES.strategy.naming[True](prefix) == []) is good


def test_what_is_left_out_is_filled_in(client: Client) -> None:
    body = {**service(clusterIP="None", sessionAffinity="ClientIP"), "metadata": {"name": "filled"}}
    made = client.send("PUT", f"{PATH}/filled", body)
    assert (made.status, made.body["spec"]["sessionAffinityConfig"]) == (201, {"clientIP": {"timeoutSeconds": 10800}})
    assert made.body["spec"]["ipFamilies"] == ["IPv4", "IPv6"]
    assert "spec.SessionAffinity is ignored for headless services" in made.headers["Warning"]
    assert client.send("DELETE", f"{PATH}/filled").body["kind"] == "Service"


def test_families_are_kept_until_the_service_is_another_hosts_name(client: Client) -> None:
    path = f"{PATH}/moved"
    body = {**service(clusterIP="None", selector={"a": "b"}), "metadata": {"name": "moved"}}
    client.post(PATH, body)
    kept = client.send("PUT", path, {**body, "spec": {"clusterIP": "None"}}).body["spec"]
    assert (kept["ipFamilyPolicy"], kept["ipFamilies"]) == ("SingleStack", ["IPv4"])
    moved = client.merge(path, {"spec": {"ipFamilies": ["IPv6"]}})  # only those of addresses stay
    assert (moved.status, moved.body["spec"]["ipFamilies"]) == (200, ["IPv6"])
    named = client.merge(path, {"spec": {"type": "ExternalName", "externalName": "a.b"}}).body["spec"]
    assert not named.keys() & {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"}
    client.send("DELETE", path)


def test_only_a_load_balancer_gives_addresses(client: Client) -> None:
    client.post(PATH, {**service(clusterIP="None"), "metadata": {"name": "given"}})
    refused = client.merge(f"{PATH}/given/status", {"status": {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}})
    assert refused.body["details"]["causes"][0]["field"] == "status.loadBalancer.ingress"
    client.send("DELETE", f"{PATH}/given")


def test_the_addresses_of_a_load_balancer_are_judged(client: Client) -> None:
    client.post(PATH, {**service(type="LoadBalancer", ports=[PORT]), "metadata": {"name": "judged"}})
    path = f"{PATH}/judged/status"
    given = client.merge(path, {"status": {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}, {"hostname": "a.b"}]}}})
    ingress = given.body["status"]["loadBalancer"]["ingress"]
    assert ingress == [{"ip": "1.2.3.4", "ipMode": "VIP"}, {"hostname": "a.b"}]
    bad = [{"ip": "x"}, {"ip": "1.2.3.4", "ipMode": "x"}, {"hostname": "1.2.3.4", "ipMode": "VIP"}, {"hostname": "A"}]
    causes = client.merge(path, {"status": {"loadBalancer": {"ingress": bad}}}).body["details"]["causes"]
    assert [(cause["field"].removeprefix("status.loadBalancer.ingress"), cause["reason"]) for cause in causes] == [
        ("[0].ip", "FieldValueInvalid"),
        ("[1].ipMode", "FieldValueNotSupported"),
        ("[2].ipMode", "FieldValueForbidden"),
        ("[2].hostname", "FieldValueInvalid"),
        ("[3].hostname", "FieldValueInvalid"),
    ]
    plain = client.merge(f"{PATH}/judged", {"spec": {"type": "ClusterIP"}})
    assert plain.body["status"] == {"loadBalancer": {}}  # and what it gave is gone with it
    client.send("DELETE", f"{PATH}/judged")


def test_what_is_noted_of_a_service_is_judged(client: Client) -> None:
    notes = {
        "service.kubernetes.io/topology-aware-hints": "Auto",
        "service.kubernetes.io/topology-mode": "Disabled",
        "service.beta.kubernetes.io/load-balancer-source-ranges": "10.0.0.0/8, x",
    }
    body = service(clusterIP="None") | {"metadata": {"name": "noted", "annotations": notes}}
    causes = client.post(PATH, body).body["details"]["causes"]
    ranges = "metadata.annotations[service.beta.kubernetes.io/load-balancer-source-ranges]"
    assert [cause["field"] for cause in causes] == [
        "metadata.annotations[service.kubernetes.io/topology-mode]", ranges, ranges,
    ]  # fmt: skip


def test_a_headless_service_is_known_by_its_addresses_whatever_its_type() -> None:
    found = faults(type="NodePort", clusterIP="None")
    assert found == ["spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort services"]


def test_a_load_balancer_may_have_any_port() -> None:
    assert not faults(type="LoadBalancer", ports=[{"port": 10250}])


@pytest.mark.parametrize(
    ("address", "wanted"),
    [
        ("0:0::0", ["may not be unspecified (0:0::0)"]),
        ("::ffff:127.0.0.1", ["may not be in the loopback range (127.0.0.0/8, ::1/128)"]),
        ("ff12::1", ["may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"]),
        ("ff11::1", []),
        ("x", ["must be a valid IP address"]),
    ],
)
def test_addresses_that_are_nobodys_own(address: str, wanted: list[str]) -> None:
    assert list(servicespec.find_external_faults(address)) == wanted


def test_what_is_only_a_name_has_no_traffic_of_the_cluster(client: Client) -> None:
    spec = {"type": "ExternalName", "externalName": "a.b", "internalTrafficPolicy": "Local"}
    made = client.send("POST", PATH, service(**spec)).body
    assert "internalTrafficPolicy" not in made["spec"]
    refused = client.send("PUT", f"{PATH}/s", service(**{**spec, "internalTrafficPolicy": "Bad"}))
    assert refused.status == 422
    client.send("DELETE", f"{PATH}/s")


def test_a_status_makes_a_service_without_addresses(client: Client) -> None:
    body = {**service(ports=[PORT]), "metadata": {"name": "by-status"}}
    made = client.send("PUT", f"{PATH}/by-status/status", body)
    assert made.status == 201
    assert not made.body["spec"].keys() & {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"}
    client.send("DELETE", f"{PATH}/by-status")


def test_an_address_of_before_is_only_missed_in_the_pair(client: Client) -> None:
    assert (
        client.post(PATH, {**service(clusterIP="None", selector={"a": "b"}), "metadata": {"name": "before"}}).status
        == 201
    )
    given = {"clusterIP": "None", "clusterIPs": ["10.0.0.1", "None"]}
    causes = client.merge(f"{PATH}/before", {"spec": given}).body["details"]["causes"]
    client.send("DELETE", f"{PATH}/before")
    assert [cause["message"].split(": ")[-1] for cause in causes] == [
        "first value must match `clusterIP`",
        "None",
        "may specify no more than one IP for each IP family",
    ]
    assert causes[1]["message"] == "Internal error: failed to check for dual stack with error:invalid IP[1]: None"


_ODD: dict[str, Any] = {
    "type": "LoadBalancer",
    "ports": [{"port": 80, "targetPort": 80, "protocol": "TCP"}],
    "sessionAffinity": "None",
    "externalTrafficPolicy": "Cluster",
    "externalIPs": ["010.0.0.1"],
    "clusterIP": "010.0.0.2",
    "clusterIPs": ["010.0.0.2"],
    "loadBalancerSourceRanges": [" 10.0.0.1/8"],
}
_NOTED = {"service.beta.kubernetes.io/load-balancer-source-ranges": "10.0.0.1/8"}


def test_forms_that_a_service_already_has_are_accepted() -> None:
    odd = {"metadata": {}, "spec": _ODD}
    assert [error.field for error in servicespec.validate_service_spec(odd)] == [
        "spec.clusterIPs[0]",
        "spec.externalIPs[0]",
        "spec.LoadBalancerSourceRanges[0]",
    ]
    assert not [*servicespec.validate_service_spec(odd, odd)]
    noted = {"metadata": {"annotations": _NOTED}, "spec": {**_ODD, "loadBalancerSourceRanges": []}}
    assert len([*servicespec.validate_service_spec(noted, odd)]) == 1
    assert not [*servicespec.validate_service_spec(noted, noted)]
    status = {"loadBalancer": {"ingress": [{"ip": "010.0.0.1", "ipMode": "VIP"}]}}
    assert [*servicespec.validate_load_balancer_status(status, {})]
    assert not [*servicespec.validate_load_balancer_status(status, status)]


@pytest.mark.parametrize(
    ("release", "said"),
    [
        (
            "1.32",
            [
                'spec.externalIPs[0]: IPv6 address "FC00::1" is not in RFC 5952 canonical format ("fc00::1"), which '
                "may cause controller apply-loops",
                "spec.loadBalancerIP: IP address was accepted, but will be invalid in a future Kubernetes release: "
                'ParseAddr("010.0.0.1"): IPv4 field has octet with leading zero',
            ],
        ),
        (
            "1.33",
            [
                'spec.externalIPs[0]: IPv6 address "FC00::1" should be in RFC 5952 canonical format ("fc00::1")',
                'spec.loadBalancerIP: non-standard IP address "010.0.0.1" will be considered invalid in a future '
                'Kubernetes release: use "10.0.0.1"',
            ],
        ),
    ],
)
def test_odd_forms_of_addresses_are_told(release: str, said: list[str]) -> None:
    spec = {**_ODD, "externalIPs": ["FC00::1"], "clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"]}
    spec |= {"loadBalancerIP": "010.0.0.1", "loadBalancerSourceRanges": []}
    token = CURRENT.set(choose_release(release))
    try:
        assert SERVICES.strategy.list_warnings(VERSION, {"metadata": {}, "spec": spec}, None) == said
    finally:
        CURRENT.reset(token)


@pytest.mark.parametrize(
    ("labels", "count"), [({}, 2), ({"endpoints.kubernetes.io/managed-by": "endpoint-controller"}, 0)]
)
def test_endpoints_with_odd_forms_are_told(labels: dict[str, str], count: int) -> None:
    one = [{"ip": "FC00::1"}]
    obj = {"metadata": {"labels": labels}, "subsets": [{"addresses": one, "notReadyAddresses": one}]}
    found = ENDPOINTS.strategy.list_warnings(ENDPOINTS.versions[0], obj, None)
    assert [text.partition(":")[0] for text in found] == [
        "subsets[0].addresses[0].ip",
        "subsets[0].notReadyAddresses[0].ip",
    ][:count]


def test_a_status_with_odd_forms_of_addresses_is_told(client: Client) -> None:
    name = f"odd-{uuid.uuid4().hex[:8]}"
    spec = {"type": "LoadBalancer", "ports": [PORT]}
    assert client.post(PATH, {"metadata": {"name": name}, "spec": spec}).status == 201
    accepted, wrong = ({"status": {"loadBalancer": {"ingress": [{"ip": ip}]}}} for ip in ("FC00::1", "010.0.0.1"))
    answer = client.merge(f"{PATH}/{name}/status", accepted)
    text = 'IPv6 address \\"FC00::1\\" should be in RFC 5952 canonical format (\\"fc00::1\\")'
    assert answer.headers["Warning"] == f'299 - "status.loadBalancer.ingress[0]: {text}"'
    answer = client.merge(f"{PATH}/{name}/status", wrong)
    assert (answer.status, "Warning" in answer.headers) == (422, False)
