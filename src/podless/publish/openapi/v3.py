"""OpenAPI v3: one document for each group-version.

The schemas of custom kinds are shown without loss. Shared parts (texts, standard components) are also shared between
results: do not change what these functions return.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha512
from typing import Any
from urllib.parse import quote

from podless.apis.release import RELEASE, facts_of
from podless.codec import serializer
from podless.kinds.kind import Kind, Version
from podless.meta.gvk import GroupVersion
from podless.publish.openapi import builtin, pages, routes, schema
from podless.publish.openapi.routes import PathOperation
from podless.publish.openapi.standard import BEARER, META, PARAMETERS, REF
from podless.runtime.bounded import bounded_cache
from podless.runtime.meter import charge
from podless.runtime.release import Release, has, served_release
from podless.version import __version__

Document = dict[str, Any]

CUSTOM_INFO = {"title": "Kubernetes CRD Swagger", "version": "v0.1.0"}


def _parameter(key: str, kind: str = "") -> dict[str, Any]:
    found = routes.make_parameter(key, kind)
    return found | {"schema": {"type": found.pop("type"), "uniqueItems": True}}


_PARAMETERS = {key: _parameter(key) for key in PARAMETERS}
_TEXT: Document = {"schema": {"type": "string"}}  # an answer that is a text
_CROSS = ("DeleteOptions", "WatchEvent")  # kinds that are registered in every group


def standard_components() -> dict[str, Any]:
    """Return the components that all documents share, DeleteOptions as it is registered in every group-version."""
    return _standard(served_release())


@bounded_cache(16)
def _standard(release: Release) -> dict[str, Any]:
    places = [(group, version) for group, versions in facts_of(release).groups.items() for version in versions]
    return register_components(builtin.standard_components(), places)


def register_components(schemas: Mapping[str, Any], everywhere: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return the components, with all group-versions added to the kinds that are registered in each."""
    found = dict(schemas)
    for noun in _CROSS:
        if META + noun in found:
            gvks = [{"group": group, "kind": noun, "version": version} for group, version in everywhere]
            found[META + noun] = found[META + noun] | {"x-kubernetes-group-version-kind": gvks}
    return found


def group_version_document(group: str, version: str, kinds: Sequence[Kind], release: str = RELEASE.name) -> Document:
    """Return the document of a group-version, with the kinds that are served in it.

    release: the version in documents of built-in groups, major and minor.
    """
    # by_version also has a storage version that is not served
    served = [(kind, one) for kind in kinds if kind.group == group for one in kind.versions if one.name == version]
    parts = [make_part(kind, one) for kind, one in served]
    found = _merge(one["paths"] for one in parts)
    schemas = [one["schemas"] for one in parts]
    if all(kind.custom for kind, _ in served):
        components = {"schemas": _merge([standard_components(), *schemas])}
        return {"openapi": "3.0.0", "info": CUSTOM_INFO, "paths": found, "components": components}
    found = path_item(pages.resource_list_page(group, version)) | found
    known = _merge([builtin.standard_components(), builtin.server_components(), *schemas])
    return _builtin(release, found, known, dict.fromkeys([("", "v1"), (group, version)]))


def page_document(one: PathOperation, release: str = RELEASE.name) -> Document:
    """Return the document of one of the pages."""
    return _builtin(release, path_item(one), builtin.server_components())


def _builtin(
    release: str, paths: Document, known: Mapping[str, Any], places: Iterable[tuple[str, str]] = ()
) -> Document:
    """Return a document with the known components that its paths use."""
    schemas = register_components(_reached(paths, known), places)
    components = ({"schemas": schemas} if schemas else {}) | {"securitySchemes": {"BearerToken": BEARER}}
    info = {"title": "Kubernetes", "version": release}
    return {"openapi": "3.0.0", "info": info, "paths": paths, "components": components}


def path_item(one: PathOperation) -> Document:
    """Return the path of a page."""
    return {one.path: {one.method: _operation(one, [], "")}}


def _reached(paths: Document, schemas: Mapping[str, Any]) -> dict[str, Any]:
    """Return the components that the paths lead to."""
    found: dict[str, Any] = {}
    rest: list[Any] = [paths]
    while rest:
        one = rest.pop()
        charge(1)
        if isinstance(one, list):
            rest += one
        elif isinstance(one, dict):
            rest += one.values()
            name = one.get("$ref")
            if isinstance(name, str) and (name := name.removeprefix(REF)) not in found:
                found[name] = schemas[name]
                rest.append(found[name])
    return dict(sorted(found.items()))


def make_part(kind: Kind, version: Version) -> Document:
    """Return the part of a kind's version in the document: its paths, and its components under "schemas"."""
    if kind.custom:
        schemas = item_component(kind, version) | list_component(kind, version)
    else:
        schemas = builtin.kind_components(kind, version)
    if version.scale is not None:
        schemas |= builtin.scale_components()
    return {"paths": kind_paths(kind, version), "schemas": schemas}


