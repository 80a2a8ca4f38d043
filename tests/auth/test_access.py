"""Users, roles and rights as a client of a running server meets them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from podless import Server
from tests.conftest import Client

RBAC = "/apis/rbac.authorization.k8s.io/v1"
CONFIG = "/api/v1/namespaces/default/configmaps"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    tokens = tmp_path_factory.mktemp("tokens") / "tokens.csv"
    tokens.write_text('alice-token,alice,u1,"devs"\nbob-token,bob,u2\n')
    with Server(token_file=tokens) as server:
        yield server


@pytest.fixture
def admin(served: Server) -> Client:
    return Client(served.url, served.token)


@pytest.fixture
def alice(served: Server) -> Client:
    return Client(served.url, "alice-token")


def rule(*verbs: str, resource: str = "configmaps", **more: Any) -> dict[str, Any]:
    return {"apiGroups": [""], "resources": [resource], "verbs": list(verbs), **more}


def role(name: str, *rules: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": name}, "rules": list(rules)}


def bind(binding: str, role: str, subject: str) -> dict[str, Any]:
    """Subject and role as kind/name."""
    names = [dict(zip(("kind", "name"), text.split("/"), strict=True)) for text in (role, subject)]
    return {"metadata": {"name": binding}, "roleRef": names[0], "subjects": names[1:]}


def test_a_change_is_in_force_for_the_next_request(admin: Client, alice: Client) -> None:
    assert alice.send("GET", CONFIG).status == 403
    admin.send("POST", f"{RBAC}/namespaces/default/roles", role("reader", rule("list")))
    assert alice.send("GET", CONFIG).status == 403
    admin.send("POST", f"{RBAC}/namespaces/default/rolebindings", bind("b", "Role/reader", "Group/devs"))
    assert alice.send("GET", CONFIG).status == 200
    assert alice.send("GET", "/api/v1/namespaces/kube-system/configmaps").status == 403
    admin.send("PUT", f"{RBAC}/namespaces/default/roles/reader", role("reader", rule("get")))
    assert alice.send("GET", CONFIG).status == 403
    admin.send("PUT", f"{RBAC}/namespaces/default/roles/reader", role("reader", rule("*")))
    assert alice.send("GET", CONFIG).status == 200
    admin.send("DELETE", f"{RBAC}/namespaces/default/rolebindings/b")
    assert alice.send("GET", CONFIG).status == 403
    admin.send("DELETE", f"{RBAC}/namespaces/default/roles/reader")


def test_a_binding_to_nothing_says_so(admin: Client, alice: Client) -> None:
    admin.send("POST", f"{RBAC}/clusterrolebindings", bind("lost", "ClusterRole/gone", "User/alice"))
    message = alice.send("GET", CONFIG).body["message"]
    assert message.endswith(': RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found')
    admin.send("DELETE", f"{RBAC}/clusterrolebindings/lost")


def test_rules_are_gathered_before_the_write_is_answered(admin: Client, alice: Client) -> None:
    gather = {"clusterRoleSelectors": [{"matchLabels": {"part": "of-whole"}}]}
    admin.send("POST", f"{RBAC}/clusterroles", {"metadata": {"name": "whole"}, "aggregationRule": gather})
    admin.send("POST", f"{RBAC}/clusterrolebindings", bind("w", "ClusterRole/whole", "User/alice"))
    part = role("part", rule("list"))
    part["metadata"]["labels"] = {"part": "of-whole"}
    admin.send("POST", f"{RBAC}/clusterroles", part)
    assert alice.send("GET", CONFIG).status == 200
    assert admin.send("GET", f"{RBAC}/clusterroles/whole").body["rules"] == part["rules"]
    admin.send("DELETE", f"{RBAC}/clusterroles/part")
    assert alice.send("GET", CONFIG).status == 403
    assert admin.send("GET", f"{RBAC}/clusterroles/whole").body["rules"] == []
    admin.send("DELETE", f"{RBAC}/clusterrolebindings/w")


def test_view_edit_and_admin_hold_each_other(admin: Client) -> None:
    found = {name: admin.send("GET", f"{RBAC}/clusterroles/{name}").body["rules"] for name in ("view", "edit", "admin")}
    assert all(one in found["edit"] for one in found["view"])
    assert all(one in found["admin"] for one in found["edit"])
    assert not any("secrets" in one["resources"] for one in found["view"])


def test_nobody_gathers_without_holding_everything(admin: Client, alice: Client) -> None:
    everything = rule("create", "get", "update", resource="clusterroles", apiGroups=["rbac.authorization.k8s.io"])
    admin.send("POST", f"{RBAC}/clusterroles", role("maker", everything))
    admin.send("POST", f"{RBAC}/clusterrolebindings", bind("m", "ClusterRole/maker", "User/alice"))
    gather = {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}
    refused = alice.send("POST", f"{RBAC}/clusterroles", {"metadata": {"name": "g"}, "aggregationRule": gather})
    assert refused.status == 403
    assert "must have cluster-admin privileges to use the aggregationRule" in refused.body["message"]
    admin.send("DELETE", f"{RBAC}/clusterrolebindings/m")


def test_several_groups_come_in_headers_of_their_own(served: Server, admin: Client) -> None:
    who = {"Impersonate_User": "zoe", "Impersonate_Group": "crew, the first"}
    found = admin.send("GET", CONFIG, **who)
    assert found.status == 403
    assert found.body["message"].startswith('configmaps is forbidden: User "zoe" cannot list')


def test_no_user_is_nobody(served: Server) -> None:
    nobody = Client(served.url, "")
    assert nobody.send("GET", "/version", Authorization="").status == 200
    assert nobody.send("GET", "/version", Authorization="Basic abc").status == 200
    refused = nobody.send("GET", "/api", Authorization="")
    assert (refused.status, refused.body["message"]) == (
        403,
        'forbidden: User "system:anonymous" cannot get path "/api"',
    )
    assert nobody.send("GET", "/version", Authorization="Bearer nonsense").status == 401


def test_without_anonymous_access_everybody_has_to_say_who_they_are() -> None:
    with Server(anonymous=False) as server:
        assert Client(server.url, "").send("GET", "/healthz", Authorization="").status == 401


def test_always_allow_lets_everybody_do_everything_who_is_known(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens.csv"
    tokens.write_text("alice-token,alice,u1\n")
    with Server(token_file=tokens, authorization="AlwaysAllow") as server:
        assert Client(server.url, "alice-token").send("GET", "/api/v1/namespaces").status == 200
        assert Client(server.url, "").send("GET", "/api/v1/namespaces", Authorization="").status == 401


def test_default_roles_are_mended_at_the_start_and_left_alone_where_asked(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        client = Client(server.url, server.token)
        kept = client.send("GET", f"{RBAC}/clusterroles/system:discovery").body
        kept["metadata"]["annotations"] = {"rbac.authorization.kubernetes.io/autoupdate": "false"}
        client.send("PUT", f"{RBAC}/clusterroles/system:discovery", kept | {"rules": []})
        client.send("PUT", f"{RBAC}/clusterroles/system:basic-user", role("system:basic-user", rule("get")))
        client.send("DELETE", f"{RBAC}/clusterrolebindings/cluster-admin")
        untouched = client.send("GET", f"{RBAC}/clusterroles/view").body
    with Server(tmp_path) as server:
        client = Client(server.url, server.token)
        assert client.send("GET", f"{RBAC}/clusterroles/system:discovery").body["rules"] == []
        mended = client.send("GET", f"{RBAC}/clusterroles/system:basic-user").body["rules"]
        assert mended[0] == rule("get")
        assert {"selfsubjectreviews"} == set(mended[-1]["resources"])
        assert client.send("GET", f"{RBAC}/clusterrolebindings/cluster-admin").status == 200
        assert client.send("GET", f"{RBAC}/clusterroles/view").body == untouched


@pytest.mark.parametrize("query", ["watch=1", "watch=", "w%61tch=true", "a=b&watch=True&watch=0", "watch=%31"])
def test_no_spelling_of_a_watch_is_a_list(admin: Client, alice: Client, query: str) -> None:
    admin.send("POST", f"{RBAC}/namespaces/default/roles", role("lister", rule("list")))
    admin.send("POST", f"{RBAC}/namespaces/default/rolebindings", bind("lists", "Role/lister", "User/alice"))
    assert alice.send("GET", CONFIG).status == 200
    refused = alice.send("GET", f"{CONFIG}?{query}&timeoutSeconds=1")
    assert (refused.status, refused.body["reason"]) == (403, "Forbidden")
    assert alice.send("GET", "/api/v1/watch/namespaces/default/configmaps?timeoutSeconds=1").status == 403
    admin.send("DELETE", f"{RBAC}/namespaces/default/rolebindings/lists")


@pytest.mark.parametrize("path", ["/api/v1/namespaces/default%2Fsecrets", "/api/v1/namespaces/default/secrets/"])
def test_a_path_is_what_it_leads_to(admin: Client, alice: Client, path: str) -> None:
    admin.send("POST", f"{RBAC}/namespaces/default/roles", role("namer", rule("*", resource="namespaces")))
    admin.send("POST", f"{RBAC}/namespaces/default/rolebindings", bind("names", "Role/namer", "User/alice"))
    assert alice.send("GET", "/api/v1/namespaces/default").status == 200
    refused = alice.send("GET", path)
    assert (refused.status, refused.body["details"]["kind"]) == (403, "secrets")
    admin.send("DELETE", f"{RBAC}/namespaces/default/rolebindings/names")


def test_an_update_that_makes_an_object_needs_the_right_to_create(admin: Client, alice: Client) -> None:
    leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
    changing = rule("update", "patch", "get", resource="leases", apiGroups=["coordination.k8s.io"])
    admin.send("POST", f"{RBAC}/namespaces/default/roles", role("renewer", changing))
    admin.send("POST", f"{RBAC}/namespaces/default/rolebindings", bind("renews", "Role/renewer", "User/alice"))
    lease = {"metadata": {"name": "made"}, "spec": {}}
    refused = alice.send("PUT", f"{leases}/made", lease)
    assert (refused.status, "cannot create resource" in refused.body["message"]) == (403, True)
    apply = {"Content_Type": "application/apply-patch+yaml"}
    applied = lease | {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}
    assert alice.send("PATCH", f"{leases}/made?fieldManager=a", applied, **apply).status == 403
    made = admin.send("POST", leases, lease).body
    assert alice.send("PUT", f"{leases}/made", made).status == 200
    admin.send("DELETE", f"{RBAC}/namespaces/default/rolebindings/renews")
