"""A server that offers the older APIs, and what is said to it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from podless import Server
from tests.conftest import Client

BETA = "/apis/apiextensions.k8s.io/v1beta1/customresourcedefinitions"
THIRD = "/apis/extensions/v1beta1/thirdpartyresources"
RUNTIME = {"apiextensions.k8s.io/v1beta1": True, "extensions/v1beta1/thirdpartyresources": True}


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One server in memory for the tests of this folder; each takes an API group of its own."""
    with Server(runtime_config=RUNTIME) as running:
        yield running


def beta(group: str, plural: str = "gadgets", kind: str = "Gadget", **spec: Any) -> dict[str, Any]:
    """A CustomResourceDefinition of v1beta1 that says as little as may be said."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1beta1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {"group": group, "version": "v1", "names": {"plural": plural, "kind": kind}} | spec,
    }


def watch(server: Server, path: str, since: str, last: str = "") -> Iterator[tuple[str, str]]:
    """What a watch tells, as types and names, until it ends or the event `last` has come."""
    client = Client(server.url, server.token)
    connection = client._connect()
    try:
        query = f"{path}?watch=1&timeoutSeconds=20&resourceVersion={since}"
        connection.request("GET", query, headers={"Authorization": f"Bearer {server.token}"})
        answer = connection.getresponse()
        for line in answer:
            event = json.loads(line)
            yield event["type"], event["object"]["metadata"].get("name", "")
            if event["type"] == last:
                return
    finally:
        connection.close()
