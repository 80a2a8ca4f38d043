"""Rules of pods and nodes that depend on a gate, by release."""

from __future__ import annotations

from typing import Any

import pytest

from podless import Server
from tests.conftest import Client

PODS = "/api/v1/namespaces/default/pods"
_SPREAD = {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule", "matchLabelKeys": ["a"]}


def pod(name: str, **spec: Any) -> dict[str, Any]:
    spec = {"containers": [{"name": "c", "image": "i"}], **spec}
    return {"metadata": {"name": name, "labels": {"a": "b"}}, "spec": spec}


def spread(**labels: str) -> list[dict[str, Any]]:
    return [{**_SPREAD, "labelSelector": {"matchLabels": labels}}]


@pytest.mark.parametrize(
    ("release", "merges", "searches", "changes", "features"),
    [("1.32", False, False, True, False), ("1.35", True, True, False, False), ("1.37", True, True, True, True)],
)
def test_gates(release: str, merges: bool, searches: bool, changes: bool, features: bool) -> None:
    with Server(tls=False, kubernetes_version=release, default_accounts=False) as server:
        client = Client(server.url, server.token)
        made = client.post(PODS, pod("merged", topologySpreadConstraints=spread(x="y"))).body
        selector = made["spec"]["topologySpreadConstraints"][0]["labelSelector"]
        assert ("matchExpressions" in selector) == merges
        twice = client.post(PODS, pod("twice", topologySpreadConstraints=spread(a="b")))
        where = "[0][0]" if merges else "[0].matchLabelKeys[0]"
        assert twice.body["details"]["causes"][0]["field"] == f"spec.topologySpreadConstraints{where}"
        config = {"searches": ["a_b", "."]}
        assert (client.post(PODS, pod("searching", dnsConfig=config)).status == 201) == searches
        context = {"seLinuxChangePolicy": "MountOption"}
        assert (client.post(PODS, pod("labelled", securityContext=context)).status == 201) == changes
        node = {"metadata": {"name": "n"}, "status": {"declaredFeatures": ["A"]}}
        assert ("declaredFeatures" in client.post("/api/v1/nodes", node).body["status"]) == features
        status = {"status": {"declaredFeatures": ["B"]}}
        assert ("declaredFeatures" in client.merge("/api/v1/nodes/n/status", status).body["status"]) == features
