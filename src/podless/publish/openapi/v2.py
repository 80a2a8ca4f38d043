"""OpenAPI v2 (Swagger 2.0): one document for all groups, for older clients.

The document is joined from parts, one for each kind, which the caller keeps as long as the kind. The schemas lose
keywords that version 2 lacks (schema.convert_to_v2), and defaults, which are never in this document.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from podless.apis.release import RECORDED_FACTS, facts_of
from podless.kinds.kind import Kind, Version
from podless.publish.openapi import builtin, pages, routes, schema
from podless.publish.openapi.routes import PathOperation
from podless.publish.openapi.schema import DEFINITIONS
from podless.publish.openapi.standard import BEARER, META, PARAMETERS, REF, cache_by_release
from podless.publish.openapi.v3 import make_extensions, make_list_component, register_components
from podless.runtime.release import Release

Document = dict[str, Any]

_SECURITY: Document = {"securityDefinitions": {"BearerToken": BEARER}, "security": [{"BearerToken": []}]}
_NESTED = ("items", "additionalProperties")
_CONVERTED_KEYWORDS = ("default", "allOf", "oneOf", "properties")


def convert_schema(schema: Document) -> Document:
    """Return a version 3 schema of a built-in type in version 2.

    References have texts beside them, defaults are left out, and string-or-number is a string.
    """
    flat: Document = {}
    for key, value in schema.items():
        if key == "$ref":
            flat[key] = DEFINITIONS + value[len(REF) :]
        elif key in _NESTED:
            flat[key] = convert_schema(value)
        elif key not in _CONVERTED_KEYWORDS:
            flat[key] = value
    if "oneOf" in schema:
        flat["type"] = "string"  # quantities and int-or-string: one of several types becomes a string
    for referenced in schema.get("allOf", ()):
        flat |= convert_schema(referenced)
    if "properties" in schema:
        flat["properties"] = convert_schemas(schema["properties"])
    return flat


def convert_schemas(named: Document) -> Document:
    """Return schemas by name, each converted to version 2."""
    return {name: convert_schema(schema) for name, schema in named.items()}


def _make_parameter(key: str, kind: str = "") -> dict[str, Any]:
    parameter = routes.make_parameter(key, kind)
    return {
        "uniqueItems": True,
        "type": parameter["type"],
        "description": parameter["description"],
        "name": parameter["name"],
        "in": parameter["in"],
    } | ({"required": True} if "required" in parameter else {})


_PARAMETERS = {key: _make_parameter(key) for key in PARAMETERS}
_NAMED = _PARAMETERS | {key: {"$ref": f"#/parameters/{name}"} for key, name in RECORDED_FACTS.parameters.items()}


def make_swagger_parts(*kinds: Kind) -> Document:
    """Return the "paths" and "definitions" of kinds in all their versions."""
    result: Document = {"paths": {}, "definitions": {}}
    for kind in kinds:
        for version in kind.versions:
            _add_version(result["paths"], result["definitions"], kind, version)
    return result


def _add_version(paths: Document, definitions: Document, kind: Kind, version: Version) -> None:
    """Add one version of a kind. Components that built-in kinds share are made once."""
    if kind.custom:
        definitions |= make_item_definition(kind, version) | make_list_definition(kind, version)
    else:
        definitions |= convert_schemas(builtin.make_kind_components(kind, version, definitions))
        group_pages = pages.list_group_pages(kind.group, version.name)
        paths |= _describe_pages(page for page in group_pages if page.path not in paths)
    if version.scale is not None:
        scale = builtin.make_scale_components()
        definitions |= convert_schemas({name: scale[name] for name in scale if name not in definitions})
    paths |= describe_kind(kind, version)


def describe_kind(kind: Kind, version: Version) -> Document:
    """Return the paths of one version of a kind."""
    return routes.describe_paths(kind, version, _describe_operation, _describe_parameters)


def make_scale_definitions() -> Document:
    """Return the definitions of Scale."""
    return convert_schemas(builtin.make_scale_components())


def _describe_pages(operations: Iterable[PathOperation]) -> Document:
    return {operation.path: {operation.method: _describe_operation(operation, [], "")} for operation in operations}


@cache_by_release
def make_standard_definitions(release: Release) -> Document:
    """Return the constant definitions, independent of the served kinds."""
    facts = facts_of(release)
    places = sorted(
        (group, version) for group, versions in {**facts.groups, **facts.more_groups}.items() for version in versions
    )
    definitions = convert_schemas(
        register_components(builtin.make_standard_components() | builtin.make_server_components(), places)
    )
    return {"paths": _describe_pages(pages.list_pages().values()), "definitions": definitions}


def make_swagger_head(release: str) -> Document:
    """Return the part of the document before the paths."""
    return {"swagger": "2.0", "info": {"title": "Kubernetes", "version": release}}


def make_swagger_tail() -> Document:
    """Return the part of the document behind the definitions."""
    parameters = {name: _make_parameter(key) for key, name in RECORDED_FACTS.parameters.items()}
    parameters |= {name: _make_body(META + noun) for noun, name in RECORDED_FACTS.bodies.items()}
    return {"parameters": dict(sorted(parameters.items())), **_SECURITY}


def make_item_definition(kind: Kind, version: Version) -> Document:
    """Return the definition of a custom kind, under its name."""
    published = None if kind.preserve else version.schema  # kubectl rejects fields that are not listed
    name = routes.name_model(kind.group, version.name, kind.kind)
    return {name: schema.make_component(published, v2=True) | make_extensions(kind, version, kind.kind)}


def make_list_definition(kind: Kind, version: Version) -> Document:
    """Return the definition of its list."""
    return make_list_component(kind, version, v2=True)


def _make_body(component: str) -> dict[str, Any]:
    required = {} if component == META + "DeleteOptions" else {"required": True}
    return {"name": "body", "in": "body"} | required | {"schema": {"$ref": DEFINITIONS + component}}


def _describe_parameters(keys: Iterable[str], kind: str) -> list[dict[str, Any]]:
    return [_NAMED.get(key) or _make_parameter(key, kind) for key in keys]


def _describe_operation(operation: PathOperation, shared: list[str], kind: str) -> dict[str, Any]:
    params = _describe_parameters([key for key in operation.queries if key not in shared], kind)
    if operation.body:
        shared_body = RECORDED_FACTS.bodies.get(operation.body.removeprefix(META))
        params.insert(0, {"$ref": f"#/parameters/{shared_body}"} if shared_body else _make_body(operation.body))
    answer = {"$ref": DEFINITIONS + operation.answer} if operation.answer else {"type": "string"}
    responses: dict[str, Any] = {
        str(code): {"description": routes.TEXTS[code], "schema": answer} for code in operation.codes
    }
    return {
        "description": operation.text,
        **({"consumes": list(operation.consumes)} if operation.consumes else {}),
        "produces": list(operation.produces),
        "schemes": ["https"],
        "tags": [operation.tag],
        "operationId": operation.name,
        **({"parameters": params} if params else {}),
        "responses": responses | {"401": {"description": routes.TEXTS[401]}},
        **(
            {"x-kubernetes-action": operation.action, "x-kubernetes-group-version-kind": operation.gvk}
            if operation.gvk
            else {}
        ),
    }
