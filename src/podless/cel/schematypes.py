"""Schemas as types: the type that an expression sees for a value with an openAPIV3Schema, and its maximum size.

Decoded JSON stays unchanged; a declaration gives the type of each part. A value that differs between JSON and CEL, such
as a timestamp, is converted when it is used. Source: k8s.io/apiserver pkg/cel/common.
"""

from __future__ import annotations

from collections.abc import Iterator

from podless.cel import types
from podless.cel.lexer import RESERVED
from podless.cel.types import FieldTypes, Type
from podless.runtime.jsonobject import Schema
from podless.runtime.lazy import compile_late
from podless.runtime.memo import fill_attribute, remember_value
from podless.runtime.meter import charge
from podless.runtime.release import has

MAX_REQUEST = 3 * 1024 * 1024
_TEXT: Schema = {"type": "string"}
_METADATA: Schema = {"type": "object", "properties": {"name": _TEXT, "generateName": _TEXT}}
# format: kind, type, minimum bytes in JSON, maximum characters
_FORMATS = {
    "byte": ("bytes", types.BYTES, 2, MAX_REQUEST - 2),
    "duration": ("duration", types.DURATION, 3, 32),
    "date": ("date", types.TIMESTAMP, 12, 12),
    "date-time": ("date-time", types.TIMESTAMP, 21, 32),
}
_SCALARS = {"boolean": ("bool", types.BOOL, 4), "number": ("double", types.DOUBLE, 1), "integer": ("int", types.INT, 1)}
_PLAIN_KINDS = frozenset(("int", "string", "bool", "dyn"))
_WHOLE_KINDS = frozenset(("int", "dyn"))
_IDENTIFIER = compile_late(r"[a-zA-Z_][a-zA-Z0-9_]*\Z")
_ALLOWED = compile_late(r"[a-zA-Z_.\-/][a-zA-Z0-9_.\-/]*\Z")
_ESCAPABLE = compile_late(r"__|[-./]")
_ESCAPES = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_UNESCAPES = {"underscores": "__", "dot": ".", "dash": "-", "slash": "/"}
_ESCAPED = compile_late(r"__([^_]+)__")
_ITEMS, _VALUES = "@idx", "@elem"  # steps in the names of types, from a list or map to its items


class SchemaTypes(FieldTypes):
    """All types of a schema by name, each made at first use. name: of the root's type, without a dot.

    with_floats: a float is allowed for an integer, because clients can send one.
    """

    __slots__ = ("_name", "root")

    def __init__(self, schema: Schema, *, resource: bool, name: str = "selfType", with_floats: bool = False) -> None:
        self._name = name
        self.root = _declare(schema, resource, name, with_floats)

    def find_struct(self, struct: str) -> Decl | None:
        """Return the declaration of a struct type, None if the schema does not have it."""
        name, *steps = struct.split(".")
        decl = self.root if name == self._name else None
        charge(len(steps))
        for step in steps:
            if decl is None:
                return None
            decl = decl.items if step in (_ITEMS, _VALUES) else decl.find_field(step)
        return decl

    def find_field_type(self, struct: str, name: str) -> Type | None:
        decl = self.find_struct(struct)
        field = decl.find_field(name) if decl is not None else None
        return None if field is None else field.type


