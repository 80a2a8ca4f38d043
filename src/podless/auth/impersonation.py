"""Impersonation: the Impersonate- headers, and the permissions that they need.

Constrained impersonation is that of a user for some verbs only. A user needs the permission to impersonate (the verb
impersonate:MODE on users, groups ... of authentication.k8s.io) and the permission to make the request as the
impersonated user (impersonate-on:MODE:VERB on the resource). There is one mode for nodes, one for service accounts and
one for all other users. Source: "User impersonation" and "Constrained impersonation" (KEP 5284) of the Kubernetes
documentation, and recorded answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from podless.auth.authorizer import NO_SNIFF, AccessDenied, Attributes, Authorizer
from podless.auth.user import ANONYMOUS, AUTHENTICATED, MASTERS, UNAUTHENTICATED, User, account_user, parse_account
from podless.codec.gotext import quote
from podless.meta import names
from podless.meta.errors import BadRequest
from podless.runtime.release import has

_GROUP = "authentication.k8s.io"
_NODE = "system:node:"
_NODES = "system:nodes"
_EXTRA = "impersonate-extra-"
_CHECK_ALL_FIRST = 4  # with this many groups or extra values, the permission for all of them is checked first
_KEY = re.compile(r"([^/]+)/([A-Za-z0-9/\-._~%!$&'()*+,;=:]+)")


def allowed_groups(authorizer: Authorizer, user: User, target: User, attributes: Attributes) -> tuple[str, ...] | None:
    """Return the groups of the impersonated user, None if the request as that user is not permitted."""
    mode, scope, groups = _find_mode(target)
    if not mode or not authorizer.is_allowed(
        user, attributes._replace(verb=f"impersonate-on:{mode}:{attributes.verb}")
    ):
        return None

    def may_impersonate(resource: str, name: str, namespace: str = "", sub: str = "") -> bool:
        question = Attributes(f"impersonate:{mode}", _GROUP, "v1", resource, sub, namespace, name)
        return authorizer.is_allowed(user, question)

    if not may_impersonate(*scope) or (target.uid and not may_impersonate("uids", target.uid)):
        return None
    if "" in target.groups or MASTERS in target.groups or not all(map(_is_valid_extra, target.extra.items())):
        return None
    everyone = len(target.groups) >= _CHECK_ALL_FIRST and may_impersonate("groups", "*")
    if not everyone and not all(may_impersonate("groups", group) for group in target.groups):
        return None
    values = [(key, value) for key, extra_values in target.extra.items() for value in extra_values]
    every_value = len(values) >= _CHECK_ALL_FIRST and may_impersonate("userextras", "*", sub="*")
    if not every_value and not all(may_impersonate("userextras", value, sub=key) for key, value in values):
        return None
    return groups


def _find_mode(impersonated: User) -> tuple[str, tuple[str, str, str], tuple[str, ...]]:
    """Return the mode for an impersonated user, its resource, name and namespace, and its groups; "" for no mode."""
    plain = not (impersonated.uid or impersonated.groups or impersonated.extra)
    node = impersonated.name.removeprefix(_NODE)
    account = parse_account(impersonated.name)
    if impersonated.name.startswith(_NODE) and not names.check_subdomain(node):
        return "arbitrary-node" if plain else "", ("nodes", node, ""), (_NODES,)
    if account is not None:
        namespace, name = account
        return "serviceaccount" if plain else "", ("serviceaccounts", name, namespace), account_user(*account).groups
    return "user-info", ("users", impersonated.name, ""), impersonated.groups


def _is_valid_extra(extra: tuple[str, tuple[str, ...]]) -> bool:
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


class NoImpersonatedName(BadRequest):
    """400: the headers give groups or other parts of a user without a name."""

    headers = NO_SNIFF


def read_headers(headers: Mapping[str, str]) -> User | None:
    """Return the user in the Impersonate- headers, None without them. Raises BadRequest.

    headers: by lower-case name; several values of one are separated by line breaks.
    """
    name = headers.get("impersonate-user", "")
    groups = tuple(headers["impersonate-group"].split("\n")) if "impersonate-group" in headers else ()
    extra = {
        unquote(key.removeprefix(_EXTRA)): tuple(value.split("\n"))
        for key, value in sorted(headers.items())
        if key.startswith(_EXTRA)
    }
    user = User(name.split("\n")[0], headers.get("impersonate-uid", "").split("\n")[0], groups, extra)
    if user.name:
        return user
    if user.uid or groups or extra:
        if has("ImpersonationAsUser"):
            raise NoImpersonatedName(f"requested {_format_user(user)} without impersonating a user name")
        raise NoImpersonatedName(f"requested [{' '.join(_list_references(user))}] without impersonating a user")
    return None


def impersonate_user(authorizer: Authorizer, user: User, impersonated: User, attributes: Attributes) -> User:
    """Return the impersonated user, with the groups that its name implies. attributes: the request.

    Raises AccessDenied.
    """
    groups = allowed_groups(authorizer, user, impersonated, attributes)
    if groups is None:
        groups = _unconstrained_groups(authorizer, user, impersonated)
    if impersonated.name == ANONYMOUS.name:
        added_group = UNAUTHENTICATED
    else:
        added_group = "" if UNAUTHENTICATED in groups else AUTHENTICATED
    if added_group and added_group not in groups:
        groups = (*groups, added_group)
    return User(impersonated.name, impersonated.uid, groups, impersonated.extra)


def list_checks(impersonated: User, attributes: Attributes) -> tuple[Attributes, ...]:
    """Return typical checks for each namespace in which `impersonate_user` checks something."""
    account = parse_account(impersonated.name)
    return (attributes,) if account is None else (attributes, Attributes("impersonate", namespace=account[0]))


def _unconstrained_groups(authorizer: Authorizer, user: User, impersonated: User) -> tuple[str, ...]:
    """Return the groups of a user, if impersonation without constraints is permitted. Raises AccessDenied."""
    for needed in _list_attributes(impersonated):
        if not authorizer.is_allowed(user, needed):
            raise AccessDenied(user, needed, authorizer.decide(user, needed).reason)
    account = parse_account(impersonated.name)
    return account_user(*account).groups if account is not None and not impersonated.groups else impersonated.groups


def _list_attributes(impersonated: User) -> list[Attributes]:
    """Return the checks that unconstrained impersonation of a user needs."""
    account = parse_account(impersonated.name)
    if account is None:
        attributes = [Attributes("impersonate", "", "v1", "users", "", "", impersonated.name)]
    else:
        attributes = [Attributes("impersonate", "", "v1", "serviceaccounts", "", *account)]
    if impersonated.uid:
        attributes.append(Attributes("impersonate", _GROUP, "v1", "uids", "", "", impersonated.uid))
    attributes += [Attributes("impersonate", "", "v1", "groups", "", "", group) for group in impersonated.groups]
    for key, values in impersonated.extra.items():
        attributes += [Attributes("impersonate", _GROUP, "v1", "userextras", key, "", value) for value in values]
    return attributes


def _format_user(user: User) -> str:
    """Return the user as Go formats it."""
    groups = f"[]string{_format_values(user.groups)}" if user.groups else "[]string(nil)"
    extra = "map[string][]string(nil)"
    if user.extra:
        entries = ", ".join(f"{quote(key)}:[]string{_format_values(values)}" for key, values in user.extra.items())
        extra = f"map[string][]string{{{entries}}}"
    return f"&user.DefaultInfo{{Name:{quote(user.name)}, UID:{quote(user.uid)}, Groups:{groups}, Extra:{extra}}}"


def _list_references(user: User) -> Iterator[str]:
    """Yield the impersonated parts other than a user name, as Go formats an ObjectReference."""
    for group in user.groups:
        yield f"{{Group  {group}    }}"
    for key, values in user.extra.items():
        for value in values:
            yield f"{{UserExtra  {value}  {_GROUP}/v1  {key}}}"
    if user.uid:
        yield f"{{UID  {user.uid}  {_GROUP}/v1  }}"


def _format_values(values: tuple[str, ...]) -> str:
    return f"{{{', '.join(map(quote, values))}}}"
