"""What definitions, rules, policies, quotas, webhooks' answers and the audit log cost: no more than n log n."""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest

from podless.admission import calls, patches
from podless.apis.schemes import make_review_scheme
from podless.auth.authorizer import Attributes
from podless.auth.user import User
from podless.http.audit import auditor
from podless.http.message import HTTPRequest
from podless.kinds import webhookreviews
from podless.kinds.registry import Registry
from podless.meta import jsonpath
from podless.meta.errors import APIError
from podless.runtime.jsonobject import Object
from tests.conftest import CRDS, definition
from tests.cost import assert_linear
from tests.http.test_request_cost import CORE, named, numbers
from tests.inside import Ask, Inside, applied, merge

pytestmark = pytest.mark.slow

ADMISSION = "/apis/admissionregistration.k8s.io/v1"
ANY: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


TURN = itertools.count(1000)  # nothing is known of a schema from before


def schema(size: int, make: Callable[[int], Object]) -> Object:
    turn = next(TURN)
    properties = {
        name: make(turn * 10_000 + number) | {"description": f"{turn}"}
        for number, name in enumerate(numbers(size, "p"))
    }
    return {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}}


DEFINITIONS: dict[str, Callable[[int], Object]] = {
    "properties": lambda size: {"schema": schema(size, lambda _: {"type": "string", "default": "a", "maxLength": 5})},
    "wrong properties": lambda size: {"schema": schema(size, lambda _: {"default": 5})},
    "rules": lambda size: {
        "schema": schema(
            size, lambda n: {"type": "integer", "x-kubernetes-validations": [{"rule": f"self != {n}", "message": "m"}]}
        )
    },
    "wrong rules": lambda size: {
        "schema": schema(size, lambda n: {"type": "integer", "x-kubernetes-validations": [{"rule": f"self + 'a{n}'"}]})
    },
    "lists": lambda size: {
        "schema": schema(
            size,
            lambda _: {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["k"],
                "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}}},
            },
        )
    },
    "an enum": lambda size: {"schema": schema(1, lambda _: {"type": "string", "enum": numbers(size, "e")})},
    "a default": lambda size: {
        "schema": schema(1, lambda _: {"type": "array", "items": {"type": "integer"}, "default": list(range(size))})
    },
    "columns": lambda size: {
        "schema": {"openAPIV3Schema": ANY},
        "additionalPrinterColumns": [
            {"name": name, "type": "string", "jsonPath": f".spec.a[?(@.b=='{name}')].c"} for name in numbers(size, "c")
        ],
    },
    "a long path": lambda size: {
        "schema": {"openAPIV3Schema": ANY},
        "additionalPrinterColumns": [{"name": "c", "type": "string", "jsonPath": ".a" * size}],
    },
    "selectable fields": lambda size: {
        "schema": schema(size, lambda _: {"type": "string"}),
        "selectableFields": [{"jsonPath": f".spec.{name}"} for name in numbers(size, "p")],
    },
}


@pytest.mark.parametrize("form", DEFINITIONS)
def test_definitions(inside: Inside, form: str) -> None:
    """Written, served, changed."""
    group = f"{form.replace(' ', '-')}.cost.example.com"

    def make(size: int) -> list[Ask]:
        crd = definition(group, **DEFINITIONS[form](size))
        changed = json.loads(json.dumps(crd))
        changed["metadata"]["labels"] = {"a": "b"}
        path = f"{CRDS}/gadgets.{group}"
        return [
            Ask("POST", CRDS, crd),
            applied(path, changed),
            Ask("GET", f"/openapi/v3/apis/{group}/v1"),
            Ask("GET", f"/apis/{group}/v1/namespaces/default/gadgets"),
            Ask("DELETE", path),
        ]

    inside.assert_linear(make, size=20)


MORE: list[Object] = [{"subresources": {"status": {}}}, {"selectableFields": [{"jsonPath": ".spec.p0"}]}]


def test_versions(inside: Inside) -> None:
    """Each with a schema and subresources of its own, then none of them."""

    def make(size: int) -> list[Ask]:
        group = f"versions{next(TURN)}.cost.example.com"
        crd = definition(group)
        [first] = crd["spec"]["versions"]
        crd["spec"]["versions"] = [
            {**first, "name": name, "storage": name == "v0", "schema": schema(1, lambda _: {"type": "string"})}
            | MORE[index % 2]
            for index, name in enumerate(numbers(size, "v"))
        ]
        path = f"{CRDS}/gadgets.{group}"
        changed = {**crd, "metadata": {**crd["metadata"], "labels": {"a": "b"}}}
        empty = {**crd, "spec": {**crd["spec"], "versions": [{}] * size * 5}}
        return [
            Ask("POST", CRDS, crd),
            applied(path, changed),
            Ask("POST", f"{CRDS}?dryRun=All", empty),
            Ask("GET", f"/apis/{group}"),
            Ask("DELETE", path),
        ]

    inside.assert_linear(make, [201, 200, 422, 200, 200], size=80)  # so many that also the shortest errors are long


