from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from podless import Server
from podless.auth.user import AUTHENTICATED, User
from tests.conftest import CRDS, Client
from tests.console import demo

NAME = f"{CRDS}/databases.data.example.com"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(tokens={"zoe-token": User("zoe", "", (AUTHENTICATED,))}) as running:
        spec = demo.DATABASES["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
        user = spec["properties"]["users"]["items"]
        rules = [{"rule": "self.name != 'root'", "messageExpression": "'no ' + self.name"}]
        users = {**spec["properties"]["users"], "items": {**user, "x-kubernetes-validations": rules}}
        running.apply(
            demo.definition("databases", "Database", {**spec, "properties": {**spec["properties"], "users": users}}, [])
        )
        yield running


def test_costs_are_those_that_the_server_checks(server: Server) -> None:
    told = Client(server.url, server.token).get(f"{NAME}?ruleCosts=true").body
    assert told["kind"] == "RuleCosts"
    assert told["definition"] == "databases.data.example.com"
    assert told["limits"] == {"rule": 10_000_000, "total": 100_000_000}
    (version,) = told["versions"]
    rules = {(rule["path"], rule["rule"]): rule for rule in version["rules"]}
    one = rules["properties[spec].properties[users].items", "self.name != 'root'"]
    assert one["times"] == 16  # maxItems
    assert one["cost"] == 16 * one["once"] > 16
    assert one["messageCost"] > 0
    assert "error" not in one
    assert rules["properties[spec]", "self.engine != 'sqlite' || self.replicas <= 1"]["times"] == 1
    assert version["total"] == sum(rule["cost"] + rule["messageCost"] for rule in version["rules"])


def test_the_dearest_rule_that_is_accepted_costs_the_limit(server: Server) -> None:
    def make(most: int) -> dict[str, Any]:
        rule = {"rule": "self.all(x, self.exists_one(y, x == y))"}
        items = {"type": "string", "maxLength": 10}
        listed = {"type": "array", "maxItems": most, "items": items, "x-kubernetes-validations": [rule]}
        return demo.definition("lists", "ListOf", {"type": "object", "properties": {"all": listed}}, [])

    client = Client(server.url, server.token)
    low, high = 1, 100_000
    while high - low > 1:
        middle = (low + high) // 2
        accepted = client.post(f"{CRDS}?dryRun=All", make(middle)).status == 201
        low, high = (middle, high) if accepted else (low, middle)
    assert client.post(CRDS, make(low)).status == 201
    (one,) = client.get(f"{CRDS}/lists.data.example.com?ruleCosts=1").body["versions"][0]["rules"]
    assert 0.99 < one["cost"] / 10_000_000 <= 1


def test_rights_are_those_of_a_get(server: Server) -> None:
    client = Client(server.url, server.token)
    assert Client(server.url, "zoe-token").get(f"{NAME}?ruleCosts=true").status == 403
    assert client.get(f"{CRDS}/none.example.com?ruleCosts=true").status == 404
    plain = client.get(f"{NAME}?ruleCosts=false").body
    assert plain["kind"] == "CustomResourceDefinition"
    assert client.get(f"{CRDS}?ruleCosts=true").body["kind"] == "CustomResourceDefinitionList"
    assert client.get("/api/v1/namespaces/default?ruleCosts=true").body["kind"] == "Namespace"
