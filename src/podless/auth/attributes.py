"""The attributes of a request that authorization needs, and the error for a denied one."""

from __future__ import annotations

from typing import NamedTuple

from podless.auth.user import User
from podless.codec.gotext import quote
from podless.meta.errors import APIError, describe_object, qualify_resource


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


# the header of answers that a real server's filters for authorization and impersonation give
NO_SNIFF: tuple[tuple[str, str], ...] = (("X-Content-Type-Options", "nosniff"),)


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
    resource = f"{attributes.resource}/{attributes.subresource}" if attributes.subresource else attributes.resource
    scope = f"in the namespace {quote(attributes.namespace)}" if attributes.namespace else "at the cluster scope"
    return f"{start} resource {quote(resource)} in API group {quote(attributes.group)} {scope}"
