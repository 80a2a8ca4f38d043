"""May somebody do something: the seam between those who ask and those who decide."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from podless.auth.attributes import Attributes
from podless.auth.rules import PolicyRule
from podless.auth.user import User


class Decision(NamedTuple):
    """Yes or no. reason: why, where there is something to tell; error: what went wrong in finding out."""

    allowed: bool
    reason: str = ""
    error: str = ""


class Authorizer(Protocol):
    """Decides from what is in force now."""

    def allowed(self, user: User, asked: Attributes) -> bool:
        """Whether the user may do it."""

    def decide(self, user: User, asked: Attributes) -> Decision:
        """The same with the reason."""

    def slow(self, user: User, *asked: Attributes) -> bool:
        """Whether a decision takes so long that it is to be made in slices."""

    def rules(self, user: User, namespace: str) -> tuple[list[PolicyRule], list[str]]:
        """All rules that hold for the user in a namespace ("": those that hold everywhere), and what went wrong."""

    def missing(self, user: User, namespace: str, wanted: Iterable[PolicyRule]) -> tuple[list[PolicyRule], list[str]]:
        """The parts of some rules that the user does not hold in a namespace, and what went wrong."""

    def role(self, kind: str, name: str, namespace: str) -> list[PolicyRule] | None:
        """The rules of a Role or ClusterRole, or None where there is none of the name."""


class AllowAll:
    """Everybody may do everything."""

    def allowed(self, user: User, asked: Attributes) -> bool:
        return True

    def decide(self, user: User, asked: Attributes) -> Decision:
        return Decision(True)

    def slow(self, user: User, *asked: Attributes) -> bool:
        return False

    def rules(self, user: User, namespace: str) -> tuple[list[PolicyRule], list[str]]:
        everything = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
        return [everything, {"verbs": ["*"], "nonResourceURLs": ["*"]}], []

    def missing(self, user: User, namespace: str, wanted: Iterable[PolicyRule]) -> tuple[list[PolicyRule], list[str]]:
        return [], []

    def role(self, kind: str, name: str, namespace: str) -> list[PolicyRule] | None:
        """Nobody has to be held to what a role grants."""
        return None
