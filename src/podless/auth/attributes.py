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


class AccessDenied(APIError):
    """A 403: the user lacks the permission. reason: from the authorizer."""

    code, reason = 403, "Forbidden"

    def __init__(self, user: User, asked: Attributes, reason: str = "") -> None:
        end = f": {reason}" if reason else ""
        super().__init__(f"{_subject(asked)}forbidden: {_sentence(user, asked)}{end}", _details(asked))


def _subject(asked: Attributes) -> str:
    if not asked.resource:
        return ""
    name = f" {quote(asked.name)}" if asked.name else ""
    return f"{qualify_resource(asked.resource, asked.group)}{name} is "


def _sentence(user: User, asked: Attributes) -> str:
    start = f"User {quote(user.name)} cannot {asked.verb}"
    if asked.path:
        return f"{start} path {quote(asked.path)}"
    resource = f"{asked.resource}/{asked.subresource}" if asked.subresource else asked.resource
    where = f"in the namespace {quote(asked.namespace)}" if asked.namespace else "at the cluster scope"
    return f"{start} resource {quote(resource)} in API group {quote(asked.group)} {where}"


def _details(asked: Attributes) -> dict[str, str]:
    return describe_object(asked.name, asked.group, asked.resource)
