"""StatefulSets: pods with names and claims of their own."""

from __future__ import annotations

from typing import Any

from tests.controllers.standins.conftest import SELECTOR, TEMPLATE, Namespace
from tests.eventually import until

CLAIM = {
    "metadata": {"name": "data", "labels": {"of": "claim"}, "annotations": {"note": "x"}},
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
    assert claims[0]["metadata"]["labels"] == {"of": "claim", "app": "web"}
    assert claims[0]["metadata"]["annotations"] == {"note": "x"}
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


def test_templates_are_kept_as_revisions(home: Namespace) -> None:
    limits = {"revisionHistoryLimit": 1, "replicas": 0}
    where = home.make("apps/v1", "StatefulSet", "web", {**SPEC, **limits})

    def told() -> list[tuple[int, str | None]]:
        found = home.client.get(home.path("controllerrevisions", "apps/v1")).body["items"]
        templates = [(one["revision"], one["data"]["spec"]["template"]) for one in found]
        return sorted((number, template["metadata"]["labels"].get("v")) for number, template in templates)

    until(lambda: told() == [(1, None)])
    (one,) = home.client.get(home.path("controllerrevisions", "apps/v1")).body["items"]
    assert one["data"]["spec"]["template"]["$patch"] == "replace"
    assert one["metadata"]["name"] == home.until(where, lambda obj: obj.get("status"))["status"]["updateRevision"]
    home.client.merge(where, {"spec": {"template": {"metadata": {"labels": {"v": "2"}}}}})
    until(lambda: told() == [(1, None), (2, "2")])
    home.client.merge(where, {"spec": {"template": {"metadata": {"labels": {"v": None}}}}})
    until(lambda: told() == [(2, "2"), (3, None)])
    home.client.merge(where, {"spec": {"template": {"metadata": {"labels": {"v": "3"}}}}})
    until(lambda: told() == [(3, None), (4, "3")])
