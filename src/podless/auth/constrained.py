"""Constrained impersonation: impersonating a user for some verbs only.

A user needs the permission to impersonate (the verb impersonate:MODE on users, groups ... of authentication.k8s.io) and
the permission to make the request as the impersonated user (impersonate-on:MODE:VERB on the resource). There is one
mode for nodes, one for service accounts and one for all other users. Source: "Constrained impersonation" of the
Kubernetes documentation (KEP 5284).
"""

from __future__ import annotations

import re

from podless.auth.attributes import Attributes
from podless.auth.authorizer import Authorizer
from podless.auth.user import MASTERS, User, of_account, parse_account
from podless.meta import names

_GROUP = "authentication.k8s.io"
_NODE = "system:node:"
_NODES = "system:nodes"
_MANY = 4  # with this many groups or extra values, the permission for all of them is checked first
_KEY = re.compile(r"([^/]+)/([A-Za-z0-9/\-._~%!$&'()*+,;=:]+)")


def allowed_groups(authorizer: Authorizer, user: User, other: User, asked: Attributes) -> tuple[str, ...] | None:
    """Return the groups of the impersonated user, None if the request as that user is not permitted."""
    mode, place, given = _mode(other)
    if not mode or not authorizer.is_allowed(user, asked._replace(verb=f"impersonate-on:{mode}:{asked.verb}")):
        return None

    def may(resource: str, name: str, namespace: str = "", sub: str = "") -> bool:
        wanted = Attributes(f"impersonate:{mode}", _GROUP, "v1", resource, sub, namespace, name)
        return authorizer.is_allowed(user, wanted)

    if not may(*place) or (other.uid and not may("uids", other.uid)):
        return None
    if "" in other.groups or MASTERS in other.groups or not all(map(_sound, other.extra.items())):
        return None
    everyone = len(other.groups) >= _MANY and may("groups", "*")
    if not everyone and not all(may("groups", group) for group in other.groups):
        return None
    values = [(key, value) for key, held in other.extra.items() for value in held]
    everything = len(values) >= _MANY and may("userextras", "*", sub="*")
    if not everything and not all(may("userextras", value, sub=key) for key, value in values):
        return None
    return given


def _mode(other: User) -> tuple[str, tuple[str, str, str], tuple[str, ...]]:
    """Return the mode for an impersonated user, its resource, name and namespace, and its groups; "" for no mode."""
    plain = not (other.uid or other.groups or other.extra)
    node = other.name.removeprefix(_NODE)
    known = parse_account(other.name)
    if other.name.startswith(_NODE) and not names.check_subdomain(node):
        return "arbitrary-node" if plain else "", ("nodes", node, ""), (_NODES,)
    if known is not None:
        namespace, name = known
        return "serviceaccount" if plain else "", ("serviceaccounts", name, namespace), of_account(*known).groups
    return "user-info", ("users", other.name, ""), other.groups


def _sound(extra: tuple[str, tuple[str, ...]]) -> bool:
    """Return whether the key is a path under a domain, in lower case, and no value is empty."""
    key, values = extra
    match = _KEY.fullmatch(key)
    return (
        match is not None
        and not names.check_subdomain(match[1])
        and key == key.lower()
        and all(values)
        and bool(values)
    )
