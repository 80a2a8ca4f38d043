"""Fields of built-in kinds are in the order of their structs, also those that the server filled in."""

from __future__ import annotations

import json
from typing import Any

import pytest

from podless.apis.apps.group import DEPLOYMENTS
from podless.apis.autoscaling.group import AUTOSCALERS
from podless.apis.batch.group import JOBS
from podless.apis.core.group import REPLICATION_CONTROLLERS, SERVICES
from podless.kinds.kind import Kind
from podless.structs.structs import arrange_fields
from tests.apis.late import template
from tests.conftest import Client

POD = template(serviceAccountName="a", containers=[{"name": "c", "image": "i", "tty": True}])
SCALED = {
    "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"},
    "maxReplicas": 2,
    "behavior": {"scaleDown": {"policies": [{"type": "Pods", "value": 1, "periodSeconds": 15}]}},
}


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        (SERVICES, {"type": "NodePort", "ports": [{"port": 80, "nodePort": 30123}]}),
        (DEPLOYMENTS, {"selector": {"matchLabels": {"app": "web"}}, "template": POD}),
        (REPLICATION_CONTROLLERS, {"template": template()}),
        (JOBS, {"template": template(restartPolicy="Never")}),
        (AUTOSCALERS, SCALED),
    ],
)
@pytest.mark.parametrize("query", ["?dryRun=All", ""])
def test_fields_are_in_order(client: Client, kind: Kind, spec: dict[str, Any], query: str) -> None:
    version = kind.storage_version
    path = f"/apis/{kind.group}/{version}" if kind.group else "/api/v1"
    path = f"{path}/namespaces/default/{kind.plural}"
    made = client.post(path + query, {"metadata": {"name": "ordered", "labels": {"a": "b"}}, "spec": spec}).body
    client.send("DELETE", f"{path}/ordered")
    assert made["metadata"]["name"] == "ordered"
    assert kind.struct is not None
    assert json.dumps(made) == json.dumps(arrange_fields(kind.struct, made))
    assert list(made["metadata"])[-2:] == ["labels", "managedFields"]
