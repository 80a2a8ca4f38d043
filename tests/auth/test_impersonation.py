"""Acting as somebody else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.auth import impersonation
from podless.auth.authorizer import AccessDenied, AllowAll, Attributes, Decision
from podless.auth.user import User
from podless.meta.errors import BadRequest

ASKED = Attributes("list", "g.io", "v1", "cogs", "", "ns")
ALICE = User("alice", "", ("system:authenticated",))


class Only(AllowAll):
    """Allows some things, and notes what it is asked."""

    def __init__(self, *allowed: tuple[str, str, str]) -> None:
        self._allowed = set(allowed)
        self.asked: list[Attributes] = []

    def is_allowed(self, user: User, asked: Attributes) -> bool:
        self.asked.append(asked)
        return (asked.resource, asked.subresource, asked.name) in self._allowed

    def decide(self, user: User, asked: Attributes) -> Decision:
        return Decision((asked.resource, asked.subresource, asked.name) in self._allowed)


WANTED = {
    "impersonate-user": "zoe",
    "impersonate-uid": "u",
    "impersonate-group": "crew\ndevs",
    "impersonate-extra-acme.com%2fproject": "one\ntwo",
}
RIGHTS = (
    ("users", "", "zoe"),
    ("uids", "", "u"),
    ("groups", "", "crew"),
    ("groups", "", "devs"),
    ("userextras", "acme.com/project", "one"),
    ("userextras", "acme.com/project", "two"),
)


def test_every_part_needs_a_right_of_its_own() -> None:
    other = impersonation.read_headers(WANTED)
    assert other is not None
    acted = impersonation.impersonate_user(Only(*RIGHTS), ALICE, other, ASKED)
    assert (acted.name, acted.uid, acted.groups) == ("zoe", "u", ("crew", "devs", "system:authenticated"))
    assert acted.extra == {"acme.com/project": ("one", "two")}
    for missing in RIGHTS:
        with pytest.raises(AccessDenied):
            impersonation.impersonate_user(Only(*(set(RIGHTS) - {missing})), ALICE, other, ASKED)


def test_a_service_account_has_the_groups_of_its_namespace() -> None:
    other = impersonation.read_headers({"impersonate-user": "system:serviceaccount:ns:robot"})
    assert other is not None
    only = Only(("serviceaccounts", "", "robot"))
    acted = impersonation.impersonate_user(only, ALICE, other, ASKED)
    assert acted.groups == ("system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated")
    assert all(asked.namespace == "ns" for asked in only.asked)


def test_nobody_in_particular_is_not_authenticated() -> None:
    other = impersonation.read_headers({"impersonate-user": "system:anonymous"})
    assert other is not None
    acted = impersonation.impersonate_user(Only(("users", "", "system:anonymous")), ALICE, other, ASKED)
    assert acted.groups == ("system:unauthenticated",)


class Rights(AllowAll):
    """Allows verbs on resources."""

    def __init__(self, *allowed: tuple[str, str]) -> None:
        self._allowed = set(allowed)

    def is_allowed(self, user: User, asked: Attributes) -> bool:
        return (asked.verb, asked.resource) in self._allowed

    def decide(self, user: User, asked: Attributes) -> Decision:
        return Decision(self.is_allowed(user, asked))


@pytest.mark.parametrize(
    ("mode", "name", "resource", "groups"),
    [
        ("user-info", "zoe", "users", ("system:authenticated",)),
        ("arbitrary-node", "system:node:n1", "nodes", ("system:nodes", "system:authenticated")),
        (
            "serviceaccount",
            "system:serviceaccount:ns:robot",
            "serviceaccounts",
            ("system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"),
        ),
    ],
)
def test_one_may_act_as_somebody_for_one_verb_only(
    mode: str, name: str, resource: str, groups: tuple[str, ...]
) -> None:
    rights = Rights((f"impersonate-on:{mode}:list", "cogs"), (f"impersonate:{mode}", resource))
    other = User(name)
    assert impersonation.impersonate_user(rights, ALICE, other, ASKED).groups == groups
    for asked in (ASKED._replace(verb="get"), ASKED._replace(resource="gears")):
        with pytest.raises(AccessDenied):
            impersonation.impersonate_user(rights, ALICE, other, asked)
    with pytest.raises(AccessDenied):
        impersonation.impersonate_user(Rights((f"impersonate-on:{mode}:list", "cogs")), ALICE, other, ASKED)
    with pytest.raises(AccessDenied):
        impersonation.impersonate_user(Rights((f"impersonate:{mode}", resource)), ALICE, other, ASKED)


def test_nobody_becomes_a_master_for_one_verb() -> None:
    needed = [("impersonate:user-info", name) for name in ("users", "groups")]
    rights = Rights(("impersonate-on:user-info:list", "cogs"), *needed)
    assert impersonation.impersonate_user(rights, ALICE, User("zoe", "", ("crew",)), ASKED).groups[0] == "crew"
    for group in ("system:masters", ""):
        with pytest.raises(AccessDenied):
            impersonation.impersonate_user(rights, ALICE, User("zoe", "", (group,)), ASKED)


NAMES = st.sampled_from([*WANTED, "impersonate-extra-", "impersonate-other", "host"])


@given(st.dictionaries(NAMES, st.text(max_size=8)))
def test_headers_are_a_user_or_nobody_or_refused(headers: dict[str, str]) -> None:
    try:
        other = impersonation.read_headers(headers)
    except BadRequest:
        assert not headers.get("impersonate-user", "").split("\n")[0]
        return
    assert (other is not None) == bool(headers.get("impersonate-user", "").split("\n")[0])