class Decl:
    """The declaration of a part of a schema (DeclType in Kubernetes).

    kind: of its values. min_bytes: minimum bytes in JSON. max_items: maximum number of items. is_plain: the value is
    the same in JSON and CEL. items: of a list or map. keys: of a map, if more than their type is known.
    """

    __slots__ = (
        "_fields", "_min_bytes", "_plain", "_with_floats", "items", "keys", "kind", "max_items", "nullable", "schema",
        "type",
    )  # fmt: skip

    def __init__(self, with_floats: bool, kind: str, type_: Type, schema: Schema, minimum: int, maximum: int) -> None:
        self._with_floats = with_floats
        self.kind = kind
        self.type = type_
        self.schema = schema
        self._min_bytes = minimum
        self.max_items = maximum
        self.nullable = bool(schema.get("nullable"))
        self.items: Decl | None = None
        self.keys: Decl | None = None
        self._fields: dict[str, Decl | None] = {}
        self._plain: bool | None = None

    def find_field(self, name: str) -> Decl | None:
        """Return a field by its name in expressions, None if it does not exist."""
        return remember_value(self._fields, name, lambda: self._declare_field(name))

    def _declare_field(self, name: str) -> Decl | None:
        properties = self.schema.get("properties") or {}
        real = unescape_field(name)
        field_schema = properties.get(real)
        if field_schema is None or self.kind != "object":
            return None
        usual = escape_name(real)
        # newer releases also accept a reserved word without the escape, where the grammar allows it as a name
        if usual is None or (usual != name and (usual != f"__{name}__" or not has("CELPlainKeywords"))):
            return None
        return _declare_part(field_schema, f"{self.type.name}.{usual}", self._with_floats)

    def iterate_fields(self) -> Iterator[tuple[str, str, Decl]]:
        """Yield all fields: the name in expressions, the name in JSON, the declaration."""
        for real in self.schema.get("properties") or {}:
            name = escape_name(real)
            decl = self.find_field(name) if name is not None else None
            if name is not None and decl is not None:
                yield name, real, decl

    @property
    def min_bytes(self) -> int:
        """The minimum bytes in JSON."""
        return self._min_bytes if self._min_bytes >= 0 else fill_attribute(self, "_min_bytes", self._sum_min_bytes)

    def _sum_min_bytes(self) -> int:
        properties = self.schema.get("properties") or {}
        total = 2
        for name in dict.fromkeys(self.schema.get("required") or ()):
            field_schema = properties.get(name)
            if field_schema is None or field_schema.get("default") is not None:
                continue
            decl = _declare_part(field_schema, f"{self.type.name}.{escape_name(name) or name}", self._with_floats)
            if decl is not None:
                total += len(name.encode()) + decl.min_bytes + 4
        return total

    @property
    def is_plain(self) -> bool:
        """Whether values are the same in JSON and in CEL."""
        return self._plain if self._plain is not None else fill_attribute(self, "_plain", self._check_plain)

    def declare_all(self) -> None:
        """Make all declarations of fields, at every depth, which are otherwise made at first use."""
        todo = [self]
        while todo:
            charge(1)
            decl = todo.pop()
            _ = decl.is_plain
            todo.extend(child for _, _, child in decl.iterate_fields())
            todo.extend(child for child in (decl.items, decl.keys) if child is not None)

    def _check_plain(self) -> bool:
        if self.kind in _PLAIN_KINDS:
            return not (self._with_floats and self.kind in _WHOLE_KINDS)
        if self.kind == "list":
            assert self.items is not None
            return self.schema.get("x-kubernetes-list-type") not in ("set", "map") and self.items.is_plain
        if self.kind == "map":
            assert self.items is not None
            return self.items.is_plain
        if self.kind != "object" or self.schema.get("x-kubernetes-preserve-unknown-fields"):
            return False
        properties = self.schema.get("properties") or {}
        fields = list(self.iterate_fields())
        same_names = len(fields) == len(properties) and all(name == real for name, real, _ in fields)
        return same_names and all(child.is_plain and not child.nullable for _, _, child in fields)


def _declare(schema: Schema, resource: bool, name: str, with_floats: bool) -> Decl | None:
    """Return the declaration of a schema; None if expressions cannot use the value."""
    if schema.get("x-kubernetes-int-or-string"):
        longest = schema.get("maxLength") if has("CELIntOrStringLengths") else None
        max_items = MAX_REQUEST - 2 if longest is None else max(longest, 0) * 4
        return Decl(with_floats, "dyn", types.DYN, schema, 1, max_items)
    if resource:
        schema = add_metadata(schema)
    kind = schema.get("type")
    if kind == "array":
        return _declare_list(schema, name, with_floats)
    if kind == "object":
        return _declare_object(schema, name, with_floats)
    if kind == "string":
        return _declare_text(schema, with_floats)
    if kind in _SCALARS:
        word, type_, min_bytes = _SCALARS[kind]
        return Decl(with_floats, word, type_, schema, min_bytes, 0)
    return None


