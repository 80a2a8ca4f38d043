"""What a request asks to be allowed: its verb and the resource or path, before anything is looked up.

Source: the request attributes of Kubernetes' "Authorization" page.
"""

from __future__ import annotations

from podless.auth.attributes import Attributes
from podless.http.info import parse
from podless.http.message import Request, parse_query
from podless.meta import names, selectors
from podless.meta.bounded import bounded_cache
from podless.meta.errors import BadRequest

_VERBS = {"GET": "get", "HEAD": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_TELLING = ("watch", "fieldSelector")  # query parameters that change what is asked for


def attributes(request: Request) -> Attributes:
    """What the request asks for."""
    query = request.query_text
    if query and "%" not in query and not any(name in query for name in _TELLING):
        query = ""
    return _attributes(request.method, request.path, query)


@bounded_cache(8192)
def _attributes(method: str, path: str, query: str) -> Attributes:
    info = parse(path)
    if info is None:
        return Attributes(method.lower(), path=path)
    verb, name = _VERBS.get(method, ""), info.name
    if info.watch and verb == "get":
        verb = "watch"
    elif not name and verb == "get":
        verb, name = _listing(query)
    elif not name and verb == "delete":
        verb = "deletecollection"
    namespace = info.namespace if info.namespaced or info.resource != "namespaces" else info.name
    subresource = info.subresource.partition("/")[0]
    return Attributes(verb, info.group, info.version, info.resource, subresource, namespace, name)


def _listing(query: str) -> tuple[str, str]:
    """list or watch, and the one name that a field selector allows."""
    given = parse_query(query) if query else {}
    watch = given.get("watch")
    verb = "watch" if watch and watch[0].lower() not in ("false", "0") else "list"
    try:
        name = selectors.parse_fields(given.get("fieldSelector", [""])[0]).exact("metadata.name") or ""
    except BadRequest:
        name = ""
    return verb, "" if names.path_segment(name) else name
