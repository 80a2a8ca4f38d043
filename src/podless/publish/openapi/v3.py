"""OpenAPI v3: one document for each group-version.

The schemas of custom kinds are shown without loss. Shared parts (texts, standard components) are also shared between
results: do not change what these functions return.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha512
from typing import Any
from urllib.parse import quote

from podless.apis.release import RECORDED_FACTS, facts_of
from podless.codec import serializer
from podless.kinds.kind import Kind, Version
from podless.publish.openapi import builtin, pages, routes, schema
from podless.publish.openapi.routes import PathOperation
from podless.publish.openapi.standard import BEARER, META, PARAMETERS, REF, cache_by_release
from podless.runtime.meter import charge
from podless.runtime.release import Release, has, served_release
from podless.version import __version__

Document = dict[str, Any]

CUSTOM_INFO = {"title": "Kubernetes CRD Swagger", "version": "v0.1.0"}


def _make_parameter(key: str, kind: str = "") -> dict[str, Any]:
    parameter = routes.make_parameter(key, kind)
    return parameter | {"schema": {"type": parameter.pop("type"), "uniqueItems": True}}


_PARAMETERS = {key: _make_parameter(key) for key in PARAMETERS}
_TEXT: Document = {"schema": {"type": "string"}}  # an answer that is a text
_CROSS = ("DeleteOptions", "WatchEvent")  # kinds that are registered in every group


@cache_by_release
def make_standard_components(release: Release) -> dict[str, Any]:
    """Return the components that all documents share, DeleteOptions as it is registered in every group-version."""
    places = [(group, version) for group, versions in facts_of(release).groups.items() for version in versions]
    return register_components(builtin.make_standard_components(), places)


def register_components(schemas: Mapping[str, Any], everywhere: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return the components, with all group-versions added to the kinds that are registered in each."""
    result = dict(schemas)
    for noun in _CROSS:
        if META + noun in result:
            gvks = [{"group": group, "kind": noun, "version": version} for group, version in everywhere]
            result[META + noun] = result[META + noun] | {"x-kubernetes-group-version-kind": gvks}
    return result


def make_group_version_document(
    group: str, version: str, kinds: Sequence[Kind], release: str = RECORDED_FACTS.name
) -> Document:
    """Return the document of a group-version, with the kinds that are served in it.

    release: the version in documents of built-in groups, major and minor.
    """
    # by_version also has a storage version that is not served
    served = [(kind, name) for kind in kinds if kind.group == group for name in kind.versions if name.name == version]
    documents = [make_part(kind, document) for kind, document in served]
    paths = _merge_documents(document["paths"] for document in documents)
    schemas = [document["schemas"] for document in documents]
    if all(kind.custom for kind, _ in served):
        components = {"schemas": _merge_documents([make_standard_components(), *schemas])}
        return {"openapi": "3.0.0", "info": CUSTOM_INFO, "paths": paths, "components": components}
    paths = describe_page(pages.make_resources_page(group, version)) | paths
    all_components = _merge_documents([builtin.make_standard_components(), builtin.make_server_components(), *schemas])
    return _make_builtin_document(release, paths, all_components, dict.fromkeys([("", "v1"), (group, version)]))


def make_page_document(operation: PathOperation, release: str = RECORDED_FACTS.name) -> Document:
    """Return the document of one of the pages."""
    return _make_builtin_document(release, describe_page(operation), builtin.make_server_components())


def _make_builtin_document(
    release: str, paths: Document, components_by_name: Mapping[str, Any], places: Iterable[tuple[str, str]] = ()
) -> Document:
    """Return a document with the known components that its paths use."""
    schemas = register_components(_select_reachable(paths, components_by_name), places)
    components = ({"schemas": schemas} if schemas else {}) | {"securitySchemes": {"BearerToken": BEARER}}
    info = {"title": "Kubernetes", "version": release}
    return {"openapi": "3.0.0", "info": info, "paths": paths, "components": components}


def describe_page(operation: PathOperation) -> Document:
    """Return the path of a page."""
    return {operation.path: {operation.method: _describe_operation(operation, [], "")}}


def _select_reachable(paths: Document, schemas: Mapping[str, Any]) -> dict[str, Any]:
    reachable: dict[str, Any] = {}
    pending: list[Any] = [paths]
    while pending:
        node = pending.pop()
        charge(1)
        if isinstance(node, list):
            pending += node
        elif isinstance(node, dict):
            pending += node.values()
            name = node.get("$ref")
            if isinstance(name, str) and (name := name.removeprefix(REF)) not in reachable:
                reachable[name] = schemas[name]
                pending.append(reachable[name])
    return dict(sorted(reachable.items()))


