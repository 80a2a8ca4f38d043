"""OpenAPI paths that belong to no kind: versions, groups, resources, the release, token signing keys.

Each has its own version 3 document, except lists of resources, which are in those of their group-versions. Source: the
documents that kube-apiserver publishes.
"""

from __future__ import annotations

from collections.abc import Iterable

from podless.publish.openapi.routes import BUILTIN, PathOperation, group_names
from podless.publish.openapi.standard import META, VERSION
from podless.runtime.bounded import bounded_cache

_JSON = ("application/json",)


def _make_page(
    path: str,
    tag: str,
    name: str,
    text: str,
    answer: str = "",
    produces: tuple[str, ...] = BUILTIN.produces,
    consumes: tuple[str, ...] = BUILTIN.produces,
) -> PathOperation:
    return PathOperation(
        path=path,
        method="get",
        action="",
        text=text,
        name=f"get{name}",
        tag=tag,
        queries=(),
        produces=produces,
        answer=answer,
        consumes=consumes,
        gvk={},
    )


_ISSUER = "ServiceAccountIssuerOpenID"
_PAGES = (
    _make_page("/api/", "core", "CoreAPIVersions", "List the versions of the core group.", f"{META}APIVersions"),
    _make_page("/apis/", "apis", "APIVersions", "List the groups and their versions.", f"{META}APIGroupList"),
    _make_page("/version/", "version", "CodeVersion", "Tell the server's release.", f"{VERSION}Info", _JSON, _JSON),
    _make_page(
        "/.well-known/openid-configuration/",
        "WellKnown",
        f"{_ISSUER}Configuration",
        "Tell who signs the tokens of service accounts.",
        produces=_JSON,
        consumes=(),
    ),
    _make_page(
        "/openid/v1/jwks/",
        "openid",
        f"{_ISSUER}Keyset",
        "List the keys that tokens of service accounts are checked with.",
        produces=("application/jwk-set+json",),
        consumes=(),
    ),
)


def list_pages(groups: Iterable[str] = ()) -> dict[str, PathOperation]:
    """Return the pages of a server that serves these built-in groups, by the names of their documents."""
    return {page.path.strip("/"): page for page in (*_PAGES, *(group_path(name) for name in groups if name))}


def group_pages(name: str, version: str) -> list[PathOperation]:
    """Return the pages of a built-in group-version."""
    return [group_path(name), resource_list_page(name, version)] if name else [resource_list_page(name, version)]


@bounded_cache(64)
def group_path(name: str) -> PathOperation:
    """Return the operation that lists a built-in group's versions."""
    prefix, tag = group_names(name)
    return _make_page(f"/apis/{name}/", tag, f"{prefix}APIGroup", "List the versions of the group.", f"{META}APIGroup")


def resource_list_page(name: str, version: str) -> PathOperation:
    """Return the operation that lists a built-in group-version's resources."""
    prefix, tag = group_names(name, version)
    path = f"/apis/{name}/{version}/" if name else f"/api/{version}/"
    text = "List the resources, and what may be done with them."
    return _make_page(path, tag, f"{prefix}APIResources", text, f"{META}APIResourceList")
