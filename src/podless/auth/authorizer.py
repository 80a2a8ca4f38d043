"""The interface of authorizers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from podless.auth.attributes import Attributes
from podless.auth.rules import PolicyRule
from podless.auth.user import User


class Decision(NamedTuple):
    """A decision. reason: "" if there is none. error: what failed, "" for nothing."""

    allowed: bool
    reason: str = ""
    error: str = ""


class Authorizer(Protocol):
    """Decides by the current rules."""

    def is_allowed(self, user: User, attributes: Attributes) -> bool:
        """Return whether the user may make the request."""

    def decide(self, user: User, attributes: Attributes) -> Decision:
        """Return the decision with its reason."""

    def decide_quickly(self, user: User, attributes: Attributes) -> Decision | None:
        """Return the decision, or None if it takes long enough to run in slices."""

    def is_costly(self, user: User, *requests: Attributes) -> bool:
        """Return whether one of these decisions takes long enough to run in slices."""

    def list_rules(self, user: User, namespace: str) -> tuple[list[PolicyRule], list[str]]:
        """Return all rules of the user in a namespace ("": those that hold everywhere), and errors."""

    def find_missing_rules(
        self, user: User, namespace: str, rules: Iterable[PolicyRule]
    ) -> tuple[list[PolicyRule], list[str]]:
        """Return the parts of the wanted rules that the user does not hold in a namespace, and errors."""

    def find_role(self, kind: str, name: str, namespace: str) -> list[PolicyRule] | None:
        """Return the rules of a Role or ClusterRole, None if it does not exist."""


_YES = Decision(True)


class AllowAll:
    """Allows everything."""

    def is_allowed(self, user: User, attributes: Attributes) -> bool:
        return True

    def decide(self, user: User, attributes: Attributes) -> Decision:
        return _YES

    def decide_quickly(self, user: User, attributes: Attributes) -> Decision | None:
        return None if self.is_costly(user, attributes) else self.decide(user, attributes)

    def is_costly(self, user: User, *requests: Attributes) -> bool:
        return False

    def list_rules(self, user: User, namespace: str) -> tuple[list[PolicyRule], list[str]]:
        everything = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
        return [everything, {"verbs": ["*"], "nonResourceURLs": ["*"]}], []

    def find_missing_rules(
        self, user: User, namespace: str, rules: Iterable[PolicyRule]
    ) -> tuple[list[PolicyRule], list[str]]:
        return [], []

    def find_role(self, kind: str, name: str, namespace: str) -> list[PolicyRule] | None:
        """Return None: no role limits a user."""
        return None
