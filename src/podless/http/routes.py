"""Checks which verbs the collections, objects and subresources of a kind support, and makes the errors for others.

Built-in kinds have a route for each path and method; custom kinds are checked verb by verb. As on a real server, the
errors differ.
"""

from __future__ import annotations

from podless.http.info import RequestInfo
from podless.kinds.kind import Kind
from podless.meta.errors import BadRequest, MethodNotAllowed, NotServed, PageNotFound
from podless.verbs.call import Call
from podless.verbs.patch import find_media_type

_EVERYWHERE = ("list", "watch")  # verbs that work on all namespaces together
_ON_SUBRESOURCES = {"get", "update", "patch"}


def check_route(call: Call, info: RequestInfo, method: str) -> None:
    """Check that the path exists and supports the verb, except for rules that depend on the subresource.

    Raises PageNotFound, NotServed, MethodNotAllowed, UnsupportedMediaType or BadRequest.
    """
    if call.kind.custom:
        _check_custom(call, info)
    else:
        _check_builtin(call, info, method)


def _check_custom(call: Call, info: RequestInfo) -> None:
    kind, verb = call.kind, info.attributes.verb
    if kind.namespaced != info.namespaced and not (kind.namespaced and verb in _EVERYWHERE):
        raise PageNotFound
    if call.version.deprecated:
        call.warnings.append(kind.deprecation_warning(call.version))
    if info.attributes.subresource:
        return
    if not info.name and verb in ("update", "patch"):
        if verb == "patch":
            find_media_type(call)
        raise BadRequest("name must be provided")
    if verb not in kind.verbs and not (kind.terminating and verb and not info.prefix == "proxy"):
        raise not_allowed(kind, verb)


def _check_builtin(call: Call, info: RequestInfo, method: str) -> None:
    kind, verb = call.kind, info.verb
    deep = info.has_extra_segments and not _allows_any_path(kind, info.attributes.subresource)
    if deep or info.prefix == "proxy" or (kind.virtual and info.name):
        raise NotServed
    if kind.namespaced != info.namespaced:
        if not kind.namespaced or info.name or "list" not in kind.verbs:
            raise NotServed
        if verb not in _EVERYWHERE:
            raise not_allowed(kind, verb)
    if info.attributes.subresource:
        return
    unnamed = verb in ("update", "patch") and not info.name
    named = verb == "create" and info.name
    if info.prefix and "watch" not in kind.verbs:
        raise NotServed
    if verb not in kind.verbs or unnamed or named or method == "HEAD" or (info.prefix and method != "GET"):
        if call.version.deprecated and _has_list_route(kind, verb):
            call.warnings.append(kind.deprecation_warning(call.version))
        raise not_allowed(kind, verb)


def _has_list_route(kind: Kind, verb: str) -> bool:
    """Return whether the route of lists of a built-in kind gets this verb: it also gets watches."""
    return verb == "watch" and "list" in kind.verbs


def _allows_any_path(kind: Kind, subresource: str) -> bool:
    """Return whether any path may follow the subresource."""
    return subresource == "proxy" and kind.find_subresource(subresource) is not None


def check_subresource(call: Call, info: RequestInfo, method: str) -> None:
    """Check that the version has the subresource with this verb. Raises NotFound, NotServed or MethodNotAllowed."""
    kind = call.kind
    if call.subresource not in kind.list_subresources(call.version):
        raise call.not_found() if kind.custom else NotServed
    subresource = kind.find_subresource(call.subresource)
    proxied = method == "OPTIONS" and _allows_any_path(kind, call.subresource)
    if info.verb not in (_ON_SUBRESOURCES if subresource is None else subresource.verbs) and not proxied:
        raise not_allowed(kind, info.verb)


def not_allowed(kind: Kind, verb: str) -> MethodNotAllowed:
    """Return the error for a verb that the kind does not support."""
    if not kind.custom and not _has_list_route(kind, verb):
        return MethodNotAllowed("the server does not allow this method on the requested resource")
    details = {"group": kind.group, "kind": kind.plural} if kind.group else {"kind": kind.plural}
    return MethodNotAllowed(f'{verb} is not supported on resources of kind "{kind.resource}"', details)