def test_fields_that_are_selected(inside: Inside) -> None:
    """Long values, and a list by them."""
    group = "selected.cost.example.com"
    crd = definition(group, **DEFINITIONS["selectable fields"](4))
    assert inside.ask(Ask("POST", CRDS, crd))[0] == 201
    path = f"/apis/{group}/v1/namespaces/default/gadgets"

    def make(size: int) -> list[Ask]:
        obj = named({"apiVersion": f"{group}/v1", "kind": "Gadget", "spec": {"p1": "x" * size * 20}})
        query = ",".join([f"spec.p1={'x' * 20}"] * size)
        return [Ask("POST", path, obj), Ask("GET", f"{path}?fieldSelector={query}"), Ask("DELETE", f"{path}/x")]

    inside.assert_linear(make, [201, 200, 200])


RULED: dict[str, Object] = {
    "all": {"type": "array", "items": {"type": "string"}, "x-kubernetes-validations": [{"rule": "self.size() >= 0"}]},
    "items": {
        "type": "array",
        "items": {"type": "string", "x-kubernetes-validations": [{"rule": "self.startsWith('i')"}]},
    },
    "walk": {
        "type": "array",
        "maxItems": 1000,
        "items": {"type": "string", "maxLength": 9},
        "x-kubernetes-validations": [{"rule": "self.all(one, one.startsWith('i')) && !self.exists(one, one == '')"}],
    },
    "old": {
        "type": "array",
        "maxItems": 1000,
        "items": {"type": "string", "maxLength": 9},
        "x-kubernetes-validations": [{"rule": "self.size() + oldSelf.size() >= 0 && oldSelf.all(one, one != '')"}],
    },
    "broken": {
        "type": "array",
        "items": {"type": "string", "x-kubernetes-validations": [{"rule": "self == ''", "messageExpression": "self"}]},
    },
}


@pytest.mark.parametrize("form", RULED)
def test_rules_that_are_evaluated(inside: Inside, form: str) -> None:
    group = f"{form}.rules.example.com"
    spec = {"type": "object", "properties": {"list": RULED[form]}}
    whole = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    assert inside.ask(Ask("POST", CRDS, definition(group, schema=whole)))[0] == 201
    path = f"/apis/{group}/v1/namespaces/default/gadgets"

    def make(size: int) -> list[Ask]:
        obj = named({"apiVersion": f"{group}/v1", "kind": "Gadget", "spec": {"list": numbers(size, "i")}})
        return [
            Ask("POST", path, obj),
            merge(f"{path}/x", {"spec": {"list": numbers(size, "ib")}}),
            Ask("DELETE", f"{path}/x"),
        ]

    inside.assert_linear(make)


def test_policies(inside: Inside) -> None:
    """Written, and asked about a write; the bindings are gone afterwards."""
    rule = {"apiGroups": [""], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["secrets"]}

    def make(size: int) -> list[Ask]:
        spec = {
            "matchConstraints": {"resourceRules": [rule]},
            "variables": [{"name": name, "expression": "size(object.metadata.name)"} for name in numbers(size, "v")],
            "validations": [{"expression": f"variables.{name} < 100"} for name in numbers(size, "v")],
            "auditAnnotations": [{"key": name, "valueExpression": "'a'"} for name in numbers(min(size, 20), "k")],
        }
        head = {"apiVersion": "admissionregistration.k8s.io/v1"}
        bound = {"policyName": "x", "validationActions": ["Deny", "Audit"]}
        secrets = f"{CORE}/secrets"
        secret = named({"apiVersion": "v1", "kind": "Secret", "stringData": dict.fromkeys(numbers(size, "k"), "v")})
        policies, bindings = (
            f"{ADMISSION}/validatingadmissionpolicies",
            f"{ADMISSION}/validatingadmissionpolicybindings",
        )
        return [
            Ask("POST", policies, named({**head, "kind": "ValidatingAdmissionPolicy", "spec": spec})),
            Ask("POST", bindings, named({**head, "kind": "ValidatingAdmissionPolicyBinding", "spec": bound})),
            Ask("POST", secrets, secret),
            Ask("DELETE", f"{secrets}/x"),
            Ask("DELETE", f"{bindings}/x"),
            Ask("DELETE", f"{policies}/x"),
        ]

    inside.assert_linear(make, [201, 201, 201, 200, 200, 200], 10)