def kind_paths(kind: Kind, version: Version) -> Document:
    """Return the paths of one version of a kind."""
    namer = None if kind.custom else builtin.make_namer(kind, version)
    found = routes.paths_of(routes.OperationsWriter(kind, version, namer).operations())
    return {path: _path(found[path], kind.kind) for path in found}


def _merge(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for one in parts:
        merged |= one
    return dict(sorted(merged.items()))


def item_component(kind: Kind, version: Version) -> Document:
    """Return the component of a custom kind, under its name."""
    name = routes.model_name(kind.group, version.name, kind.kind)
    return {name: schema.root_component(kind.structure(version)) | component_extensions(kind, version, kind.kind)}


def list_component(kind: Kind, version: Version) -> Document:
    """Return the component of its list."""
    one, name = (routes.model_name(kind.group, version.name, noun) for noun in (kind.kind, kind.list_kind))
    return {name: schema.list_root(kind.kind, one) | component_extensions(kind, version, kind.list_kind)}


def component_extensions(kind: Kind, version: Version, noun: str) -> dict[str, Any]:
    """Return the extensions of a component: group, version and kind, and the selectable fields."""
    found: dict[str, Any] = {
        "x-kubernetes-group-version-kind": [{"group": kind.group, "kind": noun, "version": version.name}]
    }
    if version.selectable:
        paths = [{"fieldPath": path.removeprefix(".")} for path in version.selectable]
        found["x-kubernetes-selectable-fields"] = paths
    elif not has("SelectableFieldsIfAny"):
        found["x-kubernetes-selectable-fields"] = []
    return found


def _path(operations: list[PathOperation], kind: str) -> dict[str, Any]:
    shared = routes.shared_parameters(operations)
    item: dict[str, Any] = {one.method: _operation(one, shared, kind) for one in operations}
    item["parameters"] = _named(shared, kind)
    return item


def _named(keys: Iterable[str], kind: str) -> list[dict[str, Any]]:
    return [_PARAMETERS.get(key) or _parameter(key, kind) for key in keys]


def _operation(one: PathOperation, shared: list[str], kind: str) -> dict[str, Any]:
    shown: dict[str, Any] = {"tags": [one.tag], "description": one.text, "operationId": one.name}
    own = [key for key in one.queries if key not in shared]
    if own:
        shown["parameters"] = _named(own, kind)
    if one.body:
        shown["requestBody"] = {"content": _content(one.consumes, one.body)}
        if one.required:
            shown["requestBody"]["required"] = True
    answer = _content(one.produces, one.answer) if one.answer else dict.fromkeys(one.produces, _TEXT)
    shown["responses"] = {str(code): {"description": routes.TEXTS[code], "content": answer} for code in one.codes}
    shown["responses"]["401"] = {"description": routes.TEXTS[401]}
    if one.gvk:
        shown |= {"x-kubernetes-action": one.action, "x-kubernetes-group-version-kind": one.gvk}
    return shown


def _content(types: Iterable[str], component: str) -> dict[str, Any]:
    body = {"schema": {"$ref": REF + component}}
    return dict.fromkeys(types, body)


def encode_kind(kind: Kind, version: Version) -> bytes:
    """Return everything that documents show of a kind's version, as JSON."""
    verbs = [] if kind.custom else list(kind.verbs)
    names = [kind.group, kind.plural, kind.kind, kind.list_kind, kind.namespaced, verbs]
    shown = [version.name, version.status, version.scale is not None, list(version.selectable), version.schema]
    if kind.preserve:
        shown.append("preserve")
    return serializer.encode_sorted([f"{__version__} {served_release().name}", names, shown])


def document_hash(digests: Iterable[bytes]) -> str:
    """Return the hash of a document from the digests of its parts, in any order.

    As long as a real server's, SHA-512.
    """
    return sha512(b"".join(sorted(digests))).hexdigest().upper()


@bounded_cache(64)
def page_etag(name: str) -> str:
    """Return the hash of a page's document, equal in all servers of a release."""
    return document_hash([f"{__version__} {name}".encode()])


def group_version_path(where: GroupVersion) -> str:
    """Return the name of a group-version below /openapi/v3: api/v1 for the core group, else apis/group/version."""
    return f"apis/{where}" if where.group else f"api/{where.version}"


def document_url(name: str, tag: str) -> str:
    """Return the URL of a document with a hash."""
    return f"/openapi/v3/{quote(name)}?hash={tag}"


def root_document(found: Mapping[str, str]) -> Document:
    """Return the root document: every group-version and page with its URL. found: name -> hash."""
    return {"paths": {name: {"serverRelativeURL": document_url(name, found[name])} for name in sorted(found)}}
