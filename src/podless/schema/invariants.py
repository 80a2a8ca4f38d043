"""The rules of structural schemas.

Rule 1: a type at every level. Rule 2: fields in logic (allOf, anyOf, oneOf, not) are also declared outside of it.
Rule 3: only validations in logic. Rule 4: restrictions of metadata for name and generateName only.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from podless.meta import field
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Schema
from podless.runtime.meter import charge, each
from podless.runtime.release import has
from podless.schema import regex

_EMPTY = {
    "root": "must not be empty at the root",
    "item": "must not be empty for specified array items",
    "field": "must not be empty for specified object fields",
}
_EMBEDDED = "must be object if x-kubernetes-embedded-resource is true"
_INT_OR_STRING = "must be false if x-kubernetes-int-or-string is true"
_NO_METADATA = "must not specify anything other than name and generateName, but metadata is implicitly specified"
_PRESERVE = "x-kubernetes-preserve-unknown-fields"
# keywords that are forbidden below logic, and what the error says that they must be
_FORBIDDEN = {
    "type": "empty",
    "additionalProperties": "undefined",
    "default": "undefined",
    "title": "empty",
    "description": "empty",
    "nullable": "false",
    _PRESERVE: "false",
    "x-kubernetes-embedded-resource": "false",
    "x-kubernetes-int-or-string": "false",
    "x-kubernetes-list-map-keys": "empty",
    "x-kubernetes-list-type": "undefined",
    "x-kubernetes-map-type": "undefined",
    "x-kubernetes-validations": "empty",
}
_POINTERS = ("$ref", "default", "x-kubernetes-list-type", "x-kubernetes-map-type")
_UNDEFINED = ("default", "x-kubernetes-list-type", "x-kubernetes-map-type")


def validate_invariants(schema: Schema, path: str, plain: Collection[int] = ()) -> list[FieldError]:
    """Return the errors of rules 1, 3 and 4 in a schema and below it. plain: ids of properties to skip."""
    errors: list[FieldError] = []
    _check_structure(schema, "root", path, errors, plain)
    return errors


def _check_structure(schema: Schema, level: str, path: str, errors: list[FieldError], plain: Collection[int]) -> None:
    charge(1)
    items = schema.get("items")
    if schema.get("type") == "array" and not isinstance(items, dict | list):
        errors.append(field.required(f"{path}.items", "must be specified"))
    if isinstance(items, dict):
        _check_structure(items, "item", f"{path}.items", errors, plain)
    for name, child in each(schema.get("properties") or {}).items():
        if id(child) not in plain:
            _check_structure(child or {}, "field", f"{path}.properties[{name}]", errors, plain)
    additional = schema.get("additionalProperties")
    if additional is not None and level == "root":
        errors.append(field.forbidden(f"{path}.additionalProperties", "must not be used at the root"))
    if isinstance(additional, dict):
        _check_structure(additional, "field", f"{path}.additionalProperties", errors, plain)
    for name in (_PRESERVE, "x-kubernetes-embedded-resource"):
        if schema.get("x-kubernetes-int-or-string") and schema.get(name):
            errors.append(field.invalid(f"{path}.{name}", True, _INT_OR_STRING))
    _check_logic(schema, path, errors, _are_int_and_string(schema.get("anyOf")), _has_int_or_string_first(schema))
    _check_type(schema, level, path, errors)
    _check_resource(schema, level, path, errors)


def _check_type(schema: Schema, level: str, path: str, errors: list[FieldError]) -> None:
    kind = schema.get("type") or ""
    at = f"{path}.type"
    if schema.get("x-kubernetes-embedded-resource") and kind != "object":
        errors.append(field.invalid(at, kind, _EMBEDDED) if kind else field.required(at, _EMBEDDED))
    elif not kind and not schema.get("x-kubernetes-int-or-string") and not schema.get(_PRESERVE):
        errors.append(field.required(at, _EMPTY[level]))
    if schema.get("x-kubernetes-embedded-resource") and schema.get("additionalProperties") is not None:
        text = "must not be used if x-kubernetes-embedded-resource is set"
        errors.append(field.forbidden(f"{path}.additionalProperties", text))
    if level == "root" and kind and kind != "object":
        errors.append(field.invalid(at, kind, "must be object at the root"))


def _check_resource(schema: Schema, level: str, path: str, errors: list[FieldError]) -> None:
    properties = schema.get("properties") or {}
    embedded = bool(schema.get("x-kubernetes-embedded-resource"))
    for name in each(("kind", "apiVersion") if level == "root" or embedded else ()):
        kind = (properties.get(name) or {}).get("type") or ""
        if name in properties and kind != "string":
            errors.append(field.invalid(f"{path}.properties[{name}].type", kind, "must be string"))
    if "metadata" in properties:
        meta, at = properties["metadata"] or {}, f"{path}.properties[metadata]"
        kind = meta.get("type") or ""
        if (level == "root" or embedded) and kind != "object":
            errors.append(field.invalid(f"{at}.type", kind, "must be object"))
        if level == "root" and not _has_only_names(meta):
            errors.append(field.forbidden(at, _NO_METADATA))
    if embedded and not schema.get(_PRESERVE) and not properties:
        text = f"must not be empty if x-kubernetes-embedded-resource is true without {_PRESERVE}"
        errors.append(field.required(f"{path}.properties", text))


def _has_only_names(meta: Schema) -> bool:
    names = {name for name, value in each(meta).items() if is_given(name, value)} - {"type", "default"}
    return names <= {"properties"} and set(meta.get("properties") or ()) <= {"name", "generateName"}


def is_given(name: str, value: Any) -> bool:
    """Return whether a keyword is given: by Go's rules, pointers count unless null, and booleans if true."""
    if value is None or value is False or value == "":
        return name == "additionalProperties" and value is False
    return not (isinstance(value, list | dict) and not value) or name in ("not", "items", "additionalProperties")