def test_quotas(inside: Inside) -> None:
    """Of very many resources, and an object that many are asked about."""
    quotas, services = f"{CORE}/resourcequotas", f"{CORE}/services"

    def make(size: int) -> list[Ask]:
        hard = {f"count/{name}.example.com": "5" for name in numbers(size, "r")} | {"count/services": "1000"}
        ports = [{"name": name, "port": port} for port, name in enumerate(numbers(size, "p"), 1)]
        service = named({"apiVersion": "v1", "kind": "Service", "spec": {"ports": ports}})
        return [
            Ask("POST", quotas, named({"apiVersion": "v1", "kind": "ResourceQuota", "spec": {"hard": hard}})),
            Ask("POST", services, service),
            Ask("DELETE", f"{services}/x"),
            merge(f"{quotas}/x", {"spec": {"hard": {"pods": "1"}}}),
            Ask("DELETE", f"{quotas}/x"),
        ]

    inside.assert_linear(make, [201, 201, 200, 200, 200])


def answer(**response: Any) -> bytes:
    head = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
    return json.dumps({**head, "response": {"uid": "u", "allowed": True, **response}}).encode()


ANSWERS: dict[str, Callable[[int], bytes]] = {
    "warnings": lambda size: answer(warnings=numbers(size, "w")),
    "annotations": lambda size: answer(auditAnnotations=dict.fromkeys(numbers(size, "a"), "v")),
    "a message": lambda size: answer(allowed=False, status={"message": "m" * size * 50}),
    "causes": lambda size: answer(
        allowed=False, status={"details": {"causes": [{"message": name, "field": name} for name in numbers(size, "c")]}}
    ),
    "unknown": lambda size: answer(**dict.fromkeys(numbers(size, "u"), 1)),
    "a patch": lambda size: answer(patch=base64.b64encode(b"[" * size * 50).decode(), patchType="JSONPatch"),
    "no review": lambda size: b'{"a":' * size,
    "escapes": lambda size: b'{"a":"' + b'\\"' * size * 20,
}


@pytest.mark.parametrize("form", ANSWERS)
def test_answers_of_webhooks(form: str) -> None:
    scheme = make_review_scheme("admission.k8s.io")

    def read(raw: bytes) -> None:
        calls._check_v1(webhookreviews.decode_review(raw, calls.REVIEWS, "admission.k8s.io/v1", scheme), "u", True)

    assert_linear(read, ANSWERS[form], 200, (webhookreviews.InvalidReview,))


def test_patches_of_webhooks() -> None:
    def make(size: int) -> tuple[Object, bytes]:
        steps = [{"op": "add", "path": f"/data/{name}", "value": "v"} for name in numbers(size, "k")]
        steps += [{"op": "remove", "path": f"/data/{name}"} for name in numbers(size, "k")]
        obj = named({"apiVersion": "v1", "kind": "ConfigMap", "data": dict.fromkeys(numbers(size, "d"), "v")})
        return obj, json.dumps(steps).encode()

    assert_linear(lambda given: patches.apply_json_patch(*given), make, 100, (APIError, patches.InvalidChange))


PATHS = [".a", "[*]", "['a']", "..a", "[0]", "[?(@.a=='b')]", "{.a}", "[", "'", "\\.", "[1:2]", "[0,1,2]"]


@pytest.mark.parametrize("part", PATHS)
def test_paths(part: str) -> None:
    def look(path: str) -> None:
        jsonpath.parse_path(path)

    assert_linear(look, lambda size: part * size, 200, (ValueError,))


def test_the_audit_log() -> None:
    """Headers, users, bodies and answers."""

    def tell(size: int) -> None:
        request = HTTPRequest.of("POST", "/x", {"x-forwarded-for": "1.1.1.1," * size, "user-agent": "é" * size * 20})
        request.peer = "2.2.2.2"
        auditor._find_source_ips(request)
        auditor._cut_user_agent(request.headers["user-agent"])
        names = numbers(size, "n")
        _ = User("u", "", tuple(names), dict.fromkeys(names, ("v",))).info
        body = {"metadata": {"name": "x", "managedFields": [{}] * size}, "items": [{"metadata": {}}] * size}
        sent = auditor.read_body(
            json.dumps(body).encode(), "application/json", Attributes("create"), Registry().find_struct
        )
        auditor._encode_event({"requestObject": sent})

    assert_linear(tell, lambda size: size, 200, charged=False)  # which is done on the loop
