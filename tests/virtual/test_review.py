"""Questions that are answered and not stored."""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextvars import copy_context
from typing import Any

import pytest

from podless.auth.rbac import RBAC
from podless.auth.user import User
from podless.codec import serializer
from podless.runtime.meter import METER, CPUMeter
from podless.structs import protobuf
from podless.structs.structfiles import load_struct
from podless.virtual import review
from tests.conftest import Client

SELF_SUBJECT_ACCESS_REVIEW = load_struct("authorization/v1", "SelfSubjectAccessReview")

ACCESS = "/apis/authorization.k8s.io/v1"
RBAC_PATH = "/apis/rbac.authorization.k8s.io/v1"
WHO = "/apis/authentication.k8s.io/v1"
ATTRIBUTES = "resourceAttributes"
ASKED = {"resource": "secrets", "verb": "list", "namespace": "default"}


def test_an_answer_comes_in_protobuf_too(client: Client) -> None:
    body = {"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "metadata": {}, "status": {}}
    sent = protobuf.write_object(SELF_SUBJECT_ACCESS_REVIEW, body | {"spec": {"resourceAttributes": ASKED}})
    path = f"{ACCESS}/selfsubjectaccessreviews"
    answer = client.send("POST", path, sent, Content_Type=protobuf.MEDIA, Accept=protobuf.MEDIA)
    assert answer.status == 201
    read = protobuf.read_object(answer.body, SELF_SUBJECT_ACCESS_REVIEW)
    assert (read["status"], read["kind"]) == ({"allowed": True}, "SelfSubjectAccessReview")
    assert read["spec"] == {"resourceAttributes": ASKED}


def test_nothing_is_stored(client: Client) -> None:
    for path, body in (
        (f"{ACCESS}/selfsubjectaccessreviews", {"spec": {"resourceAttributes": ASKED}}),
        (f"{WHO}/selfsubjectreviews", {}),
    ):
        answer = client.send("POST", path, body)
        assert answer.status == 201
        assert not {"uid", "resourceVersion"} & answer.body["metadata"].keys()  # what all that is stored has


def test_questions_have_no_names(client: Client) -> None:
    body = {"metadata": {"name": "x"}, "spec": {"resourceAttributes": ASKED}}
    refused = client.send("POST", f"{ACCESS}/selfsubjectaccessreviews", body)
    assert refused.status == 422
    assert [cause["field"] for cause in refused.body["details"]["causes"]] == ["metadata"]


@pytest.mark.parametrize("path", [f"{ACCESS}/subjectaccessreviews", f"{WHO}/tokenreviews"])
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_a_question_can_only_be_asked(client: Client, path: str, method: str) -> None:
    assert client.send(method, path).status == 405


def test_discovery_tells_of_them(client: Client) -> None:
    listed = client.send("GET", ACCESS).body["resources"]
    assert {one["name"]: one["verbs"] for one in listed} == {
        "localsubjectaccessreviews": ["create"],
        "selfsubjectaccessreviews": ["create"],
        "selfsubjectrulesreviews": ["create"],
        "subjectaccessreviews": ["create"],
    }
    assert not any("storageVersionHash" in one for one in listed)
    core = {resource["name"]: resource for resource in client.send("GET", "/api/v1").body["resources"]}
    assert core["serviceaccounts/token"] == {
        "name": "serviceaccounts/token",
        "singularName": "",
        "namespaced": True,
        "group": "authentication.k8s.io",
        "version": "v1",
        "kind": "TokenRequest",
        "verbs": ["create"],
    }


def test_the_documents_of_the_api_have_them(client: Client) -> None:
    found = client.send("GET", "/openapi/v3/apis/authorization.k8s.io/v1").body
    assert list(found["paths"]["/apis/authorization.k8s.io/v1/subjectaccessreviews"]) >= ["post"]
    core = client.send("GET", "/openapi/v3/api/v1").body
    posted = core["paths"]["/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"]["post"]
    assert posted["operationId"] == "createCoreV1NamespacedServiceAccountToken"
    assert posted["x-kubernetes-group-version-kind"]["kind"] == "TokenRequest"
    assert "io.k8s.api.authentication.v1.TokenRequest" in core["components"]["schemas"]


def test_selectors_of_a_question_are_text_or_requirements(client: Client) -> None:
    def causes(**selectors: object) -> list[str]:
        spec = {"resourceAttributes": ASKED | selectors}
        answer = client.send("POST", f"{ACCESS}/selfsubjectaccessreviews", {"spec": spec})
        return [cause["field"] for cause in answer.body.get("details", {}).get("causes", [])]

    start = "spec.resourceAttributes."
    known = {"key": "a", "operator": "In", "values": ["b"]}
    assert causes(fieldSelector={"rawSelector": "a=b"}, labelSelector={"requirements": [known]}) == []
    assert causes(labelSelector={"requirements": [known | {"operator": "Later"}]}) == []
    assert causes(fieldSelector={}) == [f"{start}fieldSelector.requirements"]
    assert causes(labelSelector={"rawSelector": "a", "requirements": [known]}) == [f"{start}labelSelector.rawSelector"]
    odd = {"operator": "Exists", "values": ["b"]}
    assert causes(fieldSelector={"requirements": [odd]}) == [
        f"{start}fieldSelector.requirements[0].key",
        f"{start}fieldSelector.requirements[0].values",
    ]


@pytest.mark.parametrize("method", ["GET", "PUT", "POST", "DELETE"])
def test_reviews_have_no_names(client: Client, method: str) -> None:
    assert client.send(method, "/apis/authentication.k8s.io/v1/tokenreviews/x", {}).status == 404


def test_reviews_have_metadata_and_no_tables(client: Client) -> None:
    path, form = "/apis/authentication.k8s.io/v1/selfsubjectreviews", "application/json;g=meta.k8s.io;v=v1;as="
    assert client.send("POST", path, {}, Accept=f"{form}Table").status == 406
    assert client.send("POST", path, {}, Accept=f"{form}PartialObjectMetadata").body["kind"] == "PartialObjectMetadata"
    refused = client.send("POST", path, {}, Accept=f"{form}PartialObjectMetadataList")
    assert "is not a list (*authentication.SelfSubjectReview)" in refused.body["message"]


@pytest.mark.parametrize(
    ("selectors", "wanted"),
    [
        ({"labelSelector": {"rawSelector": "a=b"}, "fieldSelector": {"rawSelector": "a=b"}}, None),
        ({"labelSelector": {"rawSelector": "a in ("}}, "labelSelector ignored"),
        (
            {"fieldSelector": {"requirements": [{"key": "a", "operator": "Exists"}]}},
            "fieldSelector ignored",
        ),
        (
            {
                "labelSelector": {
                    "requirements": [
                        {"key": "a", "operator": "Exists"},
                        {"key": "b", "operator": "Foo"},
                    ]
                }
            },
            "labelSelector partially ignored",
        ),
    ],
)
def test_what_of_a_selector_cannot_be_read_is_told(client: Client, selectors: Any, wanted: str | None) -> None:
    body = {"spec": {"resourceAttributes": ASKED | selectors}}
    status = client.send("POST", f"{ACCESS}/selfsubjectaccessreviews", body).body["status"]
    text = f"spec.resourceAttributes.{wanted} due to parse error"
    assert status.get("evaluationError") == (text if wanted else None)


def test_the_collector_rests_while_many_rules_are_told(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    enabled: list[bool] = []
    real = RBAC.list_rules

    def rules(self: RBAC, user: User, namespace: str) -> Any:
        enabled.append(gc.isenabled())
        return real(self, user, namespace)

    monkeypatch.setattr(RBAC, "list_rules", rules)
    answer = client.send("POST", f"{ACCESS}/selfsubjectrulesreviews", {"spec": {"namespace": "default"}})
    assert answer.status == 201
    assert enabled == [False]


def test_many_rules_are_told_in_pieces_in_each_form(client: Client) -> None:
    rule = {"apiGroups": ["example.com"], "verbs": ["get"], "resources": ["things"]}
    rules = [rule | {"resourceNames": [f"name{number}"]} for number in range(3000)]
    subject = {"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "system:masters"}
    reference = {"kind": "ClusterRole", "apiGroup": "rbac.authorization.k8s.io", "name": "many"}
    named = {"metadata": {"name": "many"}}
    assert client.send("POST", f"{RBAC_PATH}/clusterroles", named | {"rules": rules}).status == 201
    bound = named | {"roleRef": reference, "subjects": [subject]}
    assert client.send("POST", f"{RBAC_PATH}/clusterrolebindings", bound).status == 201
    path, spec = f"{ACCESS}/selfsubjectrulesreviews", {"spec": {"namespace": "default"}}
    plain = client.send("POST", path, spec)
    pretty = client.send("POST", f"{path}?pretty=true", spec)
    yaml = client.send("POST", path, spec, Accept="application/yaml")
    assert len(plain.body["status"]["resourceRules"]) > 3000
    assert plain.body == pretty.body == serializer.decode_yaml(yaml.body)
    for answer in (plain, pretty, yaml):
        assert answer.status == 201
        assert answer.headers["Transfer-Encoding"] == "chunked"


class _Counter(CPUMeter):
    """Counts the charges."""

    count = 0

    def check_time(self) -> None:
        self.count += 1
        self.steps_left = 0


@pytest.mark.parametrize("look", [review._attribute_errors, lambda spec: review.unread_warnings(spec[ATTRIBUTES])])
def test_each_requirement_of_a_selector_is_charged(look: Callable[[Any], object]) -> None:
    meter = _Counter(3600.0)
    meter.steps_left = 0
    requirements = [{"key": f"a{number}", "operator": "In", "values": ["x"]} for number in range(1000)]
    context = copy_context()
    context.run(METER.set, meter)
    context.run(look, {ATTRIBUTES: ASKED | {"labelSelector": {"requirements": requirements}}})
    assert meter.count >= len(requirements)