def _declare_part(schema: Schema, name: str, with_floats: bool) -> Decl | None:
    return _declare(schema, bool(schema.get("x-kubernetes-embedded-resource")), name, with_floats)


def _declare_list(schema: Schema, name: str, with_floats: bool) -> Decl | None:
    items = schema.get("items")
    item_decl = _declare_part(items, f"{name}.{_ITEMS}", with_floats) if isinstance(items, dict) else None
    if item_decl is None:
        return None
    limit = schema.get("maxItems")
    max_items = (MAX_REQUEST - 2) // (item_decl.min_bytes + 1) if limit is None else max(limit, 0)
    decl = Decl(with_floats, "list", types.list_of(item_decl.type), schema, 2, max_items)
    decl.items = item_decl
    return decl


def _declare_object(schema: Schema, name: str, with_floats: bool) -> Decl | None:
    values = schema.get("additionalProperties")
    if not isinstance(values, dict):
        return Decl(with_floats, "object", types.struct_type(name), schema, -1, 0)
    value_decl = _declare_part(values, f"{name}.{_VALUES}", with_floats)
    if value_decl is None:
        return None
    limit = schema.get("maxProperties")
    max_items = (MAX_REQUEST - 2) // (value_decl.min_bytes + 6) if limit is None else max(limit, 0)
    decl = Decl(with_floats, "map", types.map_of(types.STRING, value_decl.type), schema, 2, max_items)
    decl.items = value_decl
    return decl


def _declare_text(schema: Schema, with_floats: bool) -> Decl:
    longest = schema.get("maxLength")
    kind, type_, min_bytes, max_items = _FORMATS.get(
        schema.get("format") or "", ("string", types.STRING, 2, MAX_REQUEST - 2)
    )
    if kind == "bytes" and longest is not None:
        max_items = max(longest, 0)
    elif kind == "string" and longest is not None:
        max_items = max(longest, 0) * 4
    elif kind == "string" and schema.get("enum"):
        max_items = max((len(item.encode()) for item in schema["enum"] if isinstance(item, str)), default=0)
    return Decl(with_floats, kind, type_, schema, min_bytes, max_items)


def add_metadata(schema: Schema) -> Schema:
    """Return the schema of a resource, which always has kind, apiVersion and the names in its metadata."""
    properties = schema.get("properties") or {}
    metadata = properties.get("metadata") or {}
    metadata_properties = metadata.get("properties") or {}
    identifying = (
        properties.get("kind"),
        properties.get("apiVersion"),
        metadata_properties.get("name"),
        metadata_properties.get("generateName"),
    )
    if metadata.get("type") == "object" and all((child or {}).get("type") == "string" for child in identifying):
        return schema
    return {**schema, "properties": {**properties, "kind": _TEXT, "apiVersion": _TEXT, "metadata": _METADATA}}


def escape_name(name: str) -> str | None:
    """Return a property's name as a CEL field, None if it has no such form."""
    if name in RESERVED:
        return f"__{name}__"
    if "__" not in name and _IDENTIFIER.match(name):
        return name
    if not _ALLOWED.match(name):
        return None
    return _ESCAPABLE.sub(lambda match: _ESCAPES[match.group()], name)


def unescape_field(field: str) -> str:
    """Return the property name of a CEL field."""
    if "__" not in field:
        return field
    if field.startswith("__") and field.endswith("__") and field[2:-2] in RESERVED:
        return field[2:-2]
    return _ESCAPED.sub(lambda match: _UNESCAPES.get(match[1], match.group()), field)
