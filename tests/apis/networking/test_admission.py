"""An ingress that names no class gets the default one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import Client

CLASSES = "/apis/networking.k8s.io/v1/ingressclasses"
INGRESSES = "/apis/networking.k8s.io/v1/namespaces/default/ingresses"
BACKEND = {"service": {"name": "web", "port": {"number": 80}}}


@pytest.fixture
def default(client: Client) -> Iterator[str]:
    metadata = {"name": "usual", "annotations": {"ingressclass.kubernetes.io/is-default-class": "true"}}
    body: dict[str, Any] = {"apiVersion": "networking.k8s.io/v1", "kind": "IngressClass", "metadata": metadata}
    answer = client.post(CLASSES, {**body, "spec": {"controller": "example.com/c"}})
    assert answer.status == 201, answer.body
    yield "usual"
    client.send("DELETE", f"{CLASSES}/usual")


def ingress(client: Client, name: str, annotations: dict[str, str], **spec: str) -> str | None:
    """Which class a new ingress has."""
    body: dict[str, Any] = {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress"}
    body |= {"metadata": {"name": name, "annotations": annotations}, "spec": {"defaultBackend": BACKEND, **spec}}
    answer = client.post(INGRESSES, body)
    assert answer.status == 201, answer.body
    client.send("DELETE", f"{INGRESSES}/{name}")
    found: str | None = answer.body["spec"].get("ingressClassName")
    return found


def test_which_class(client: Client, default: str) -> None:
    assert ingress(client, "plain", {}) == default
    assert ingress(client, "named", {}, ingressClassName="own") == "own"
    assert ingress(client, "old", {"kubernetes.io/ingress.class": "own"}) is None


def test_without_a_default(client: Client) -> None:
    assert ingress(client, "nothing", {}) is None
