"""Of long bodies nothing is read or copied on the event loop, whatever they are sent to."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from podless.kinds import view
from podless.offload.offloop import LONG_BYTES
from podless.verbs import steps
from podless.virtual import review
from tests.conftest import Client

MANY = {f"k{number}": ["value"] for number in range(LONG_BYTES // 8)}
DEFAULT = "/api/v1/namespaces/default"
AUTHORIZATION = "/apis/authorization.k8s.io/v1"
GET = {"verb": "get", "resource": "pods"}
RULES = [{"verbs": ["get"], "apiGroups": [""], "resources": [f"r{number}"]} for number in range(LONG_BYTES // 64 + 1)]


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The names of those that read and copied."""
    seen: set[str] = set()

    def told(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            seen.add(threading.current_thread().name)
            return function(*given, **named)

        return call

    followed = (steps, "decode_body"), (view, "copy_object"), (review, "_make_subject"), (review, "_attribute_errors")
    for module, name in followed:
        monkeypatch.setattr(module, name, told(getattr(module, name)))
    return seen


def long(**fields: Any) -> dict[str, Any]:
    return {"metadata": {"name": "beside", "annotations": {"a": "a" * LONG_BYTES}}, **fields}


@pytest.mark.parametrize(
    ("method", "path", "sent", "status"),
    [
        ("POST", f"{DEFAULT}/services?dryRun=All", long(spec={"ports": [{"port": 1}]}), 201),
        (
            "POST",
            f"{AUTHORIZATION}/subjectaccessreviews",
            {"spec": {"user": "a", "extra": MANY, "resourceAttributes": GET}},
            201,
        ),
        (
            "POST",
            f"{AUTHORIZATION}/namespaces/default/localsubjectaccessreviews",
            {
                "metadata": {"namespace": "default"},
                "spec": {"user": "a", "extra": MANY, "resourceAttributes": GET | {"namespace": "default"}},
            },
            201,
        ),
        ("PUT", f"{DEFAULT}/finalize", long(spec={}), 400),
        (
            "POST",
            f"{DEFAULT}/serviceaccounts/default/token",
            {"spec": {"audiences": [f"audience-{key}" for key in MANY]}},
            201,
        ),
    ],
    ids=["service", "review", "local review", "finalize", "token"],
)
def test_a_long_body_is_for_another_thread(
    client: Client, threads: set[str], method: str, path: str, sent: Any, status: int
) -> None:
    answer = client.send(method, path, sent)
    assert answer.status == status, answer.body
    assert threads
    assert all(name.startswith("podless-off-loop") for name in threads)


def test_many_rules_are_shown_by_another_thread(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
    assert client.post(f"{roles}/roles", {"metadata": {"name": "beside"}, "rules": RULES}).status == 201
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "beside"}
    who = [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "beside"}]
    bound = {"metadata": {"name": "beside"}, "roleRef": ref, "subjects": who}
    assert client.post(f"{roles}/rolebindings", bound).status == 201
    seen: list[str] = []
    listed = review._format_rules

    def told(found: Any) -> Any:
        seen.append(threading.current_thread().name)
        return listed(found)

    monkeypatch.setattr(review, "_format_rules", told)
    asked = {"spec": {"namespace": "default"}}
    answer = client.send("POST", f"{AUTHORIZATION}/selfsubjectrulesreviews", asked, Impersonate_User="beside")
    assert len(answer.body["status"]["resourceRules"]) >= len(RULES)
    assert [name[: len("podless-off-loop")] for name in seen] == ["podless-off-loop"]
    client.send("DELETE", f"{roles}/rolebindings/beside")
    client.send("DELETE", f"{roles}/roles/beside")
