"""Each answer names the FlowSchema and the priority level that its request belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from podless import Limits, Server
from tests.conftest import Client

pytestmark = pytest.mark.slow

FLOWS = "/apis/flowcontrol.apiserver.k8s.io/v1"
SCHEMA, LEVEL = "X-Kubernetes-PF-FlowSchema-UID", "X-Kubernetes-PF-PriorityLevel-UID"


def uids(client: Client, plural: str) -> dict[str, str]:
    return {one["metadata"]["name"]: one["metadata"]["uid"] for one in client.get(f"{FLOWS}/{plural}").body["items"]}


def told(client: Client, headers: Mapping[str, str]) -> tuple[str, str]:
    """The names of schema and level."""
    schemas, levels = ({uid: name for name, uid in uids(client, each).items()} for each in (_SCHEMAS, _LEVELS))
    return schemas[headers[SCHEMA]], levels[headers[LEVEL]]


_SCHEMAS, _LEVELS = "flowschemas", "prioritylevelconfigurations"


@pytest.mark.parametrize(
    ("user", "groups", "path", "flow"),
    [
        ("", "", "/api/v1/namespaces", ("exempt", "exempt")),
        ("zoe", "", "/api/v1/namespaces", ("global-default", "global-default")),
        ("zoe", "", "/healthz", ("probes", "exempt")),
        ("system:serviceaccount:a:b", "system:serviceaccounts", "/api/v1/pods", ("service-accounts", "workload-low")),
        ("system:kube-scheduler", "", "/api/v1/pods", ("kube-scheduler", "workload-high")),
        ("system:kube-scheduler", "", "/api/v1/namespaces/none/pods", ("kube-scheduler", "workload-high")),
        (
            "system:serviceaccount:kube-system:namespace-controller",
            "",
            "/version",
            ("kube-system-service-accounts", "workload-high"),
        ),
    ],
)
def test_the_flow_of_a_request(client: Client, user: str, groups: str, path: str, flow: tuple[str, str]) -> None:
    more = {"Impersonate_User": user, "Impersonate_Group": groups or "system:authenticated"} if user else {}
    for _ in range(2):
        assert told(client, client.get(path, **more).headers) == flow


def test_a_schema_is_in_force_for_the_next_request(client: Client) -> None:
    def flow() -> tuple[str, str]:
        answer = client.get("/api/v1/nodes", Impersonate_User="flo", Impersonate_Group="system:authenticated")
        assert answer.status == 403
        return told(client, answer.headers)

    def schema(level: str) -> dict[str, Any]:
        resources = {"verbs": ["list"], "apiGroups": [""], "resources": ["nodes"], "clusterScope": True}
        subject = {"kind": "User", "user": {"name": "flo"}}
        spec = {
            "matchingPrecedence": 5,
            "priorityLevelConfiguration": {"name": level},
            "rules": [{"subjects": [subject], "resourceRules": [resources]}],
        }
        return {"metadata": {"name": "flo"}, "spec": spec}

    assert flow() == ("global-default", "global-default")
    assert client.post(f"{FLOWS}/{_SCHEMAS}", schema("none")).status == 201
    assert flow() == ("global-default", "global-default")  # a schema without its level
    assert client.send("PUT", f"{FLOWS}/{_SCHEMAS}/flo", schema("system")).status == 200
    assert flow() == ("flo", "system")
    client.send("DELETE", f"{FLOWS}/{_SCHEMAS}/flo")
    assert flow() == ("global-default", "global-default")


def test_a_watch_has_a_flow_and_a_refused_token_has_none(client: Client) -> None:
    watched = client.send("GET", "/api/v1/namespaces?watch=1&timeoutSeconds=1&fieldSelector=metadata.name=none")
    assert told(client, watched.headers) == ("exempt", "exempt")
    assert SCHEMA not in client.get("/api/v1/namespaces", Authorization="Bearer nonsense").headers


def sample(client: Client, name: str, **labels: str) -> float:
    shown = ",".join(f'{label}="{value}"' for label, value in labels.items())
    lines = [line for line in client.get("/metrics").body.decode().splitlines() if line.startswith(f"{name}{{{shown}")]
    return sum(float(line.rpartition(" ")[2]) for line in lines)


def test_requests_are_counted_by_flow(client: Client) -> None:
    name, flow = "apiserver_flowcontrol_dispatched_requests_total", {"priority_level": "workload-low"}
    before = sample(client, name, **flow)
    asked = {"Impersonate_User": "system:serviceaccount:a:b", "Impersonate_Group": "system:serviceaccounts"}
    for path in ("/api/v1/pods", "/api/v1/pods", "/api/v1/namespaces/x/pods?limit=5", "/api/v1/pods"):
        client.get(path, **asked)
    assert sample(client, name, **flow) == before + 4
    resources = {"verbs": ["list"], "apiGroups": ["none"], "resources": ["*"], "clusterScope": True}
    subject = {"kind": "User", "user": {"name": "nobody"}}
    spec = {
        "priorityLevelConfiguration": {"name": "system"},
        "rules": [{"subjects": [subject], "resourceRules": [resources]}],
    }
    assert client.post(f"{FLOWS}/{_SCHEMAS}", {"metadata": {"name": "counted"}, "spec": spec}).status == 201
    assert sample(client, name, **flow) == before + 4  # a change of schemas forgets no figure
    client.send("DELETE", f"{FLOWS}/{_SCHEMAS}/counted")


def test_levels_share_the_seats() -> None:
    """By the shares of the levels from the start (245 together) and of one more, of 600 seats."""
    with Server(limits=Limits(in_flight=600)) as server:
        client = Client(server.url, server.token)

        def limits(level: str) -> tuple[float, ...]:
            names = (f"apiserver_flowcontrol_{name}_limit_seats" for name in ("nominal", "lower", "upper"))
            return tuple(sample(client, name, priority_level=level) for name in names)

        assert limits("workload-low") == (245, 24, 600)
        assert limits("leader-election") == (25, 25, 600)
        assert limits("exempt") == (0, 0, 600)
        limited = {"nominalConcurrencyShares": 55, "lendablePercent": 10, "borrowingLimitPercent": 50}
        spec = {"type": "Limited", "limited": limited | {"limitResponse": {"type": "Reject"}}}
        made = client.post(f"{FLOWS}/{_LEVELS}", {"metadata": {"name": "mine"}, "spec": spec})
        assert (made.status, limits("mine")) == (201, (110, 99, 165))
        assert limits("workload-low") == (200, 20, 600)
        client.close()


def test_requests_that_are_refused_are_told_with_their_reason() -> None:
    with Server(limits=Limits(watches=1)) as server:
        client = Client(server.url, server.token)
        connection = client._connect()
        connection.request("GET", "/api/v1/namespaces?watch=1", headers={"Authorization": f"Bearer {server.token}"})
        assert connection.getresponse().status == 200
        refused = client.get("/api/v1/namespaces?watch=1")
        assert (refused.status, told(client, refused.headers)) == (429, ("exempt", "exempt"))
        exempt = {"priority_level": "exempt", "flow_schema": "exempt"}
        name = "apiserver_flowcontrol_rejected_requests_total"
        assert sample(client, name, **exempt, reason="concurrency-limit") == 1
        connection.close()
        client.close()
