"""Acting as somebody else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.auth import impersonation
from podless.auth.attributes import Attributes
from podless.auth.authorizer import AllowAll, Decision
from podless.auth.denied import Denied
from podless.auth.user import User
from podless.meta.errors import BadRequest

ALICE = User("alice", "", ("system:authenticated",))


class Only(AllowAll):
    """Allows some things, and notes what it is asked."""

    def __init__(self, *allowed: tuple[str, str, str]) -> None:
        self._allowed = set(allowed)
        self.asked: list[Attributes] = []

    def allowed(self, user: User, asked: Attributes) -> bool:
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
    other = impersonation.wanted(WANTED)
    assert other is not None
    acted = impersonation.act(Only(*RIGHTS), ALICE, other)
    assert (acted.name, acted.uid, acted.groups) == ("zoe", "u", ("crew", "devs", "system:authenticated"))
    assert acted.extra == {"acme.com/project": ("one", "two")}
    for missing in RIGHTS:
        with pytest.raises(Denied):
            impersonation.act(Only(*(set(RIGHTS) - {missing})), ALICE, other)


def test_a_service_account_has_the_groups_of_its_namespace() -> None:
    other = impersonation.wanted({"impersonate-user": "system:serviceaccount:ns:robot"})
    assert other is not None
    only = Only(("serviceaccounts", "", "robot"))
    acted = impersonation.act(only, ALICE, other)
    assert acted.groups == ("system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated")
    assert only.asked[0].namespace == "ns"


def test_nobody_in_particular_is_not_authenticated() -> None:
    other = impersonation.wanted({"impersonate-user": "system:anonymous"})
    assert other is not None
    acted = impersonation.act(Only(("users", "", "system:anonymous")), ALICE, other)
    assert acted.groups == ("system:unauthenticated",)


NAMES = st.sampled_from([*WANTED, "impersonate-extra-", "impersonate-other", "host"])


@given(st.dictionaries(NAMES, st.text(max_size=8)))
def test_headers_are_a_user_or_nobody_or_refused(headers: dict[str, str]) -> None:
    try:
        other = impersonation.wanted(headers)
    except BadRequest:
        assert not headers.get("impersonate-user", "").split("\n")[0]
        return
    assert (other is not None) == bool(headers.get("impersonate-user", "").split("\n")[0])
