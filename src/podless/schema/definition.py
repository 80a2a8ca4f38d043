"""Validates the schemas of a CustomResourceDefinition as a real server does when the definition is written.

The rules are those of k8s.io/apiextensions-apiserver for apiextensions.k8s.io/v1, with its errors in its order. So
there are several walks over the JSON of a schema, as a real server makes them, and one for speed:

1. plain.py finds the parts that no rule can reject. The other walks skip them.
2. shape.py checks the JSON types of keywords. An error ends the validation, so the next walks need not check types.
3. invariants.py checks the rules of structural schemas, and defaultvalidation.py the defaults if they hold.
4. keywords.py checks each keyword, and the rules in CEL if 3 found no error.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import partial
from typing import Any

from podless.codec import gotext
from podless.meta import field
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Schema
from podless.runtime.meter import charge, each
from podless.runtime.release import has
from podless.schema import defaulting, defaultvalidation, formats, internal, invariants, keywords, plain, regex, shape
from podless.schema.keywords import KeywordOptions
from podless.schema.node import Node
from podless.schema.rules import Expressions

# maximum nanoseconds to compile the patterns of one schema; a real server has no such limit
MAX_COMPILE_COST = 500_000_000.0
_AT_ROOT = (
    "Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern"
    " MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example"
    " XPreserveUnknownFields XValidations"
)


def structural(
    schema: dict[str, Any],
    path: str,
    *,
    status: bool = False,
    rules: Expressions | None = None,
    options: KeywordOptions | None = None,
) -> list[FieldError]:
    """Return all errors of one openAPIV3Schema.

    path: path of the schema, such as spec.versions[0].schema.openAPIV3Schema. status: whether the version has the
    status subresource, which restricts the root. rules: compiles x-kubernetes-validations; None: only their form is
    checked. options: errors that an update may repeat because the old definition had them.
    """
    options = options or KeywordOptions()
    plain_parts = plain.find_plain_parts(schema)
    skip = plain_parts.ids
    errors = shape.check_shape(schema, path, skip)
    if errors:
        return errors
    if status:
        errors += _check_status_root(schema, path)
    if schema.get("nullable"):
        errors.append(field.forbidden(f"{path}.nullable", "nullable cannot be true at the root"))
    deferred: list[FieldError] = []
    nodes = list(walk_nodes(schema, skip))
    compiled = None
    if options.structural:
        unsupported = find_unsupported(nodes)
        if unsupported:
            deferred.append(field.invalid(path, "", unsupported))
        else:
            structural_errors = validate_structural(schema, path, skip)
            structural_errors = structural_errors or defaultvalidation.validate_defaults(
                schema, path, options.pruned_defaults, rules, skip
            )
            errors += structural_errors
            compiled = None if structural_errors else rules
    errors += keywords.validate_keywords(schema, path, options, compiled, skip)
    if options.patterns and (cost := estimate_compile_cost(nodes, plain_parts.patterns)) > MAX_COMPILE_COST:
        needed, limit = f"{cost / 1e6:.0f} ms", f"{MAX_COMPILE_COST / 1e6:.0f} ms"
        text = f"patterns are too large together: {needed} to compile them are more than {limit}"
        errors.append(field.invalid(path, "", text))
    return errors or deferred


def estimate_compile_cost(nodes: Iterable[Schema], patterns: Collection[str] = ()) -> float:
    """Estimate the nanoseconds to compile all patterns of some nodes, which the first object of the kind may need.

    patterns: patterns of other nodes. Patterns that are too expensive count as 0, because they are rejected.
    """
    texts = {node["pattern"] for node in nodes if node.get("pattern")}.union(patterns)
    return sum(cost for cost in map(regex.price_regex, each(texts)) if cost <= regex.MAX_PRICE)


def validate_structural(schema: dict[str, Any], path: str, plain: Collection[int] = ()) -> list[FieldError]:
    """Return errors of the rules for structural schemas only, in a real server's order."""
    errors = invariants.validate_invariants(schema, path, plain) + invariants.validate_completeness(schema, path)
    return sorted(errors, key=str)


