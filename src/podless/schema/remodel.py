"""Converts an OpenAPI v3 schema to a structural one that accepts the same values, if there is one.

Fields that only logic (allOf, anyOf, oneOf, not) declares are also declared outside of it. Missing types are inferred
from other keywords. A node without any information accepts everything. Notes list what cannot be expressed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from podless.runtime.jsonobject import Schema
from podless.schema.keywords import TYPES

_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_INT_OR_STRING = "x-kubernetes-int-or-string"
_LOGIC = ("allOf", "anyOf", "oneOf")
# keyword -> the only type that it can apply to
_TYPE_OF_KEYWORD = {
    **dict.fromkeys(("properties", "additionalProperties", "required", "minProperties", "maxProperties"), "object"),
    **dict.fromkeys(("items", "minItems", "maxItems", "uniqueItems"), "array"),
    **dict.fromkeys(("pattern", "minLength", "maxLength"), "string"),
    **dict.fromkeys(("minimum", "maximum", "multipleOf"), "number"),
}
_FORMATS = {"int32": "integer", "int64": "integer", "float": "number", "double": "number"}
_JSON = {str: "string", bool: "boolean", int: "integer", float: "number", dict: "object", list: "array"}
_UNSUPPORTED = (
    *("id", "$schema", "$ref", "patternProperties", "dependencies", "definitions"),
    *("additionalItems", "deprecated", "discriminator", "readOnly", "writeOnly", "xml"),
)
# keywords that are allowed outside of logic only, and do not restrict values
_ANNOTATIONS = ("title", "description", "default", "example", "externalDocs")
# keywords that are allowed outside of logic only, and restrict values: in logic, this restriction is lost
_OUTSIDE_LOGIC = ("additionalProperties", "nullable", _PRESERVE, "x-kubernetes-embedded-resource", _INT_OR_STRING)
_EXTENSIONS = (
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
    "x-kubernetes-validations",
)


class Note(NamedTuple):
    """A note about a converted schema. lost: a restriction is no longer checked."""

    path: str
    text: str
    lost: bool = True


def restructure(schema: Schema, path: str = "", *, preserve: bool = False) -> tuple[Schema, list[Note]]:
    """Return a structural schema made from another one, and notes about it. Does not change the given schema.

    path: the place of the schema, for the notes. preserve: keep undeclared fields at every level.
    """
    walk = _RemodelWalk(preserve)
    structural = walk.restructure_root(schema, path)
    return structural, walk.notes


class _RemodelWalk:
    def __init__(self, preserve: bool) -> None:
        self.preserve = preserve
        self.notes: list[Note] = []

    def note_loss(self, path: str, text: str) -> None:
        """Add a note about a lost restriction."""
        self.notes.append(Note(path, text))

    def restructure_root(self, schema: Schema, path: str) -> Schema:
        """Return the schema of a whole object, with its type and additionalProperties settled.

        Restrictions of metadata are kept for names only.
        """
        root = dict(schema)
        if root.get("type") not in (None, "", "object"):
            self.note_loss(f"{path}.type", f"{root['type']} was made object")
        root["type"] = "object"
        if root.pop("nullable", False):
            self.note_loss(f"{path}.nullable", "was dropped")
        if root.get("additionalProperties") is not None:
            self.note_loss(
                f"{path}.additionalProperties", "was dropped: fields of an object as a whole are declared or kept"
            )
            root[_PRESERVE] = root.pop("additionalProperties") is not False or None
        result = self.restructure_node(root, [], path)
        properties = result.get("properties") or {}
        for name in ("apiVersion", "kind"):
            if name in properties:
                properties[name]["type"] = "string"
        if "metadata" in properties:
            properties["metadata"] = self.restructure_metadata(properties["metadata"], f"{path}.properties[metadata]")
        return result

    def restructure_metadata(self, schema: Schema, path: str) -> Schema:
        """Return the part of a metadata schema that is allowed: name and generateName."""
        names = {
            key: value for key, value in (schema.get("properties") or {}).items() if key in ("name", "generateName")
        }
        dropped = [name for name in schema.get("properties") or () if name not in names]
        dropped += [name for name in schema if name not in ("type", "properties", "description", _PRESERVE)]
        if dropped:
            self.note_loss(path, f"{', '.join(sorted(dropped))} dropped: only name and generateName may be restricted")
        return {"type": "object"} | ({"properties": names} if names else {})

    def restructure_node(self, schema: Schema, implied: list[Schema], path: str) -> Schema:
        """Return a node outside of logic. implied: parts of logic above that apply to the same values."""
        branches = [branch for schema_or_part in (schema, *implied) for branch in _walk_branches(schema_or_part)]
        implied = [*implied, *branches]
        for name in _UNSUPPORTED:
            if schema.get(name):
                self.note_loss(f"{path}.{name}", "was dropped: not supported")
        if schema.get("uniqueItems"):
            self.note_loss(f"{path}.uniqueItems", "was dropped: not supported")
        skip = {*_UNSUPPORTED, *_LOGIC, "not", "type", "properties", "items", "additionalProperties", "uniqueItems"}
        result: Schema = self.infer_type(schema, implied, path)
        result |= {key: value for key, value in schema.items() if key not in skip and value is not None}
        kind = _get_type(result)
        if kind in ("object", ""):
            self.set_properties(result, schema, implied, path)
        if kind in ("array", ""):
            self.set_items(result, schema, implied, path)
        self.set_logic(result, schema, path)
        return result

    def infer_type(self, schema: Schema, implied: list[Schema], path: str) -> Schema:
        """Return the type: as given, or inferred from other keywords."""
        kind = schema.get("type") or ""
        if kind in TYPES:
            return {"type": kind}
        if schema.get(_INT_OR_STRING) or _is_int_or_string(schema):
            return {_INT_OR_STRING: True}
        if kind == "null":
            self.note_loss(f"{path}.type", "null was dropped: see nullable")
            return {_PRESERVE: True}
        if kind:
            self.note_loss(f"{path}.type", f"{kind} was dropped: not a type")
        if schema.get(_PRESERVE):
            return {_PRESERVE: True}
        inferred = _infer_keyword_type(schema)
        types = (
            {inferred}
            if inferred
            else {part_type for branch in implied if (part_type := branch.get("type") or _infer_keyword_type(branch))}
        )
        if len(types) == 1 and types <= set(TYPES):
            (only_type,) = types
            self.notes.append(Note(f"{path}.type", f"was inferred: {only_type}", lost=False))
            return {"type": only_type}
        return {_PRESERVE: True}

    def set_properties(self, schema: Schema, source: Schema, implied: list[Schema], path: str) -> None:
        """Set the fields of an object, and whether it keeps unknown fields."""
        declared = source.get("properties") or {}
        names = dict.fromkeys(name for rule in (source, *implied) for name in rule.get("properties") or ())
        properties = {}
        for name in names:
            from_logic = [rule["properties"][name] or {} for rule in implied if name in (rule.get("properties") or {})]
            properties[name] = self.restructure_node(declared.get(name) or {}, from_logic, f"{path}.properties[{name}]")
        additional = source.get("additionalProperties")
        if additional is False:
            self.note_loss(f"{path}.additionalProperties", "false was dropped: undeclared fields are not rejected")
        elif isinstance(additional, dict) and properties:
            self.note_loss(f"{path}.additionalProperties", "was dropped: it does not go with properties")
            schema[_PRESERVE] = True
        elif additional is not None and properties:
            schema[_PRESERVE] = True
        elif isinstance(additional, dict):
            from_logic = [
                rule["additionalProperties"] for rule in implied if isinstance(rule.get("additionalProperties"), dict)
            ]
            schema["additionalProperties"] = self.restructure_node(
                additional, from_logic, f"{path}.additionalProperties"
            )
        elif additional:
            schema["additionalProperties"] = True
        if properties:
            schema["properties"] = properties
        if self.preserve and schema.get("type") == "object" and "additionalProperties" not in schema:
            schema[_PRESERVE] = True

    def set_items(self, schema: Schema, source: Schema, implied: list[Schema], path: str) -> None:
        """Set the items of a list."""
        items = source.get("items")
        from_logic = [branch["items"] for branch in implied if isinstance(branch.get("items"), dict)]
        if isinstance(items, list):
            self.note_loss(f"{path}.items", "was dropped: one schema for each place is not supported")
            schema["items"] = {_PRESERVE: True}
        elif items is not None or from_logic:
            schema["items"] = self.restructure_node(items or {}, from_logic, f"{path}.items")
        elif schema.get("type") == "array":
            schema["items"] = {_PRESERVE: True}

    def set_logic(self, schema: Schema, source: Schema, path: str) -> None:
        """Set allOf, anyOf, oneOf and not, with the keywords allowed in them.

        A less strict part can make the whole schema less strict.
        """
        if schema.get(_INT_OR_STRING) and _is_int_or_string(source):
            schema["anyOf"] = [{"type": "integer"}, {"type": "string"}]
            source = {key: value for key, value in source.items() if key != "anyOf"}
        for keyword in _LOGIC:
            stripped = [_strip_part(branch or {}, schema) for branch in source.get(keyword) or ()]
            if not stripped:
                continue
            if any(not exact for _, exact in stripped) and keyword == "oneOf":
                self.note_loss(f"{path}.oneOf", "was dropped: it tells values apart by what may not be said there")
                continue
            if any(not exact for _, exact in stripped):
                self.note_loss(f"{path}.{keyword}", "checks less: some of it may not be said there")
            schema[keyword] = [branch for branch, _ in stripped]
        if source.get("not") is not None:
            branch, exact = _strip_part(source["not"], schema)
            if exact:
                schema["not"] = branch
            else:
                self.note_loss(f"{path}.not", "was dropped: it tells values apart by what may not be said there")


def _walk_branches(schema: Schema) -> Iterator[Schema]:
    """Yield the parts of logic that apply to the same values, at any depth."""
    branches: Iterable[Any] = [branch for keyword in _LOGIC for branch in schema.get(keyword) or ()]
    for branch in (*branches, schema.get("not")):
        if branch:
            yield branch
            yield from _walk_branches(branch)


def _is_int_or_string(schema: Schema) -> bool:
    choices = schema.get("anyOf") or []
    return len(choices) == 2 and {"integer", "string"} == {choice.get("type") for choice in choices if len(choice) == 1}


def _infer_keyword_type(schema: Schema) -> str:
    """Return the type that the keywords imply, "" if they leave it open."""
    values = schema.get("enum") or ([schema["default"]] if schema.get("default") is not None else [])
    kinds = {_JSON.get(type(value), "") for value in values}
    if kinds == {"integer", "number"}:
        return "number"
    if len(kinds) == 1:
        return kinds.pop()
    if schema.get("format"):
        return _FORMATS.get(schema["format"], "string")
    applicable = {kind for keyword, kind in _TYPE_OF_KEYWORD.items() if schema.get(keyword) is not None}
    return applicable.pop() if len(applicable) == 1 else ""


def _strip_part(part: Schema, outside: Schema) -> tuple[Schema, bool]:
    """Return a part of logic without forbidden keywords, and whether it checks the same.

    outside: the node that contains it.
    """
    stripped: Schema = {}
    exact, kind = True, _get_type(outside)
    for key, value in part.items():
        if key in _ANNOTATIONS or value is None:
            continue
        if key == "type":
            exact = exact and value == outside.get("type")
        elif key in _OUTSIDE_LOGIC or key in _EXTENSIONS or key in _UNSUPPORTED or key == "uniqueItems":
            exact = exact and not value and key != "additionalProperties"
        elif key == "properties":
            if kind not in ("", "object"):
                continue  # values of this type have no fields
            stripped[key], is_exact = _strip_properties(value, outside.get("properties") or {})
            exact = exact and is_exact
        elif key == "items":
            if kind not in ("", "array"):
                continue  # values of this type have no items
            if isinstance(value, dict) and isinstance(outside.get("items"), dict):
                stripped[key], is_exact = _strip_part(value, outside["items"])
                exact = exact and is_exact
            else:
                exact = False
        elif key in _LOGIC:
            parts = [_strip_part(branch or {}, outside) for branch in value]
            is_exact = all(branch_exact for _, branch_exact in parts)
            exact = exact and is_exact
            if is_exact or key != "oneOf":
                stripped[key] = [branch for branch, _ in parts]
        elif key == "not":
            negated, is_exact = _strip_part(value, outside)
            exact = exact and is_exact
            if is_exact:
                stripped[key] = negated
        else:
            stripped[key] = value
    return stripped, exact


def _strip_properties(properties: Schema, outside: Schema) -> tuple[Schema, bool]:
    """Return the properties of a part of logic as `_strip_part` does. outside: those of the node that contains it."""
    stripped: Schema = {}
    exact = True
    for name, child in properties.items():
        if name == "metadata" or name not in outside:
            exact = False
            continue
        stripped[name], is_exact = _strip_part(child or {}, outside[name])
        exact = exact and is_exact
    return stripped, exact


def _get_type(schema: Schema) -> str:
    """Return the type of a converted node; "" if it accepts several types."""
    return str(schema.get("type") or ("string" if schema.get(_INT_OR_STRING) else ""))
