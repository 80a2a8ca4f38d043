"""The walk of docs/how-to/users.md with the real kubectl: accounts, tokens, roles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from podless import Server

pytestmark = pytest.mark.clients


@pytest.fixture
def space(kubectl: Any) -> str:
    kubectl("create", "namespace", "users-walk")
    return "users-walk"


def test_a_program_gets_an_account_a_token_and_a_role(kubectl: Any, space: str, server: Server, tmp_path: Path) -> None:
    def there(*arguments: str) -> str:
        return str(kubectl("-n", space, *arguments))

    assert there("create", "serviceaccount", "robot") == "serviceaccount/robot created\n"
    token = there("create", "token", "robot", "--duration=8h").strip()
    config = json.loads(server.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": token}
    own = tmp_path / "robot"
    own.write_text(json.dumps(config))
    assert f"system:serviceaccount:{space}:robot" in kubectl("auth", "whoami", kubeconfig=own)
    assert "Forbidden" in there_as(kubectl, space, own, "get", "configmaps")
    created = there("create", "role", "reader", "--verb=get,list,watch", "--resource=configmaps")
    assert created == "role.rbac.authorization.k8s.io/reader created\n"
    there("create", "rolebinding", "robot-reads", "--role=reader", f"--serviceaccount={space}:robot")
    assert "Forbidden" not in there_as(kubectl, space, own, "get", "configmaps")
    assert there_as(kubectl, space, own, "auth", "can-i", "list", "configmaps") == "yes\n"
    assert there_as(kubectl, space, own, "auth", "can-i", "delete", "configmaps") == "no\n"
    listed = there_as(kubectl, space, own, "auth", "can-i", "--list")
    assert "configmaps" in listed
    assert "selfsubjectaccessreviews.authorization.k8s.io" in listed
    there("delete", "serviceaccount", "robot")
    assert "Unauthorized" in there_as(kubectl, space, own, "get", "configmaps")


def there_as(kubectl: Any, space: str, config: Path, *arguments: str) -> str:
    return str(kubectl("-n", space, *arguments, kubeconfig=config))


def test_a_token_can_be_bound_to_a_secret(kubectl: Any, space: str) -> None:
    kubectl("-n", space, "create", "serviceaccount", "tied")
    kubectl("-n", space, "create", "secret", "generic", "knot")
    bound = ("--bound-object-kind=Secret", "--bound-object-name=knot")
    token = kubectl("-n", space, "create", "token", "tied", *bound).strip()
    assert kubectl("auth", "whoami", f"--token={token}").startswith("ATTRIBUTE")
    kubectl("-n", space, "delete", "secret", "knot")
    assert "Unauthorized" in kubectl("auth", "whoami", f"--token={token}")


def test_reconcile_brings_roles_to_what_a_file_says(kubectl: Any, tmp_path: Path) -> None:
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "users-walk"},
        "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}],
    }
    (tmp_path / "role.json").write_text(json.dumps(role))
    assert "clusterrole.rbac.authorization.k8s.io/users-walk reconciled" in kubectl(
        "auth", "reconcile", "-f", "role.json"
    )
    role["rules"] = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]}]
    (tmp_path / "role.json").write_text(json.dumps(role))
    kubectl("auth", "reconcile", "-f", "role.json")
    assert "[get list]" in kubectl("describe", "clusterrole", "users-walk")
    kubectl("delete", "clusterrole", "users-walk")
