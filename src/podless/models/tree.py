"""The classes for the versions of a definition: names, types, defaults, and constraints that types cannot express.

Their description does not depend on the style; podless.models.render writes it.
"""

from __future__ import annotations

import hashlib
import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from podless.models.definition import HEAD, INT_OR_STRING, PRESERVE
from podless.runtime.jsonobject import Object

NOTHING: Any = object()
_LONGEST = 48  # maximum characters of a class name
_INLINE = 30  # maximum characters of an annotation inside a type
_SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
_VALUES = {"string": str, "integer": int, "boolean": bool}
# names that modules import
IMPORTED = (
    "Annotated", "Any", "BaseModel", "CheckedSchema", "ConfigDict", "Field", "FieldError", "Literal", "Model",
    "NotRequired", "ObjectMeta", "Required", "Resource", "TypedDict", "dataclass", "field", "kind", "read_object",
    "schema",
)  # fmt: skip
# names of attributes that classes have already, also in pydantic
_TAKEN = frozenset(
    (
        *(name for name in IMPORTED if name[0].isupper()), "check", "construct", "copy", "dict", "extra_", "field",
        "fields", "from_dict", "from_orm", "json", "parse_file", "parse_obj", "parse_raw", "schema", "schema_json",
        "to_dict", "update_forward_refs", "validate",
    )
)  # fmt: skip
_BUILTIN = frozenset(("bool", "bytes", "dict", "float", "int", "list", "object", "str", "type"))


@dataclass(frozen=True, slots=True)
class ModelType:
    """A type as text. base: the schema that the type expresses. names: the names that the text uses."""

    text: str
    base: Object
    names: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Member:
    """A field. json: its name in objects. extra: keywords of its schema that its type does not express."""

    name: str
    json: str
    type: ModelType
    required: bool
    default: Any
    extra: Object
    doc: str


@dataclass(slots=True)
class Class:
    """A class. extra: schema keywords that its fields do not express. named: the kind, if it is of whole objects."""

    name: str
    doc: str
    members: list[Member]
    extra: Object
    named: NamedKind | None = None
    schema: Object = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NamedKind:
    """A kind in one version. options: those of the decorator `kind`, except group and version."""

    group: str
    version: str
    kind: str
    options: Mapping[str, Any]


@dataclass(slots=True)
class Alias:
    """A name for a type: `of` with arguments. names: for its imports. extra: keywords of the last, a `schema`."""

    name: str
    of: str
    arguments: list[str]
    names: frozenset[str]
    extra: Object = field(default_factory=dict)