def _has_int_or_string_first(schema: Schema) -> bool:
    """Return whether the first part of allOf has the anyOf of int-or-string."""
    first = (schema.get("allOf") or [None])[0]
    return bool(first) and _are_int_and_string(first.get("anyOf"))


def _are_int_and_string(branches: Any) -> bool:
    if not branches or len(branches) != 2:
        return False
    dropped = () if has("PublishedExamples") else ("example", "externalDocs")
    bare = [
        {name: value for name, value in each(branch or {}).items() if _is_set(name, value) and name not in dropped}
        for branch in each(branches)
    ]
    return bare == [{"type": "integer"}, {"type": "string"}]


def _is_set(name: str, value: Any) -> bool:
    """Return whether a keyword is set. Empty lists and objects count; empty strings only if Go has a pointer there."""
    if value == "" and name in _POINTERS:
        return True
    return not (value is None or value is False or value == "")


def _check_logic(schema: Schema, path: str, errors: list[FieldError], any_of: bool, first: bool) -> None:
    """Check the parts of logic. any_of: skip anyOf. first: skip the anyOf of the first part of allOf."""
    for index, branch in enumerate(each(schema.get("anyOf") or () if not any_of else ())):
        _check_nested(branch or {}, f"{path}.anyOf[{index}]", errors, False)
    for index, branch in enumerate(each(schema.get("allOf") or ())):
        _check_nested(branch or {}, f"{path}.allOf[{index}]", errors, first and index == 0)
    for index, branch in enumerate(each(schema.get("oneOf") or ())):
        _check_nested(branch or {}, f"{path}.oneOf[{index}]", errors, False)
    if schema.get("not") is not None:
        _check_nested(schema["not"], f"{path}.not", errors, False)
    problem = regex.find_problem(schema["pattern"]) if schema.get("pattern") else ""
    if problem:
        text = f"must be a valid regular expression, but isn't: {problem}"
        errors.append(field.invalid(f"{path}.pattern", schema["pattern"], text))


def _check_nested(schema: Schema, path: str, errors: list[FieldError], any_of: bool) -> None:
    charge(1)
    _check_logic(schema, path, errors, any_of, False)
    if isinstance(schema.get("items"), dict):
        _check_nested(schema["items"], f"{path}.items", errors, False)
    for name, child in each(schema.get("properties") or {}).items():
        _check_nested(child or {}, f"{path}.properties[{name}]", errors, False)
    for name, requirement in _FORBIDDEN.items():
        value = schema.get(name)
        is_given = value is not None if name in _UNDEFINED else bool(value)
        if name == "additionalProperties":
            is_given = is_given or isinstance(value, dict) or (value is False and not has("NoMoreBelowLogic"))
        if is_given:
            errors.append(field.forbidden(f"{path}.{name}", f"must be {requirement} to be structural"))
    if "metadata" in (schema.get("properties") or {}):
        errors.append(field.forbidden(f"{path}.properties[metadata]", "must not be specified in a nested context"))


def validate_completeness(schema: Schema, path: str) -> list[FieldError]:
    """Return errors for fields that the root's allOf, anyOf, oneOf or not validates without declaring them outside."""
    errors: list[FieldError] = []
    _require_in_logic(schema, schema, path, path, errors)
    return errors


def _require_in_logic(value: Schema, declared: Schema, at: str, logic_path: str, errors: list[FieldError]) -> None:
    if value.get("not") is not None:
        _require_declared(value["not"], declared, at, f"{logic_path}.not", errors)
    for keyword in ("allOf", "anyOf", "oneOf"):
        for index, branch in enumerate(each(value.get(keyword) or ())):
            _require_declared(branch or {}, declared, at, f"{logic_path}.{keyword}[{index}]", errors)


def _require_declared(
    value: Schema, declared: Schema | None, at: str, logic_path: str, errors: list[FieldError]
) -> None:
    charge(1)
    if declared is None:
        errors.append(field.required(at, f"because it is defined in {logic_path}"))
        return
    _require_in_logic(value, declared, at, logic_path, errors)
    if isinstance(value.get("items"), dict):
        items = declared.get("items")
        child = items if isinstance(items, dict) else None
        _require_declared(value["items"], child, f"{at}.items", f"{logic_path}.items", errors)
    properties = declared.get("properties") or {}
    for name, property_schema in each(value.get("properties") or {}).items():
        step = f".properties[{name}]"
        child = (properties[name] or {}) if name in properties else None
        _require_declared(property_schema or {}, child, at + step, logic_path + step, errors)
