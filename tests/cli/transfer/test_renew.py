"""What only one server gave an object is not carried to another."""

from __future__ import annotations

from typing import Any

import pytest

from podless.cli.transfer import renew
from podless.runtime.jsonobject import Object


def obj(api: str, kind: str, name: str = "a", namespace: str = "n", **rest: Any) -> Object:
    metadata = {"name": name, "namespace": namespace, **rest.pop("metadata", {})}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **rest}


def test_a_job_gets_a_selector_of_its_own() -> None:
    labels = {"controller-uid": "1", "batch.kubernetes.io/job-name": "a", "app": "x"}
    spec = {"selector": {"matchLabels": {"controller-uid": "1"}}, "template": {"metadata": {"labels": labels}}}
    job = obj("batch/v1", "Job", spec=spec)
    assert renew.renew_object(job, {})["spec"] == {"template": {"metadata": {"labels": {"app": "x"}}}}
    assert job["spec"] == spec
    manual = obj("batch/v1", "Job", spec={**spec, "manualSelector": True})
    assert renew.renew_object(manual, {})["spec"] == manual["spec"]
    pod = obj("v1", "Pod", metadata={"labels": labels})
    assert renew.renew_object(pod, {"1": "2"})["metadata"]["labels"]["controller-uid"] == "2"


def test_addresses_and_claims_are_the_other_servers() -> None:
    service = obj("v1", "Service", spec={"clusterIP": "10.0.0.7", "clusterIPs": ["10.0.0.7"], "type": "ClusterIP"})
    assert renew.renew_object(service, {})["spec"] == {"type": "ClusterIP"}
    headless = obj("v1", "Service", spec={"clusterIP": "None", "clusterIPs": ["None"]})
    assert renew.renew_object(headless, {})["spec"] == headless["spec"]
    volume = obj("v1", "PersistentVolume", spec={"claimRef": {"name": "c", "uid": "1", "resourceVersion": "2"}})
    assert renew.renew_object(volume, {})["spec"] == {"claimRef": {"name": "c"}}


@pytest.mark.parametrize(
    ("there", "wanted", "alike"),
    [
        ({"a": 1, "b": 2}, {"a": 1}, True),
        ({"a": 1}, {"a": 1, "b": {}}, True),
        ({"a": [{"x": 1, "default": 2}]}, {"a": [{"x": 1}]}, True),
        ({"a": [1]}, {"a": [1, 2]}, False),
        ({"a": []}, {"a": {}}, True),
        ({"a": "x"}, {"a": ""}, False),
        ({}, {"a": 0}, False),
        ({}, {"a": False}, False),
        ({"a": "b"}, {"a": "c"}, False),
        (None, {}, True),
    ],
)
def test_what_is_alike(there: Any, wanted: Any, alike: bool) -> None:
    assert renew.has_all(there, wanted) is alike


RBAC = {"labels": {"kubernetes.io/bootstrapping": "rbac-defaults"}}
KEPT = {**RBAC, "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"}}
OURS = {**RBAC, "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "false"}}


@pytest.mark.parametrize(
    ("given", "made"),
    [
        (obj("v1", "ServiceAccount", "default"), True),
        (obj("v1", "ServiceAccount", "default", imagePullSecrets=[{"name": "x"}]), False),
        (obj("v1", "ServiceAccount", "other"), False),
        (obj("v1", "Service", "kubernetes", "default"), True),
        (obj("v1", "Service", "kubernetes", "other"), False),
        (obj("v1", "Secret", type="kubernetes.io/service-account-token"), True),
        (obj("v1", "Secret", type="Opaque"), False),
        (obj("rbac.authorization.k8s.io/v1", "ClusterRole", metadata=KEPT), True),
        (obj("rbac.authorization.k8s.io/v1", "ClusterRole", metadata=OURS), False),
        (obj("apiregistration.k8s.io/v1", "APIService", spec={"group": "g"}), True),
        (obj("apiregistration.k8s.io/v1", "APIService", spec={"service": {"name": "s"}}), False),
        (obj("coordination.k8s.io/v1", "Lease", "podless-controllers", "kube-system"), True),
        (obj("example.com/v1", "Service", "kubernetes", "default"), False),
    ],
)
def test_what_every_server_makes_by_itself(given: Object, made: bool) -> None:
    assert renew.made_by_server(given) is made


def test_who_has_seen_the_object_has_seen_the_new_one() -> None:
    seen = {"observedGeneration": 7, "conditions": [{"type": "A", "observedGeneration": 7}, {"type": "B"}]}
    given = obj("example.com/v1", "A", metadata={"generation": 7}, status=seen)
    assert renew.renew_status(given, 1) == {
        "observedGeneration": 1,
        "conditions": [{"type": "A", "observedGeneration": 1}, {"type": "B"}],
    }
    late = {**given, "status": {"observedGeneration": 6}}
    assert renew.renew_status(late, 1) == {"observedGeneration": 6}
