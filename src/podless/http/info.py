"""The request line: its query, and its attributes, computed once: the verb, and the resource or the path.

Source: the request attributes of Kubernetes' "Authorization" page, and the paths of its API concepts.
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, unquote_plus

from podless.auth.authorizer import Attributes
from podless.meta import names, selectors
from podless.meta.errors import BadRequest
from podless.runtime.bounded import bounded_cache

_SECRET = "access_token"  # a bearer token in the query (RFC 6750, section 2.3)
_MASKED = "[masked]"
_HEX = frozenset("0123456789abcdefABCDEF")
_VERBS = {"GET": "get", "HEAD": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_ATTRIBUTE_PARAMETERS = ("watch", "fieldSelector")  # query parameters that change the attributes
# subresources of namespaces; other names in their place are resources in the namespace
_OF_A_NAMESPACE = {"status", "finalize"}
_PREFIXES = ("watch", "proxy")
_LONG_VERBS = ("watch", "proxy")
_LONG_SUBRESOURCES = ("attach", "exec", "log", "portforward", "proxy")
_ANY_NAME = "-"  # stands for any name
_new = tuple.__new__  # the constructor of the named tuples, without their Python-level __new__


@bounded_cache(1024)
def parse_query(query: str) -> dict[str, list[str]]:
    """Return the query parameters in order. The result is shared: do not change it."""
    result: dict[str, list[str]] = {}
    if ";" in query or "%" in query:
        query = "&".join(filter(_is_sound, query.split("&")))
    for name, value in parse_qsl(query, keep_blank_values=True):
        result.setdefault(name, []).append(value)
    return result


def _is_sound(parameter: str) -> bool:
    """Return whether Go accepts a parameter: no semicolon, and sound escapes."""
    return ";" not in parameter and has_sound_escapes(parameter)


def has_sound_escapes(text: str) -> bool:
    """Return whether two hexadecimal digits follow each %."""
    return all(len(segment) > 1 and _HEX.issuperset(segment[:2]) for segment in text.split("%")[1:])


def mask_query(query: str) -> str:
    """Return the raw query for a log, without bearer tokens."""
    if "%" not in query and _SECRET not in query.lower():
        return query
    return "&".join(map(_mask_parameter, query.split("&")))


def _mask_parameter(parameter: str) -> str:
    name, _, value = parameter.partition("=")
    return f"{name}={_MASKED}" if value and _SECRET in unquote_plus(parameter).lower() else parameter


class UnclearPath(Exception):
    """A path names a verb (the old /watch/ and /proxy/), but no resource."""


class RequestInfo(NamedTuple):
    """The parsed request line."""

    # the attributes for authorization; its verb is the one that is carried out, "" for an unsupported method, its
    # resource is "" for other paths
    attributes: Attributes
    legacy: bool = False  # under /api (the core group)
    namespaced: bool = False  # the path names a namespace, in namespace
    namespace: str = ""
    name: str = ""  # as in the path, where a segment may be empty
    has_extra_segments: bool = False  # path segments behind the subresource
    prefix: str = ""  # the verb that the path names (the old /watch/ and /proxy/)
    # a text for everything but namespace and name, which all such requests share; "" for paths of no resource
    route_key: str = ""

    @property
    def verb(self) -> str:
        return self.attributes.verb

    @property
    def long_running(self) -> bool:
        """Whether the client decides how long the answer lasts, so that no deadline applies."""
        attributes = self.attributes
        return bool(attributes.resource) and (
            attributes.verb in _LONG_VERBS or attributes.subresource in _LONG_SUBRESOURCES
        )


class RequestLine(NamedTuple):
    """The first line of a request. path: decoded. query_text: as sent. unclear: the path has no clear attributes."""

    method: str
    path: str
    query_text: str
    info: RequestInfo
    unclear: bool = False


def parse_line(method: str, target: str) -> RequestLine:
    """Return the line of a request for a target. Raises ValueError for a path with an incomplete escape."""
    path, _, query = target.partition("?")
    if "%" in path:
        if not has_sound_escapes(path):
            raise ValueError(path)
        path = unquote(path)
    try:
        return _new(RequestLine, (method, path, query, request_info(method, path, query), False))
    except UnclearPath:
        return RequestLine(method, path, query, RequestInfo(Attributes(method.lower(), path=path)), unclear=True)


def request_info(method: str, path: str, query: str) -> RequestInfo:
    """Return the attributes of a request line. query: as sent. Raises UnclearPath."""
    parent, _, name = path.rpartition("/")
    shared = _object_info(f"{method} {parent}") if name and method != "POST" else None
    if shared is not None:
        attributes_of_any, legacy, namespaced, namespace, _, _, _, route_key = shared
        attributes = _new(Attributes, (*attributes_of_any[:6], name, ""))
        return _new(RequestInfo, (attributes, legacy, namespaced, namespace, name, False, "", route_key))
    if query and "%" not in query and not any(name in query for name in _ATTRIBUTE_PARAMETERS):
        query = ""
    return _path_info(method, path, query)


@bounded_cache(1024)
def _object_info(method_and_parent: str) -> RequestInfo | None:
    """Return the attributes of a request for any object at a path; None if the last segment is not a name.

    method_and_parent: the method, a space, and the path above the object. Objects share the attributes, so that the
    cache needs no entry for each object.
    """
    method, _, parent = method_and_parent.partition(" ")
    info = _path_info(method, f"{parent}/{_ANY_NAME}", "")
    is_object = info.name == info.attributes.name == _ANY_NAME and not info.attributes.subresource and not info.prefix
    return info if is_object and info.attributes.namespace == info.namespace else None


@bounded_cache(1024)
def _path_info(method: str, path: str, query: str) -> RequestInfo:
    split = _split_path(path)
    if split is None:
        return RequestInfo(Attributes(method.lower(), path=path))
    legacy, group, version, segments = split
    verb, prefix = _VERBS.get(method, ""), ""
    if segments[0] in _PREFIXES:
        if len(segments) == 1:
            raise UnclearPath
        verb = prefix = segments[0]
        segments = segments[1:]
    namespace, namespaced = "", False
    if segments[0] == "namespaces" and len(segments) > 2 and not (legacy and segments[2] in _OF_A_NAMESPACE):
        namespace, namespaced, segments = segments[1], bool(segments[1]), segments[2:]
    resource = segments[0]
    name = required_name = segments[1] if len(segments) > 1 else ""
    subresource = segments[2] if len(segments) > 2 and prefix != "proxy" else ""
    if not name and verb == "get":
        verb, required_name = _listing_verb(query)
    elif not name and verb == "delete":
        verb = "deletecollection"
    scope = namespace if namespaced or resource != "namespaces" else name
    attributes = Attributes(verb, group, version, resource, subresource, scope, required_name)
    deep = len(segments) > 3
    form = f"{method} {prefix or verb} {name_scope(attributes)} {namespaced:d}{bool(name):d}{deep:d}{bool(prefix):d}"
    route_key = ""  # segments contain no slash; no group is below /apis/ without a name
    if resource and (legacy or group):
        route_key = f"{form} {group}/{version}/{resource}/{subresource}"
    return RequestInfo(attributes, legacy, namespaced, namespace, name, deep, prefix, route_key)


def name_scope(attributes: Attributes) -> str:
    """Return what a request concerns, in the words of a real server's metrics: resource, namespace or cluster."""
    if attributes.name or attributes.verb == "create":
        return "resource"
    return "namespace" if attributes.namespace else "cluster"


def _split_path(path: str) -> tuple[bool, str, str, list[str]] | None:
    """Return whether the path is of the core group, the group, the version, and the rest; None for other paths."""
    segments = path.strip("/").split("/") if not path.startswith("//") else [""]
    if segments[0] == "api" and len(segments) > 2:
        return True, "", segments[1], segments[2:]
    if segments[0] == "apis" and len(segments) > 3:
        return False, segments[1], segments[2], segments[3:]
    return None


def _listing_verb(query: str) -> tuple[str, str]:
    """Return (list or watch, the name that a field selector on metadata.name requires)."""
    parameters = parse_query(query) if query else {}
    watch = parameters.get("watch")
    verb = "watch" if watch and watch[0].lower() not in ("false", "0") else "list"
    try:
        name = selectors.parse_fields(parameters.get("fieldSelector", [""])[0]).find_exact("metadata.name") or ""
    except BadRequest:
        name = ""
    return verb, "" if names.check_path_segment(name) else name
