"""What the tests of admission share: a kind of their own, configurations that are taken away, webhooks."""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from podless.runtime.jsonobject import Object
from tests.conftest import CRDS, Client, definition
from tests.engines import engine, pytest_generate_tests, server
from tests.webhooks import Webhook

__all__ = ["World", "engine", "pytest_generate_tests", "review", "server", "world"]

GROUP = "/apis/admissionregistration.k8s.io/v1"
_NUMBERS = itertools.count()

GADGET = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "replicas": {"type": "integer", "default": 1},
                "color": {"type": "string"},
                "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "tags": {"type": "array", "items": {"type": "string"}},
                "items": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {"name": {"type": "string"}, "size": {"type": "integer"}},
                    },
                },
            },
        },
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}


class World:
    """A group of its own with the kind Gadget, in the versions v1 (stored) and v2."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.name = f"world-{next(_NUMBERS)}"
        self.group = f"{self.name}.example.com"
        self.made: list[str] = []
        self.running: list[Webhook] = []
        body = definition(self.group)
        scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
        body["spec"]["versions"] = [
            {
                "name": name,
                "served": True,
                "storage": name == "v1",
                "schema": {"openAPIV3Schema": GADGET},
                "subresources": {"status": {}, "scale": scale},
            }
            for name in ("v1", "v2")
        ]
        answer = client.post(CRDS, body)
        assert answer.status == 201, answer.body

    def path(self, name: str = "", version: str = "v1", namespace: str = "default") -> str:
        return f"/apis/{self.group}/{version}/namespaces/{namespace}/gadgets/{name}".rstrip("/")

    def gadget(self, name: str = "x", version: str = "v1", **spec: Any) -> Object:
        head = {"apiVersion": f"{self.group}/{version}", "kind": "Gadget", "metadata": {"name": name}}
        return head | ({"spec": spec} if spec else {})

    def create(self, name: str = "x", version: str = "v1", query: str = "", **spec: Any) -> Any:
        return self.client.post(self.path(version=version) + query, self.gadget(name, version, **spec))

    def rule(self, *operations: str, **more: Any) -> Object:
        rule = {"apiGroups": [self.group], "apiVersions": ["*"], "resources": ["gadgets"]}
        return rule | {"operations": list(operations) or ["CREATE", "UPDATE"]} | more

    def configure(self, kind: str, plural: str, name: str = "", **body: Any) -> str:
        """Create a configuration; it is deleted at the end."""
        name = name or f"{self.name}-{len(self.made)}"
        head = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": name}}
        answer = self.client.post(f"{GROUP}/{plural}", head | body)
        assert answer.status == 201, answer.body
        self.made.append(f"{GROUP}/{plural}/{name}")
        return name

    def validate(
        self, *expressions: str, actions: tuple[str, ...] = ("Deny",), bind: Object | None = None, **spec: Any
    ) -> str:
        """A ValidatingAdmissionPolicy with a binding."""
        whole = {
            "matchConstraints": {"resourceRules": [self.rule()]},
            "validations": [{"expression": expression} for expression in expressions],
        }
        name = self.configure("ValidatingAdmissionPolicy", "validatingadmissionpolicies", spec=whole | spec)
        binding = {"policyName": name, "validationActions": list(actions)} | (bind or {})
        self.configure("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", spec=binding)
        return name

    def change(self, *mutations: str, bind: Object | None = None, **spec: Any) -> str:
        """A MutatingAdmissionPolicy with a binding; expressions that begin with [ are patches."""
        made = [
            {"patchType": "JSONPatch", "jsonPatch": {"expression": each}}
            if each.startswith("[")
            else {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": each}}
            for each in mutations
        ]
        whole = {"matchConstraints": {"resourceRules": [self.rule()]}, "mutations": made, "reinvocationPolicy": "Never"}
        name = self.configure("MutatingAdmissionPolicy", "mutatingadmissionpolicies", spec=whole | spec)
        binding = {"policyName": name} | (bind or {})
        self.configure("MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings", spec=binding)
        return name

    def hook(self, answer: Callable[[Object], Any], *, mutating: bool = False, **more: Any) -> Webhook:
        """A webhook and its configuration; see `allowed` and `review` for answers."""
        running = Webhook(answer)
        self.running.append(running)
        kind = "MutatingWebhookConfiguration" if mutating else "ValidatingWebhookConfiguration"
        given = {
            "name": "hook.example.com",
            "clientConfig": running.config,
            "rules": [self.rule()],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        }
        self.configure(kind, kind.lower() + "s", webhooks=[given | more])
        return running

    def end(self) -> None:
        for path in self.made:
            assert self.client.send("DELETE", path).status == 200
        for running in self.running:
            running.close()


def review(call: Object, **response: Any) -> Object:
    """An AdmissionReview that answers a call."""
    whole = {"uid": call["request"]["uid"], "allowed": True} | response
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": whole}


def patching(*operations: Object) -> Callable[[Object], Object]:
    """An answer that changes the object."""
    patch = base64.b64encode(json.dumps(operations).encode()).decode()
    return lambda call: review(call, patch=patch, patchType="JSONPatch")


@pytest.fixture
def world(client: Client) -> Iterator[World]:
    made = World(client)
    yield made
    made.end()
