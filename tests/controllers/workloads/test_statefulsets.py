"""StatefulSets: pods with names and claims of their own."""

from __future__ import annotations

from typing import Any

from tests.controllers.workloads.conftest import SELECTOR, TEMPLATE, Namespace
from tests.eventually import until

CLAIM = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}
SPEC: dict[str, Any] = {"replicas": 2, "serviceName": "web", "selector": SELECTOR, "template": TEMPLATE}


def names(home: Namespace) -> list[str]:
    return [pod["metadata"]["name"] for pod in home.pods()]


def test_pods_have_numbers_and_claims(home: Namespace) -> None:
    where = home.make("apps/v1", "StatefulSet", "web", {**SPEC, "volumeClaimTemplates": [CLAIM]})
    home.status(where, readyReplicas=2, updatedReplicas=2, currentReplicas=2)
    assert names(home) == ["web-0", "web-1"]
    claims = home.client.get(home.path("persistentvolumeclaims")).body["items"]
    assert sorted(claim["metadata"]["name"] for claim in claims) == ["data-web-0", "data-web-1"]
    spec = home.pods()[1]["spec"]
    assert (spec["hostname"], spec["subdomain"]) == ("web-1", "web")
    assert spec["volumes"][0]["persistentVolumeClaim"]["claimName"] == "data-web-1"


def test_the_last_goes_first(home: Namespace) -> None:
    where = home.make("apps/v1", "StatefulSet", "web", SPEC)
    home.status(where, readyReplicas=2)
    home.client.merge(where, {"spec": {"replicas": 1}})
    until(lambda: names(home) == ["web-0"])


def test_a_new_template(home: Namespace) -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}
    where = home.make("apps/v1", "StatefulSet", "web", {**SPEC, "updateStrategy": strategy})
    home.status(where, readyReplicas=2)
    home.client.merge(where, {"spec": {"template": {"metadata": {"labels": {"v": "2"}}}}})
    home.status(where, observedGeneration=2, updatedReplicas=1, readyReplicas=2)
    until(lambda: [pod["metadata"]["labels"].get("v") for pod in home.pods()] == [None, "2"])
