"""The authorizer in expressions: builds authorization checks step by step, and returns their results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from podless.cel.errors import EvaluationError
from podless.cel.values import NAMES
from podless.meta import names
from podless.runtime.dataclass import dataclass


class AccessCheck(NamedTuple):
    """An authorization check. account: (namespace, name) of a service account to use instead of the requesting user."""

    verb: str
    path: str = ""
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    account: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class AccessDecision:
    """The result of a check: whether it is allowed, the reason, and the error if the check failed.

    kubernetes.authorization.Decision.
    """

    allowed: bool
    reason: str = ""
    error: str = ""


Authorize = Callable[[AccessCheck], AccessDecision]


@dataclass(frozen=True, slots=True)
class PathCheck:
    """kubernetes.authorization.PathCheck."""

    _authorize: Authorize
    _check: AccessCheck

    def check(self, verb: str) -> AccessDecision:
        """Check a verb: an HTTP method for a path."""
        return self._authorize(self._check._replace(verb=verb))


class ResourceCheck(PathCheck):
    """kubernetes.authorization.ResourceCheck."""

    __slots__ = ()

    def subresource(self, text: str) -> ResourceCheck:
        """Return the check for a subresource."""
        return replace(self, _check=self._check._replace(subresource=text))

    def namespace(self, text: str) -> ResourceCheck:
        """Return the check in a namespace."""
        return replace(self, _check=self._check._replace(namespace=text))

    def name(self, text: str) -> ResourceCheck:
        """Return the check for one object."""
        return replace(self, _check=self._check._replace(name=text))

    def fieldSelector(self, text: str) -> ResourceCheck:  # noqa: N802
        """Return the same check: no authorizer here uses field selectors."""
        return self

    def labelSelector(self, text: str) -> ResourceCheck:  # noqa: N802
        """Return the same check: no authorizer here uses label selectors."""
        return self


@dataclass(frozen=True, slots=True)
class GroupCheck:
    """kubernetes.authorization.GroupCheck."""

    _authorize: Authorize
    _check: AccessCheck

    def resource(self, text: str) -> ResourceCheck:
        """Return a check of a resource of the group. Raises EvaluationError."""
        if not text.strip():
            raise EvaluationError("resource must not be empty")
        return ResourceCheck(self._authorize, self._check._replace(resource=text))


@dataclass(frozen=True, slots=True)
class AuthorizerValue:
    """kubernetes.authorization.Authorizer. _authorize: performs checks."""

    _authorize: Authorize
    _account: tuple[str, str] | None = None

    def path(self, text: str) -> PathCheck:
        """Return a check of a path. Raises EvaluationError."""
        if not text.strip():
            raise EvaluationError("path must not be empty")
        return PathCheck(self._authorize, AccessCheck("", path=text, account=self._account))

    def group(self, text: str) -> GroupCheck:
        """Return a check of an API group."""
        return GroupCheck(self._authorize, AccessCheck("", group=text, account=self._account))

    def serviceAccount(self, namespace: str, name: str) -> AuthorizerValue:  # noqa: N802
        """Return the authorizer for a service account. Raises EvaluationError."""
        if names.check_subdomain(name):
            raise EvaluationError("Invalid service account name")
        if names.check_label_name(namespace):
            raise EvaluationError("Invalid service account namespace")
        return AuthorizerValue(self._authorize, (namespace, name))

    def check_object(self, group: str, resource: str, subresource: str, namespace: str, name: str) -> ResourceCheck:
        """Return a check for one object."""
        return ResourceCheck(
            self._authorize, AccessCheck("", "", group, resource, subresource, namespace, name, self._account)
        )


# the classes by their names in Kubernetes
CLASS_NAMES = {
    AuthorizerValue: "Authorizer",
    PathCheck: "PathCheck",
    GroupCheck: "GroupCheck",
    ResourceCheck: "ResourceCheck",
    AccessDecision: "Decision",
}
NAMES.update({kind: f"kubernetes.authorization.{name}" for kind, name in CLASS_NAMES.items()})
