"""The managedFields of status writes: without what such a write does not change."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.conftest import Client

PODS = "/api/v1/namespaces/default/pods"
OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "u"}
METADATA = {"labels": {"a": "b"}, "ownerReferences": [OWNER]}
ATTACHMENT = {"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "p"}}
SCHEMA = {"priorityLevelConfiguration": {"name": "exempt"}, "matchingPrecedence": 5}
POD = {"containers": [{"name": "a", "image": "b"}]}


@pytest.mark.parametrize(
    ("path", "spec", "owned"),
    [
        (PODS, POD, [{"f:metadata": {"f:labels": {".": {}, "f:a": {}}}}]),
        ("/apis/storage.k8s.io/v1/volumeattachments", ATTACHMENT, []),
        ("/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas", SCHEMA, []),
    ],
)
def test_a_status_write_owns_no_metadata_that_it_resets(
    client: Client, path: str, spec: dict[str, Any], owned: list[Any]
) -> None:
    name = f"x{uuid.uuid4().hex[:8]}"
    assert client.post(path, {"metadata": {"name": name}, "spec": spec}).status == 201
    answer = client.merge(f"{path}/{name}/status?fieldManager=m", {"metadata": METADATA})
    assert answer.status == 200, answer.body
    entries = answer.body["metadata"]["managedFields"]
    assert [entry["fieldsV1"] for entry in entries if entry["manager"] == "m"] == owned
