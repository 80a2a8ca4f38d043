"""Servers of older releases: what users see of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from podless import Server
from podless.runtime.option import StartError
from tests.conformance.wire import Client

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def _definition(rule: str = "true", **version: Any) -> dict[str, Any]:
    spec: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer", "format": "int32"}}}
    schema: dict[str, Any] = {"type": "object", "properties": {"spec": spec}}
    schema["x-kubernetes-validations"] = [{"rule": rule}]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "gears.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "gears", "kind": "Gear"},
            "versions": [
                {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}} | version
            ],
        },
    }


class _Asked:
    """A client of a server that answers with status and body."""

    def __init__(self, server: Server) -> None:
        self._wire = Client(server.url, server.token)

    def send(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        status, _, raw = self._wire.send(method, path, body)
        return status, json.loads(raw) if raw.startswith(b"{") else raw


def test_the_version_says_which_release_it_is() -> None:
    with Server(tls=False, kubernetes_version="1.32") as server:
        _, told = _Asked(server).send("GET", "/version")
        assert told["gitVersion"].startswith("v1.32.")
        assert (told["minor"], told["minCompatibilityMinor"]) == ("32", "31")


def test_several_releases_run_in_one_process() -> None:
    rule = _definition("[1, 2].reverse() == [2, 1]")
    with Server(tls=False, kubernetes_version="1.34") as older, Server(tls=False) as newest:
        status, told = _Asked(older).send("POST", CRDS, rule)
        assert status == 422
        assert "undeclared reference to 'reverse'" in told["message"]
        assert _Asked(newest).send("POST", CRDS, rule)[0] == 201


@pytest.mark.parametrize(("release", "status"), [("1.33", 404), ("1.34", 200)])
def test_a_kind_is_served_from_its_release_on(release: str, status: int) -> None:
    with Server(tls=False, kubernetes_version=release) as server:
        assert _Asked(server).send("GET", "/apis/resource.k8s.io/v1/deviceclasses")[0] == status


@pytest.mark.parametrize(("gates", "kept"), [({}, False), ({"CustomResourceFieldSelectors": True}, True)])
def test_a_field_whose_gate_is_off_is_dropped(gates: dict[str, bool], kept: bool) -> None:
    with Server(tls=False, kubernetes_version="1.30", feature_gates=gates) as server:
        body = _definition(selectableFields=[{"jsonPath": ".spec.n"}])
        status, made = _Asked(server).send("POST", CRDS, body)
        assert status == 201, made
        assert ("selectableFields" in made["spec"]["versions"][0]) is kept


def test_an_unknown_gate_or_release_keeps_the_server_from_starting() -> None:
    with pytest.raises(StartError, match="feature-gates"):
        Server(feature_gates={"Nothing": True})
    with pytest.raises(StartError, match=r"1\.29"):
        Server(kubernetes_version="1.29")


def test_pods_have_no_generation_before_it_was_tracked() -> None:
    pod = {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    with Server(tls=False, kubernetes_version="1.32", default_accounts=False) as server:
        _, made = _Asked(server).send("POST", "/api/v1/namespaces/default/pods", pod)
        assert "generation" not in made["metadata"], made


def test_what_a_newer_release_took_is_looked_at_again() -> None:
    rule = _definition("[3, 3].distinct() == [3]")
    with Server(tls=False) as newest, Server(tls=False, kubernetes_version="1.34") as older:
        assert _Asked(newest).send("POST", CRDS, rule)[0] == 201
        assert _Asked(older).send("POST", CRDS, rule)[0] == 422
