"""What a request's path asks for. Source: the paths of the Kubernetes API concepts, as recorded."""

from __future__ import annotations

from typing import NamedTuple

from podless.meta.bounded import bounded_cache


class RequestInfo(NamedTuple):
    """A path of the resource API, taken apart.

    legacy: under /api (the core group). namespaced: the path names a namespace. subresource: "" or what follows the
    name; several segments stay joined by slashes. watch: the old /watch/ prefix.
    """

    legacy: bool
    group: str
    version: str
    namespaced: bool
    namespace: str
    resource: str
    name: str
    subresource: str
    watch: bool


_OF_A_NAMESPACE = {"status", "finalize"}  # what follows a namespace's name and is no resource in it


@bounded_cache(8192)
def parse(path: str) -> RequestInfo | None:
    """The path of a resource, or None for all other paths (discovery, health ...)."""
    parts = path.strip("/").split("/") if not path.startswith("//") else []
    if not parts or "" in parts:
        return None
    if parts[0] == "api" and len(parts) > 2:
        legacy, group, version, rest = True, "", parts[1], parts[2:]
    elif parts[0] == "apis" and len(parts) > 3:
        legacy, group, version, rest = False, parts[1], parts[2], parts[3:]
    else:
        return None
    watch = rest[0] == "watch" and len(rest) > 1
    if watch:
        rest = rest[1:]
    namespace, namespaced = "", False
    if rest[0] == "namespaces" and len(rest) > 2 and not (legacy and rest[2] in _OF_A_NAMESPACE):
        namespace, namespaced, rest = rest[1], True, rest[2:]
    name = rest[1] if len(rest) > 1 else ""
    return RequestInfo(legacy, group, version, namespaced, namespace, rest[0], name, "/".join(rest[2:]), watch)
