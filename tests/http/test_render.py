"""Answers in the form that a client asks for."""

from __future__ import annotations

import pytest

from tests.conftest import Client

NAMES = "application/json;as={};v=v1;g=meta.k8s.io"
MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.mark.parametrize(
    ("path", "go"),
    [
        (MAPS, "*core.ConfigMapList"),
        ("/apis/events.k8s.io/v1/events", "*core.EventList"),
        ("/apis/rbac.authorization.k8s.io/v1/clusterroles", "*rbac.ClusterRoleList"),
    ],
)
def test_a_list_is_no_object(client: Client, path: str, go: str) -> None:
    refused = client.send("GET", path, Accept=NAMES.format("PartialObjectMetadata"))
    assert refused.status == 406
    assert refused.body["message"].endswith(f"the requested object is a list ({go})")


def test_an_object_is_no_list(client: Client) -> None:
    path = "/apis/rbac.authorization.k8s.io/v1/clusterroles/admin"
    refused = client.send("GET", path, Accept=NAMES.format("PartialObjectMetadataList"))
    assert refused.status == 406
    assert refused.body["message"].endswith("the requested object is not a list (*rbac.ClusterRole)")


@pytest.mark.parametrize(
    ("path", "rows"), [(MAPS, []), ("/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles", None)]
)
def test_a_kind_without_columns_has_null_for_no_rows(client: Client, path: str, rows: list[object] | None) -> None:
    assert client.send("GET", f"{path}?labelSelector=no=such", Accept=NAMES.format("Table")).body["rows"] == rows


def test_the_whole_object_in_a_table_is_of_the_version_asked_for(client: Client) -> None:
    path = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers"
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {"maxReplicas": 3, "scaleTargetRef": target, "targetCPUUtilizationPercentage": 70}
    client.send("POST", path, {"metadata": {"name": "a"}, "spec": spec})
    shown = client.send("GET", f"{path}/a?includeObject=Object", Accept=NAMES.format("Table")).body["rows"][0]
    assert shown["object"]["apiVersion"] == "autoscaling/v1"
    assert shown["object"]["spec"]["targetCPUUtilizationPercentage"] == 70


def test_the_count_of_templates_is_an_annotation_of_the_whole_object_alone(client: Client) -> None:
    path, labels = "/apis/apps/v1/namespaces/default/daemonsets", {"a": "b"}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": labels}, "template": pod}
    client.send("POST", path, {"metadata": {"name": "a"}, "spec": spec})
    assert "annotations" in client.send("GET", f"{path}/a").body["metadata"]
    assert (
        "annotations"
        not in client.send("GET", f"{path}/a", Accept=NAMES.format("PartialObjectMetadata")).body["metadata"]
    )
