"""A server with all stand-ins, and what tests make there."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from podless import Server
from podless.runtime.jsonobject import Object
from tests.conftest import Client
from tests.eventually import until

POD: Object = {"containers": [{"name": "c", "image": "i", "ports": [{"name": "web", "containerPort": 8080}]}]}
TEMPLATE: Object = {"metadata": {"labels": {"app": "web"}}, "spec": POD}
SELECTOR: Object = {"matchLabels": {"app": "web"}}


class Namespace:
    """A namespace on such a server."""

    def __init__(self, client: Client, name: str) -> None:
        self.client, self.name = client, name

    def path(self, plural: str, group: str = "") -> str:
        root = f"/apis/{group}" if group else "/api/v1"
        return f"{root}/namespaces/{self.name}/{plural}"

    def make(self, group: str, kind: str, name: str, spec: Object) -> str:
        """Make an object; returns where it is."""
        where = self.path(f"{kind.lower()}s", group)
        version = group or "v1"
        answer = self.client.post(
            where, {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}
        )
        assert answer.status == 201, answer.body
        return f"{where}/{name}"

    def pods(self) -> list[Object]:
        found: list[Object] = self.client.get(self.path("pods")).body["items"]
        return sorted(found, key=lambda pod: str(pod["metadata"]["name"]))

    def until(self, where: str, fact: Callable[[Object], Any]) -> Object:
        """Wait until something is true of an object, and return it."""
        until(lambda: fact(self.client.get(where).body))
        found: Object = self.client.get(where).body
        return found

    def status(self, where: str, **wanted: Any) -> Object:
        """Wait until the status of an object says this."""
        return self.until(where, lambda obj: wanted.items() <= (obj.get("status") or {}).items())


@pytest.fixture(scope="module")
def attended() -> Iterator[Client]:
    with Server(controllers=["*"], garbage_delay=0) as server:
        client = Client(server.url, server.token)
        yield client
        client.close()


@pytest.fixture
def home(attended: Client) -> Namespace:
    name = f"n{uuid.uuid4().hex[:8]}"
    assert attended.post("/api/v1/namespaces", {"metadata": {"name": name}}).status == 201
    return Namespace(attended, name)