def find_unsupported(nodes: Iterable[Schema]) -> str:
    """Return why the keywords of a schema's nodes cannot form a structural schema; "" if they can."""
    for node in nodes:
        charge(1)
        for name in ("id", "$schema", "$ref", "patternProperties", "dependencies"):
            if node.get(name):
                return f"OpenAPIV3Schema '{name.removeprefix('$') if name == '$schema' else name}' is not supported"
        if node.get("additionalItems") is not None:
            return "OpenAPIV3Schema 'additionalItems' is not supported"
        if node.get("definitions"):
            return "OpenAPIV3Schema 'definitions' is not supported"
        if isinstance(node.get("items"), list) and node["items"]:
            return "OpenAPIV3Schema 'items' must be a schema, but is an array"
        if node.get("x-kubernetes-preserve-unknown-fields") is False:
            return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined"
    return ""


def walk_nodes(schema: dict[str, Any], plain: Collection[int] = ()) -> Iterator[dict[str, Any]]:
    """Yield every schema node except plain ones, in a real server's order, root first."""
    todo = [schema]
    while todo:
        node = todo.pop()
        charge(2)
        yield node
        todo += reversed(shape.list_child_schemas(node, plain))


def warnings(schema: dict[str, Any], path: str = "") -> list[str]:
    """Return a real server's warnings for a schema: formats that it does not check."""
    if not plain.mentions_any(schema, b'"format":'):
        return []
    skip = plain.find_plain_parts(schema).ids
    if shape.check_shape(schema, path, skip):
        return []
    results: list[str] = []
    for node in walk_nodes(schema, skip):
        name = node.get("format") or ""
        kind = node.get("type") or ""
        if not name or formats.is_known(name, (kind,) if kind else ()):
            continue
        if has("FormatWarnings") and (kind == "string" or has("SeldomFormatWarnings")):
            results.append(f"unrecognized format {gotext.quote(name)}")
    return results


def tolerated(old: Iterable[dict[str, Any]]) -> KeywordOptions:
    """Return the options for an update: errors that the old schemas had may stay."""
    olds = list(old)
    nodes = [node for schema in each(olds) for node in walk_nodes(schema)]
    structurals = [is_structural(schema) for schema in each(olds)]
    return KeywordOptions(
        structural=all(structurals),
        types=all((item.get("type") or "string") in keywords.TYPES for item in each(nodes)),
        pruned_defaults=not any(
            is_sound and has_unpruned_defaults(schema) for is_sound, schema in zip(each(structurals), olds, strict=True)
        ),
        atomic_sets=not any(keywords.check_set_items(item, "") for item in each(nodes)),
        map_keys=not any(keywords.check_key_presence(item, "") for item in each(nodes)),
        patterns=all(estimate_compile_cost(walk_nodes(schema)) <= MAX_COMPILE_COST for schema in each(olds)),
    )


def _check_status_root(schema: dict[str, Any], path: str) -> list[FieldError]:
    """Return errors of keywords that may not stand at the root of a schema with a status subresource."""
    allowed = _AT_ROOT.split()
    for name, value in internal.list_given_fields(schema):
        if name == "Type" and value != "object":
            text = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
            return [field.invalid(f"{path}.type", value, text)]
        if name not in allowed:
            text = (
                f"only [{_AT_ROOT}] fields are allowed at the root of the schema if the status subresource is enabled"
            )
            return [field.invalid(path, partial(internal.show_schema, schema), text)]
    return []


def is_structural(schema: dict[str, Any]) -> bool:
    """Return whether a stored schema is structural."""
    return not (
        shape.check_shape(schema, "") or find_unsupported(walk_nodes(schema)) or validate_structural(schema, "")
    )


def has_unpruned_defaults(schema: dict[str, Any]) -> bool:
    """Return whether a stored schema has a default with unknown fields."""
    return any(
        node.has_default and defaulting.get_own_default(node) != node.raw["default"]
        for node in _walk_structure(Node(schema))
    )


def _walk_structure(node: Node) -> Iterator[Node]:
    todo = [node]
    while todo:
        current = todo.pop()
        yield current
        todo += [child for _, child in current.iterate_properties()]
        todo += [child for child in (current.additional, current.items) if child is not None]
