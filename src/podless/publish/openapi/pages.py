"""OpenAPI paths that belong to no kind: versions, groups, resources, the release, token signing keys.

Each has its own version 3 document, except lists of resources, which are in those of their group-versions. Source: the
documents that kube-apiserver publishes.
"""

from __future__ import annotations

from collections.abc import Iterable

from podless.publish.openapi.routes import PathOperation, name_group
from podless.publish.openapi.standard import META, VERSION
from podless.runtime.bounded import bounded_cache

_JSON = ("application/json",)
_ISSUER = "ServiceAccountIssuerOpenID"
_PAGES = (
    PathOperation(
        "/api/", "getCoreAPIVersions", "core", "List the versions of the core group.", answer=f"{META}APIVersions"
    ),
    PathOperation(
        "/apis/", "getAPIVersions", "apis", "List the groups and their versions.", answer=f"{META}APIGroupList"
    ),
    PathOperation(
        "/version/",
        "getCodeVersion",
        "version",
        "Tell the server's release.",
        produces=_JSON,
        consumes=_JSON,
        answer=f"{VERSION}Info",
    ),
    PathOperation(
        "/.well-known/openid-configuration/",
        f"get{_ISSUER}Configuration",
        "WellKnown",
        "Tell who signs the tokens of service accounts.",
        produces=_JSON,
        consumes=(),
    ),
    PathOperation(
        "/openid/v1/jwks/",
        f"get{_ISSUER}Keyset",
        "openid",
        "List the keys that tokens of service accounts are checked with.",
        produces=("application/jwk-set+json",),
        consumes=(),
    ),
)


def list_pages(groups: Iterable[str] = ()) -> dict[str, PathOperation]:
    """Return the pages of a server that serves these built-in groups, by the names of their documents."""
    return {page.path.strip("/"): page for page in (*_PAGES, *(make_group_page(name) for name in groups if name))}


def list_group_pages(name: str, version: str) -> list[PathOperation]:
    """Return the pages of a built-in group-version."""
    return [make_group_page(name), make_resources_page(name, version)] if name else [make_resources_page(name, version)]


@bounded_cache(64)
def make_group_page(name: str) -> PathOperation:
    """Return the operation that lists a built-in group's versions."""
    prefix, tag = name_group(name)
    text = "List the versions of the group."
    return PathOperation(f"/apis/{name}/", f"get{prefix}APIGroup", tag, text, answer=f"{META}APIGroup")


def make_resources_page(name: str, version: str) -> PathOperation:
    """Return the operation that lists a built-in group-version's resources."""
    prefix, tag = name_group(name, version)
    path = f"/apis/{name}/{version}/" if name else f"/api/{version}/"
    text = "List the resources, and what may be done with them."
    return PathOperation(path, f"get{prefix}APIResources", tag, text, answer=f"{META}APIResourceList")
