"""Validates each keyword of a definition's schema, except for the structural rules."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import partial

from podless.codec.gotext import Named
from podless.meta import field
from podless.meta.field import FieldError
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Schema
from podless.runtime.meter import charge, each
from podless.schema import internal, rules
from podless.schema.prune import META
from podless.schema.rules import Expressions

TYPES = ("array", "boolean", "integer", "number", "object", "string")
_LIST = "x-kubernetes-list-type"
_KEYS = "x-kubernetes-list-map-keys"
_MAP = "x-kubernetes-map-type"
_UNSUPPORTED = ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref")
_ATOMIC = "must be atomic as item of a list with x-kubernetes-list-type=set"
_UNIQUE = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
_KEYLESS = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"


@dataclass(frozen=True, slots=True)
class KeywordOptions:
    """The checks that validation makes. An update may keep errors that the old definition had.

    structural: the schema is structural. types: types are those of OpenAPI v3. pruned_defaults: defaults have no
    unknown fields. atomic_sets: items of sets are atomic. map_keys: keys of map lists are always present. no_default:
    why defaults are forbidden, "" if they are allowed.
    """

    structural: bool = True
    types: bool = True
    pruned_defaults: bool = True
    atomic_sets: bool = True
    map_keys: bool = True
    patterns: bool = True
    no_default: str = ""


@dataclass(frozen=True, slots=True)
class _NodePosition:
    """The position of a node. meta: inside the metadata of a resource. no_default: why it may have no default."""

    meta: bool = False
    no_default: str = ""
    ancestors: tuple[Schema, ...] = ()


class _KeywordWalk:
    def __init__(self, options: KeywordOptions, expressions: Expressions | None, plain: Collection[int]) -> None:
        self.plain = plain
        self.options = options
        self.expressions = expressions
        self.rule_errors: list[FieldError] = []

    def visit_node(
        self, schema: Schema, path: str, position: _NodePosition, root: bool = False, logic: bool = False
    ) -> list[FieldError]:
        """Return the errors of a node and everything below it. Errors of rules are collected separately."""
        charge(1)
        errors = self.check_unsupported(schema, path, position)
        if schema.get("uniqueItems"):
            errors.append(field.forbidden(f"{path}.uniqueItems", _UNIQUE))
        child_position = _NodePosition(position.meta, position.no_default, (*position.ancestors, schema))
        errors += self.check_properties(schema, path, child_position, root, logic)
        errors += self.check_logic(schema, path, child_position)
        errors += self.check_items(schema, path, child_position, logic)
        errors += _check_lists(schema, path, self.options)
        errors += rules.validate_rules(schema, path)
        if not errors and not logic and self.expressions is not None and schema.get("x-kubernetes-validations"):
            self.rule_errors += self.expressions.declared(schema, path, position.ancestors)
        return errors

    def check_unsupported(self, schema: Schema, path: str, position: _NodePosition) -> list[FieldError]:
        """Check keywords that are not supported, or not supported here."""
        errors = []
        kind = schema.get("type") or ""
        if self.options.types and kind and kind not in TYPES:
            errors.append(field.not_supported(f"{path}.type", kind, TYPES, named=False))
        if position.no_default and schema.get("default") is not None:
            errors.append(field.forbidden(f"{path}.default", f"must not be set {position.no_default}"))
        for name in _UNSUPPORTED:
            value = schema.get(name)
            if value is not None and (value or name not in ("id", "patternProperties", "definitions")):
                errors.append(field.forbidden(f"{path}.{name}", f"{name} is not supported"))
        if kind == "null":
            text = "type cannot be set to null, use nullable as an alternative"
            errors.append(field.forbidden(f"{path}.type", text))
        if isinstance(schema.get("items"), list) and schema["items"]:
            errors.append(field.forbidden(f"{path}.items", "items must be a schema object and not an array"))
        if position.meta and schema.get("x-kubernetes-embedded-resource"):
            text = "must not be used inside of resource meta"
            errors.append(field.forbidden(f"{path}.x-kubernetes-embedded-resource", text))
        return errors

    def check_properties(
        self, schema: Schema, path: str, position: _NodePosition, root: bool, logic: bool
    ) -> list[FieldError]:
        """Check additionalProperties and properties."""
        errors = []
        additional, properties = schema.get("additionalProperties"), schema.get("properties") or {}
        if additional is not None:
            at = f"{path}.additionalProperties"
            if properties and additional is not True:
                errors.append(field.forbidden(at, "additionalProperties and properties are mutual exclusive"))
            if isinstance(additional, dict):
                reason = "inside additionalProperties applying to object metadata"
                child_position = replace(position, no_default=reason) if position.meta else position
                errors += self.visit_node(additional, at, child_position, logic=logic)
        resource = root or bool(schema.get("x-kubernetes-embedded-resource"))
        for name, child in each(properties).items():
            if id(child) in self.plain:
                continue
            child_position = position
            if resource and name in META:
                child_position = replace(child_position, meta=True)
                if root:
                    child_position = replace(child_position, no_default=f"in top-level {name}")
            errors += self.visit_node(child or {}, f"{path}.properties[{name}]", child_position, logic=logic)
        return errors

    def check_logic(self, schema: Schema, path: str, position: _NodePosition) -> list[FieldError]:
        """Check not, allOf, oneOf, anyOf and definitions."""
        errors = []
        if schema.get("not") is not None:
            errors += self.visit_node(schema["not"], f"{path}.not", position, logic=True)
        for name in ("allOf", "oneOf", "anyOf"):
            for index, child in enumerate(each(schema.get(name) or ())):
                errors += self.visit_node(child or {}, f"{path}.{name}[{index}]", position, logic=True)
        for name, child in each(schema.get("definitions") or {}).items():
            errors += self.visit_node(child or {}, f"{path}.definitions[{name}]", position, logic=True)
        return errors

    def check_items(self, schema: Schema, path: str, position: _NodePosition, logic: bool) -> list[FieldError]:
        """Check items, dependencies, and two keywords with few allowed values."""
        errors = []
        items = schema.get("items")
        if isinstance(items, list):
            for index, child in enumerate(each(items)):
                errors += self.visit_node(child or {}, f"{path}.items[{index}]", position, logic=True)
        elif isinstance(items, dict):
            errors += self.visit_node(items, f"{path}.items", position, logic=logic)
        for name, child in each(schema.get("dependencies") or {}).items():
            if isinstance(child, dict):
                errors += self.visit_node(child, f"{path}.dependencies[{name}]", position, logic=True)
        if schema.get("x-kubernetes-preserve-unknown-fields") is False:
            at = f"{path}.x-kubernetes-preserve-unknown-fields"
            errors.append(field.invalid(at, False, "must be true or undefined"))
        if schema.get(_MAP) is not None:
            errors += _require_type(schema, path, "object", _MAP)
            errors += field.one_of(f"{path}.{_MAP}", schema[_MAP], ("atomic", "granular"), named=False)
        return errors


def validate_keywords(
    schema: Schema,
    path: str,
    options: KeywordOptions,
    expressions: Expressions | None = None,
    plain: Collection[int] = (),
) -> list[FieldError]:
    """Return the errors of a definition's whole schema; expressions: compiles its rules, for structural schemas only.

    plain: ids of properties to skip.
    """
    walk = _KeywordWalk(options, expressions, plain)
    errors = walk.visit_node(schema, path, _NodePosition(no_default=options.no_default), root=True) + walk.rule_errors
    return errors + (expressions.total(schema, path) if expressions is not None else [])


def _require_type(schema: Schema, path: str, expected: str, keyword: str) -> list[FieldError]:
    kind = schema.get("type") or ""
    if kind == expected:
        return []
    text = f"must be {expected} if {keyword} is specified"
    return [field.invalid(f"{path}.type", kind, text) if kind else field.required(f"{path}.type", text)]


def _check_lists(schema: Schema, path: str, options: KeywordOptions) -> list[FieldError]:
    kind, keys = schema.get(_LIST), schema.get(_KEYS) or []
    errors: list[FieldError] = []
    if kind is not None:
        type_errors = _require_type(schema, path, "array", _LIST)
        errors += type_errors or (check_set_items(schema, path) if options.atomic_sets else [])
        errors += field.one_of(f"{path}.{_LIST}", kind, ("atomic", "set", "map"), named=False)
    if keys and kind != "map":
        text = f"must be map if {_KEYS} is non-empty"
        at = f"{path}.{_LIST}"
        errors.append(field.required(at, text) if kind is None else field.invalid(at, kind, text))
    if kind == "map":
        errors += _check_map_items(schema, path, keys)
    return errors + (check_key_presence(schema, path) if options.map_keys else [])


def check_set_items(schema: Schema, path: str) -> list[FieldError]:
    """Return an error unless the items of a set are scalars or atomic."""
    items = schema.get("items")
    if schema.get(_LIST) != "set" or not isinstance(items, dict):
        return []
    kind = items.get(_LIST)
    if items.get("type") == "array" and kind is not None and kind != "atomic":
        return [field.invalid(f"{path}.items.{_LIST}", Named(kind), _ATOMIC)]
    if items.get("type") == "object" and items.get(_MAP) != "atomic":
        # a real server shows the list type here
        return [field.invalid(f"{path}.items.{_MAP}", kind and Named(kind), _ATOMIC)]
    return []


def _check_map_items(schema: Schema, path: str, keys: list[str]) -> list[FieldError]:
    errors = []
    items = schema.get("items")
    if not keys:
        errors.append(field.required(f"{path}.{_KEYS}", f"must not be empty if {_LIST} is map"))
    if items is None:
        return [*errors, field.required(f"{path}.items", f"must have a schema if {_LIST} is map")]
    if not isinstance(items, dict):
        detail = f"must only have a single schema if {_LIST} is map"
        return [*errors, field.invalid(f"{path}.items", partial(internal.dump_items, items), detail)]
    kind = items.get("type") or ""
    if kind != "object":
        text = f"must be object if parent array's {_LIST} is map"
        return [*errors, field.invalid(f"{path}.items.type", kind, text)]
    properties, seen = items.get("properties") or {}, set()
    for key in each(keys):
        if key not in properties:
            errors.append(field.invalid(f"{path}.{_KEYS}", keys, "entries must all be names of item properties"))
        elif (properties[key] or {}).get("type") in ("array", "object"):
            text = f"must be a scalar type if parent array's {_LIST} is map"
            errors.append(field.invalid(f"{path}.items.properties[{key}].type", kind, text))
        if key in seen:
            errors.append(field.invalid(f"{path}.{_KEYS}", keys, "must not contain duplicate entries"))
        seen.add(key)
    return errors


def check_key_presence(schema: Schema, path: str) -> list[FieldError]:
    """Return an error if items of sets and maps, or keys of map items, may be null or absent."""
    items, kind = schema.get("items"), schema.get(_LIST)
    if not isinstance(items, dict) or kind not in ("set", "map"):
        return []
    errors = []
    if items.get("nullable"):
        errors.append(field.forbidden(f"{path}.items.nullable", f"cannot be nullable when {_LIST} is {kind}"))
    properties = items.get("properties") or {}
    for key in each(schema.get(_KEYS) or () if kind == "map" else ()):
        if key not in properties:
            continue
        key_schema, at = properties[key] or {}, f"{path}.items.properties[{key}]"
        if key not in (items.get("required") or ()) and key_schema.get("default") is None:
            errors.append(field.required(f"{at}.default", _KEYLESS))
        if key_schema.get("nullable"):
            text = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"
            errors.append(field.forbidden(f"{at}.nullable", text))
    return errors
