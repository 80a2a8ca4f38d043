"""Authorization: the attributes of a request, the interface of authorizers, and the error for a denied request."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

from podless.auth.user import User
from podless.codec.gotext import quote
from podless.meta.errors import APIError, describe_object, qualify_resource

PolicyRule = dict[str, Any]

# the header of answers that a real server's filters for authorization and impersonation give
NO_SNIFF: tuple[tuple[str, str], ...] = (("X-Content-Type-Options", "nosniff"),)


class Attributes(NamedTuple):
    """One authorization check.

    verb: of the API (get, list, deletecollection ...), or an HTTP method in lower case if path is set. path: of a
    non-resource request, "" for resources. namespace, name: "" for all.
    """

    verb: str
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""

    @property
    def full_resource(self) -> str:
        """The resource with the subresource, as rules name it: pods/log."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource


class Decision(NamedTuple):
    """A decision. reason: "" if there is none. error: what failed, "" for nothing."""

    allowed: bool
    reason: str = ""
    error: str = ""


class Authorizer(Protocol):
    """Decides by the current rules."""

    def is_allowed(self, user: User, attributes: Attributes) -> bool:
        """Return whether the user may make the request."""
        return self.decide(user, attributes).allowed

    def decide(self, user: User, attributes: Attributes) -> Decision:
        """Return the decision with its reason."""

    def decide_quickly(self, user: User, attributes: Attributes) -> Decision | None:
        """Return the decision, or None if it takes long enough to run in slices."""
        return None if self.is_costly(user, attributes) else self.decide(user, attributes)

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


class AllowAll(Authorizer):
    """Allows everything."""

    def decide(self, user: User, attributes: Attributes) -> Decision:
        return _YES

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


class AccessDenied(APIError, code=403, reason="Forbidden"):
    """A 403: the user lacks the permission. reason: from the authorizer."""

    headers = NO_SNIFF

    def __init__(self, user: User, attributes: Attributes, reason: str = "") -> None:
        end = f": {reason}" if reason else ""
        super().__init__(
            f"{_describe_subject(attributes)}forbidden: {_describe_denial(user, attributes)}{end}",
            describe_object(attributes.name, attributes.group, attributes.resource),
        )


def _describe_subject(attributes: Attributes) -> str:
    if not attributes.resource:
        return ""
    name = f" {quote(attributes.name)}" if attributes.name else ""
    return f"{qualify_resource(attributes.resource, attributes.group)}{name} is "


def _describe_denial(user: User, attributes: Attributes) -> str:
    start = f"User {quote(user.name)} cannot {attributes.verb}"
    if attributes.path:
        return f"{start} path {quote(attributes.path)}"
    scope = f"in the namespace {quote(attributes.namespace)}" if attributes.namespace else "at the cluster scope"
    return f"{start} resource {quote(attributes.full_resource)} in API group {quote(attributes.group)} {scope}"
