"""The words for what is not allowed."""

from __future__ import annotations

from podless.auth.authorizer import AccessDenied, Attributes
from podless.auth.user import User

ALICE = User("alice")


def test_a_resource_is_named_with_its_scope() -> None:
    refused = AccessDenied(ALICE, Attributes("get", "g.io", "v1", "cogs", "status", "ns", "one"))
    assert refused.message == (
        'cogs.g.io "one" is forbidden: User "alice" cannot get resource "cogs/status" in API group "g.io" '
        'in the namespace "ns"'
    )
    assert refused.details == {"name": "one", "group": "g.io", "kind": "cogs"}


def test_a_path_is_named_with_the_method() -> None:
    refused = AccessDenied(ALICE, Attributes("post", path="/healthz"))
    assert refused.message == 'forbidden: User "alice" cannot post path "/healthz"'
    assert refused.details == {}


def test_the_reason_stands_at_the_end() -> None:
    refused = AccessDenied(ALICE, Attributes("list", "", "v1", "secrets"), "no way")
    assert refused.message.endswith('in API group "" at the cluster scope: no way')