def make_part(kind: Kind, version: Version) -> Document:
    """Return the part of a kind's version in the document: its paths, and its components under "schemas"."""
    if kind.custom:
        schemas = make_item_component(kind, version) | make_list_component(kind, version)
    else:
        schemas = builtin.make_kind_components(kind, version)
    if version.scale is not None:
        schemas |= builtin.make_scale_components()
    return {"paths": describe_kind(kind, version), "schemas": schemas}


def describe_kind(kind: Kind, version: Version) -> Document:
    """Return the paths of one version of a kind."""
    return routes.describe_paths(kind, version, _describe_operation, _describe_parameters)


def _merge_documents(documents: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for document in documents:
        merged |= document
    return dict(sorted(merged.items()))


def make_item_component(kind: Kind, version: Version) -> Document:
    """Return the component of a custom kind, under its name."""
    name = routes.name_model(kind.group, version.name, kind.kind)
    return {name: schema.make_component(kind.structural_schema(version)) | make_extensions(kind, version, kind.kind)}


def make_list_component(kind: Kind, version: Version, *, v2: bool = False) -> Document:
    """Return the component of its list."""
    item, name = (routes.name_model(kind.group, version.name, noun) for noun in (kind.kind, kind.list_kind))
    return {name: schema.make_list(kind.kind, item, v2=v2) | make_extensions(kind, version, kind.list_kind)}


def make_extensions(kind: Kind, version: Version, noun: str) -> dict[str, Any]:
    """Return the extensions of a component: group, version and kind, and the selectable fields."""
    result: dict[str, Any] = {
        "x-kubernetes-group-version-kind": [{"group": kind.group, "kind": noun, "version": version.name}]
    }
    if version.selectable:
        paths = [{"fieldPath": path.removeprefix(".")} for path in version.selectable]
        result["x-kubernetes-selectable-fields"] = paths
    elif not has("SelectableFieldsIfAny"):
        result["x-kubernetes-selectable-fields"] = []
    return result


def _describe_parameters(keys: Iterable[str], kind: str) -> list[dict[str, Any]]:
    return [_PARAMETERS.get(key) or _make_parameter(key, kind) for key in keys]


def _describe_operation(operation: PathOperation, shared: list[str], kind: str) -> dict[str, Any]:
    document: dict[str, Any] = {"tags": [operation.tag], "description": operation.text, "operationId": operation.name}
    queries = [key for key in operation.queries if key not in shared]
    if queries:
        document["parameters"] = _describe_parameters(queries, kind)
    if operation.body:
        document["requestBody"] = {"content": _describe_content(operation.consumes, operation.body)}
        if operation.required:
            document["requestBody"]["required"] = True
    answer = (
        _describe_content(operation.produces, operation.answer)
        if operation.answer
        else dict.fromkeys(operation.produces, _TEXT)
    )
    document["responses"] = {
        str(code): {"description": routes.TEXTS[code], "content": answer} for code in operation.codes
    }
    document["responses"]["401"] = {"description": routes.TEXTS[401]}
    if operation.gvk:
        document |= {"x-kubernetes-action": operation.action, "x-kubernetes-group-version-kind": operation.gvk}
    return document


def _describe_content(types: Iterable[str], component: str) -> dict[str, Any]:
    body = {"schema": {"$ref": REF + component}}
    return dict.fromkeys(types, body)


def encode_kind(kind: Kind, version: Version) -> bytes:
    """Return everything that documents show of a kind's version, as JSON."""
    verbs = [] if kind.custom else list(kind.verbs)
    names = [kind.group, kind.plural, kind.kind, kind.list_kind, kind.namespaced, verbs]
    facts = [version.name, version.status, version.scale is not None, list(version.selectable), version.schema]
    if kind.preserve:
        facts.append("preserve")
    return serializer.encode_for_comparison([f"{__version__} {served_release().name}", names, facts])


def hash_document(digests: Iterable[bytes]) -> str:
    """Return the hash of a document from the digests of its parts, in any order.

    As long as a real server's, SHA-512.
    """
    return sha512(b"".join(sorted(digests))).hexdigest().upper()


def make_page_etag(name: str) -> str:
    """Return the hash of a page's document, equal in all servers of a release."""
    return hash_document([f"{__version__} {name}".encode()])


def format_document_url(name: str, tag: str) -> str:
    """Return the URL of a document with a hash."""
    return f"/openapi/v3/{quote(name)}?hash={tag}"


def encode_index_entry(name: str, tag: str) -> bytes:
    """Return the entry of a document in the index: its URL."""
    return serializer.encode_json({name: {"serverRelativeURL": format_document_url(name, tag)}})[1:-1]


def join_index(entries: Iterable[bytes]) -> bytes:
    """Return the index of all documents, as JSON. entries: sorted by name."""
    return b'{"paths":{%b}}' % b",".join(entries)