class Tree:
    """All classes of one module, each after those that it uses. parts: classes and aliases."""

    def __init__(self, *, keywords_inside: bool) -> None:
        self.parts: list[Class | Alias] = []
        self._names: set[str] = set()
        self._keywords_inside = keywords_inside

    def reserve_name(self, name: str) -> None:
        """Reserve a name for a kind."""
        self._names.add(name)

    def add_version(self, definition: Object, version: Object) -> None:
        """Add the classes of one version of a definition."""
        node = (version.get("schema") or {}).get("openAPIV3Schema") or {"type": "object", PRESERVE: True}
        named = read_named(definition, version)
        model = self._add_class(node, named.kind, root=named)
        model.named, model.schema = named, node

    def _make_unique(self, base: str) -> str:
        base = shorten_name(base)
        name, number = base, 1
        while name in self._names:
            number += 1
            name = f"{base}{number}"
        self._names.add(name)
        return name

    def _add_class(self, node: Object, name: str, root: NamedKind | None = None, doc: str = "") -> Class:
        properties: Object = node.get("properties") or {}
        required = node.get("required") or []
        members, base = list[Member](), dict[str, Any]()
        for json in sorted(properties):
            if root is not None and json in HEAD:
                continue
            member = self._make_member(
                json, properties[json], json in required, name, {entry.name for entry in members}
            )
            members.append(member)
            base[json] = properties[json]
        described: Object = {"type": "object"}
        if base:
            described["properties"] = base
        if needed := [entry.json for entry in members if entry.required]:
            described["required"] = needed
        extra = find_differences({**node, "properties": base} if base else drop_keywords(node, "properties"), described)
        listed = extra.get("required", needed)
        if sorted(listed or ()) == needed and "required" in extra and len(listed) == len(needed):
            del extra["required"]
        result = Class(name, doc or (node.get("description") or "" if root is not None else ""), members, extra)
        self.parts.append(result)
        return result

    def _make_member(self, json: str, node: Object, required: bool, within: str, used_names: set[str]) -> Member:
        kind = self._infer_type(node, f"{within}{make_title(json)}")
        default = node.get("default", NOTHING)
        extra = find_differences(node, kind.base)
        extra.pop("description", None)
        if default is not NOTHING and not isinstance(default, dict):
            extra.pop("default", None)
        return Member(
            make_attribute_name(json, used_names, within), json, kind, required and default is NOTHING, default, extra,
            node.get("description") or "",
        )  # fmt: skip

    def _infer_type(self, node: Object, name: str) -> ModelType:
        declared = node.get("type")
        if node.get(INT_OR_STRING):
            return ModelType("int | str", {INT_OR_STRING: True})
        if declared in _SCALARS:
            return self._infer_choice(node, name) or ModelType(_SCALARS[declared], {"type": declared})
        if declared == "array":
            item_type = self._infer_inner(node.get("items") or {}, f"{name}Item")
            return ModelType(f"list[{item_type.text}]", {"type": "array", "items": item_type.base}, item_type.names)
        if declared == "object" and node.get("properties"):
            return self._add_nested(node, name)
        if declared == "object" and isinstance(node.get("additionalProperties"), dict):
            item_type = self._infer_inner(node["additionalProperties"], f"{name}Value")
            if item_type.text != "Any":
                base = {"type": "object", "additionalProperties": item_type.base}
                return ModelType(f"dict[str, {item_type.text}]", base, item_type.names)
        if declared == "object":
            return ModelType("dict[str, Any]", {"type": "object", PRESERVE: True}, frozenset({"Any"}))
        return ModelType("Any", {PRESERVE: True}, frozenset({"Any"}))

    def _add_nested(self, node: Object, name: str, doc: str = "") -> ModelType:
        model = self._add_class(node, self._make_unique(name), doc=doc)
        expressed = {"type", "properties", "required", *model.extra}
        base = {key: value for key, value in node.items() if key in expressed}
        return ModelType(model.name, base)

    def _infer_inner(self, node: Object, name: str) -> ModelType:
        """Return the type of items or values; an annotation adds the keywords that the type cannot express."""
        if node.get("type") == "object" and node.get("properties"):
            nested = self._add_nested(node, name, node.get("description") or "")
            described = {"description": node["description"]} if "description" in node else {}
            inferred = ModelType(nested.text, nested.base | described)
        else:
            inferred = self._infer_type(node, name)
        extra = find_differences(node, inferred.base)
        if not extra or not self._keywords_inside:
            return ModelType(inferred.text, dict(node), inferred.names)
        names = inferred.names | {"Annotated", "schema"}
        text = f"Annotated[{inferred.text}, {call_schema(extra)}]"
        if len(text) <= _INLINE:
            return ModelType(text, dict(node), names)
        alias = Alias(self._make_unique(name), "Annotated", [inferred.text], names, extra)
        self.parts.append(alias)
        return ModelType(alias.name, dict(node))

    def _infer_choice(self, node: Object, name: str) -> ModelType | None:
        values = node.get("enum")
        python = _VALUES.get(node["type"])
        if not values or python is None or not all(type(value) is python for value in values):
            return None
        alias = Alias(
            self._make_unique(name), "Literal", [write_literal(value) for value in values], frozenset({"Literal"})
        )
        self.parts.append(alias)
        return ModelType(alias.name, {"type": node["type"], "enum": values})


def read_named(definition: Object, version: Object) -> NamedKind:
    """Return the kind and the options of the decorator `kind` for one version of a definition."""
    spec = definition["spec"]
    names, subresources = spec["names"], version.get("subresources") or {}
    kind, plural = names["kind"], names["plural"]
    options: Object = {
        "plural": plural,
        "singular": _choose_name(names.get("singular"), kind.lower()),
        "list_kind": _choose_name(names.get("listKind"), f"{kind}List"),
        "short_names": names.get("shortNames") or [],
        "categories": names.get("categories") or [],
        "scope": "" if spec["scope"] == "Namespaced" else spec["scope"],
        "metadata": _read_metadata_restrictions(version),
        "columns": version.get("additionalPrinterColumns") or [],
        "status": "status" in subresources,
        "scale": subresources.get("scale"),
        "selectable": [field["jsonPath"] for field in version.get("selectableFields") or ()],
    }
    chosen = {name: value for name, value in options.items() if value}
    if not version.get("storage"):
        chosen["storage"] = False
    if not version.get("served"):
        chosen["served"] = False
    if version.get("deprecated"):
        chosen["deprecated"] = version.get("deprecationWarning") or True
    return NamedKind(spec["group"], version["name"], kind, chosen)


