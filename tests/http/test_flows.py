"""Each answer names the FlowSchema and the priority level that its request belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

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
