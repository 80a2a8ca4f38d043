"""Statements hold or do not, and a first suite is made of a definition."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from podless.check import CannotCheck, SourceFile, initial, suites
from tests import webhooks
from tests.apis.test_offline import definition

WHY = "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1"
HEAD = {"apiVersion": "example.com/v1", "kind": "Gadget"}
ADMISSION = "admissionregistration.k8s.io/v1"
RULE = {
    "apiGroups": ["example.com"],
    "apiVersions": ["*"],
    "operations": ["CREATE", "UPDATE"],
    "resources": ["gadgets"],
}
POLICY = {
    "apiVersion": ADMISSION,
    "kind": "ValidatingAdmissionPolicy",
    "metadata": {"name": "small"},
    "spec": {
        "matchConstraints": {"resourceRules": [RULE]},
        "validations": [
            {"expression": "request.userInfo.username != 'eve' || object.spec.size < 3", "message": "not you"}
        ],
    },
}
BINDING = {
    "apiVersion": ADMISSION,
    "kind": "ValidatingAdmissionPolicyBinding",
    "metadata": {"name": "small"},
    "spec": {"policyName": "small", "validationActions": ["Deny"]},
}


def gadget(**spec: Any) -> dict[str, Any]:
    return {**HEAD, "metadata": {"name": "a"}, "spec": spec}


def said(folder: Path, *tests: dict[str, Any], resources: list[str] | None = None) -> list[str]:
    text = yaml.safe_dump({"resources": ["crd.json"] if resources is None else resources, "tests": [*tests]})
    found = suites.run_suites([SourceFile.of(str(folder / "suite.yaml"), text.encode())])
    assert found.objects == len(tests) or found.findings
    return [f"{finding.about or finding.path}: {finding.message}" for finding in found.findings]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    version: dict[str, Any] = definition()["spec"]["versions"][0]
    versions = [{**version, "name": name, "storage": name == "v1"} for name in ("v1", "v2")]
    (tmp_path / "crd.json").write_text(json.dumps(definition(versions=versions)))
    (tmp_path / "policy.yaml").write_text(yaml.safe_dump_all([POLICY, BINDING]))
    (tmp_path / "good.json").write_text(json.dumps(gadget(size=2)))
    return tmp_path


def test_what_is_stated_holds(folder: Path) -> None:
    small = {"spec": {"size": 2, "color": "red"}}
    assert not said(
        folder,
        {"name": "good", "file": "good.json", "result": small},
        {"name": "small", "object": gadget(size=0), "expect": "refused", "path": "spec.size", "message": "equal to"},
        {"name": "rule", "object": gadget(size=11), "expect": "refused", "message": "too big"},
        {"name": "patched", "old": gadget(size=1), "patch": {"spec": {"size": 2}}, "result": small},
        {"name": "json", "old": gadget(size=1), "patchType": "json", "patch": [{"op": "remove", "path": "/spec/size"}],
         "expect": "refused"},
        {"name": "update", "old": gadget(size=1), "object": gadget(size=3), "result": {"spec": {"size": 3}}},
        {"name": "other", "object": gadget(size=1), "convert": "v2", "result": {"apiVersion": "example.com/v2"}},
    )  # fmt: skip


def test_what_does_not_hold_is_said(folder: Path) -> None:
    assert said(
        folder,
        {"name": "a", "object": gadget(size=1), "expect": "refused"},
        {"name": "b", "object": gadget(size=0)},
        {"name": "c", "object": gadget(size=0), "expect": "refused", "path": "spec.color"},
        {"name": "d", "object": gadget(size=0), "expect": "refused", "message": "odd"},
        {"name": "e", "object": gadget(size=1), "result": {"spec": {"color": "blue"}}},
        {"name": "f", "old": gadget(size=0), "object": gadget(size=1)},
        {"name": "g", "object": {**gadget(), "kind": "Odd"}},
    ) == [
        "a: accepted",
        f'b: rejected: Gadget.example.com "a" is invalid: {WHY}',
        f'c: rejected for other fields (spec.size): Gadget.example.com "a" is invalid: {WHY}',
        f'd: rejected with another message: Gadget.example.com "a" is invalid: {WHY}',
        "e: spec.color is 'red', not 'blue'",
        f'f: the old object is rejected: Gadget.example.com "a" is invalid: {WHY}',
        'g: no matches for kind "Odd" in version "example.com/v1"',
    ]


def test_policies_know_who_asks(folder: Path) -> None:
    assert not said(
        folder,
        {"name": "eve", "object": gadget(size=5), "user": "eve", "expect": "refused", "message": "not you"},
        {"name": "bob", "object": gadget(size=5), "user": "bob", "groups": ["devs"]},
        {"name": "eve, small", "object": gadget(size=2), "user": "eve"},
        resources=["crd.json", "policy.yaml"],
    )


def test_webhooks_of_services_are_asked_where_the_suite_says(tmp_path: Path) -> None:
    def answer(review: Any) -> Any:
        request, response = review["request"], {"uid": review["request"]["uid"]}
        if review["kind"] == "ConversionReview":
            objects = [{**entry, "apiVersion": request["desiredAPIVersion"]} for entry in request["objects"]]
            return {**review, "response": {**response, "result": {"status": "Success"}, "convertedObjects": objects}}
        status = {"message": "asked at the right place"}
        return {**review, "response": {**response, "allowed": False, "status": status}}

    def config(path: str) -> dict[str, Any]:
        return {"service": {"name": "hooks", "namespace": "default", "path": path}}

    version = definition()["spec"]["versions"][0]
    webhook = {"conversionReviewVersions": ["v1"], "clientConfig": config("/convert")}
    more = {"versions": [version, {**version, "name": "v2", "storage": False}]}
    crd = definition(**more, conversion={"strategy": "Webhook", "webhook": webhook})
    hook = {
        "name": "gadgets.example.com",
        "rules": [{**RULE, "operations": ["UPDATE"]}],
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "clientConfig": config("admit"),
    }
    kind = "ValidatingWebhookConfiguration"
    judge = {"apiVersion": ADMISSION, "kind": kind, "metadata": {"name": "judge"}, "webhooks": [hook]}
    (tmp_path / "all.json").write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [crd, judge]}))
    with webhooks.webhook(answer) as running:
        (tmp_path / "ca.crt").write_bytes(base64.b64decode(running.bundle))
        refused = {"expect": "refused", "message": "asked at the right place"}
        suite = {
            "resources": ["all.json"],
            "webhooks": {"url": running.url, "caFile": "ca.crt"},
            "tests": [
                {"name": "read", "object": gadget(size=1), "convert": "v2", "result": {"apiVersion": "example.com/v2"}},
                {"name": "kept", "old": gadget(size=1), "object": gadget(size=2), **refused},
                {"name": "moved", "old": gadget(size=1), "object": gadget(size=2)},
            ],
        }
        report = suites.run_suites([SourceFile.of(str(tmp_path / "suite.yaml"), yaml.safe_dump(suite).encode())])
    assert {path.partition("?")[0] for path in running.paths} == {"/convert", "/admit"}
    assert len(report.findings) == 1
    assert "asked at the right place" in str(report.findings[0])


def test_a_suite_that_is_none(folder: Path) -> None:
    assert said(folder, {"object": gadget()}) == ["tests[0].name: Required value"]
    assert said(folder, {"name": "a"}) == ["tests[0]: a test has an object, a file or a patch"]
    assert said(folder, {"name": "a", "object": {}, "odd": 1}) == [': unknown field "tests[0].odd"']
    with pytest.raises(CannotCheck, match="does not exist"):
        said(folder, {"name": "a", "object": gadget()}, resources=["nowhere"])


RULES = [
    {"rule": "self.min <= self.max", "message": "min above max"},
    {"rule": "self.name == oldSelf.name", "message": "name is immutable"},
]
RICH = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 8},
        "min": {"type": "integer", "minimum": 0, "default": 1},
        "max": {"type": "integer", "maximum": 9, "default": 5},
        "mode": {"type": "string", "enum": ["fast", "safe"]},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
    },
    "x-kubernetes-validations": RULES,
}


def test_a_first_suite_holds_and_states_every_bound(tmp_path: Path) -> None:
    schema = {"openAPIV3Schema": {"type": "object", "required": ["spec"], "properties": {"spec": RICH}}}
    crd = definition(versions=[{"name": "v1", "served": True, "storage": True, "schema": schema}])
    (tmp_path / "crd.json").write_text(json.dumps(crd))
    text = initial.make_suite(str(tmp_path / "crd.json"))
    suite = yaml.safe_load(text)
    suite["resources"] = ["crd.json"]
    names = {test["name"] for test in suite["tests"]}
    assert names >= {
        "the smallest object",
        "spec.name is required",
        "spec.name has a pattern",
        "spec.name has at most 8 characters",
        "spec.min is at least 0",
        "spec.max is at most 9",
        "spec.mode has one of some values",
        "spec.tags has at most 2 items",
        "rejected: min above max",
        "rejected: name is immutable",
    }
    assert "no object was found" not in text
    raw = yaml.safe_dump(suite).encode()
    assert not suites.run_suites([SourceFile.of(str(tmp_path / "suite.yaml"), raw)]).findings