def _choose_name(name: str | None, usual: str) -> str:
    """Return a name, "" for the one that `kind` and the server choose."""
    return "" if name is None or name == usual else name


def _read_metadata_restrictions(version: Object) -> Object:
    """Return the restrictions of metadata in a schema, beyond its type."""
    properties = ((version.get("schema") or {}).get("openAPIV3Schema") or {}).get("properties") or {}
    return drop_keywords(properties.get("metadata") or {}, "type", "description")


def find_differences(node: Object, base: Object) -> Object:
    """Return the keywords of `node` that `base` lacks or has with another value.

    Keywords that only `base` has are None.
    """
    different = {key: value for key, value in node.items() if key not in base or not are_equal(base[key], value)}
    return different | {key: None for key in base if key not in node}


def are_equal(left: Any, right: Any) -> bool:
    """Return whether two parts of a schema are equal: True is not 1."""
    return type(left) is type(right) and left == right if not isinstance(left, dict | list) else left == right


def drop_keywords(node: Object, *names: str) -> Object:
    """Return a schema without some keywords."""
    return {key: value for key, value in node.items() if key not in names}


def shorten_name(name: str) -> str:
    """Return a class name that fits in a line: its first word, a digest of the whole name, and its last words."""
    if len(name) <= _LONGEST:
        return name
    words = re.findall(r"[A-Z]?[^A-Z]+|[A-Z]+", name)
    digest = hashlib.sha256(name.encode()).hexdigest()[:6].upper()
    first, last = words[0][:16], ""
    for word in reversed(words[1:]):
        if len(first) + 7 + len(word) + len(last) > _LONGEST:
            break
        last = word + last
    return f"{first}X{digest}{last}"


def make_title(name: str) -> str:
    """Return a name in CamelCase, as part of a class name."""
    words = re.split(r"[^0-9A-Za-z]+", name)
    return "".join(word[:1].upper() + word[1:] for word in words) or "Field"


def make_attribute_name(json: str, used_names: set[str], within: str) -> str:
    """Return the attribute name of a field: its own name, if Python and the class allow that."""
    name = re.sub(r"\W", "_", json, flags=re.ASCII).lstrip("_") or "field"
    if name[0].isdigit():
        name = f"field_{name}"
    if name.startswith(("model_dump", "model_validate")):  # pydantic warns of names with these prefixes
        name = f"field_{name}"
    # an attribute with the name of a type would hide the type in its class; nested types begin with the class's name
    reserved = name in _TAKEN or name in _BUILTIN or name.startswith(("model_", within))
    if keyword.iskeyword(name) or reserved:
        name += "_"
    while name in used_names:
        name += "_"
    return name


def call_schema(extra: Object) -> str:
    """Return a call of `schema` with these keywords, as Python on one line."""
    arguments = (f"{name_argument(key)}={write_literal(value)}" for key, value in sorted(extra.items()))
    return f"schema({', '.join(arguments)})"


def name_argument(key: str) -> str:
    """Return the argument name of `schema` for a keyword of OpenAPI."""
    name = key.replace("-", "_")
    return f"{name}_" if keyword.iskeyword(name) else name


def write_literal(value: Any) -> str:
    """Return a JSON value as Python on one line, with ruff's choice of quotes."""
    if isinstance(value, str):
        escaped = "".join(char if char in "'\"" else repr(char)[1:-1] for char in value)
        if value.count('"') > value.count("'"):
            return "'" + escaped.replace("'", "\\'") + "'"
        return '"' + escaped.replace('"', '\\"') + '"'
    if isinstance(value, dict):
        return "{" + ", ".join(f"{write_literal(key)}: {write_literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(write_literal, value)) + "]"
    return repr(value).replace("e+", "e")
