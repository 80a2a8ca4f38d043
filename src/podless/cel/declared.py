"""Schemas as types: what an expression sees of a value that obeys an openAPIV3Schema, and how large it can be.

Decoded JSON stays as it is. A declaration says which part of it is which type; where a value is not in JSON what it
is in the language, such as a timestamp, it is converted when it is used. Source: apiserver's pkg/cel/common.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from typing import Any

from podless.cel import gotimes, types
from podless.cel.errors import EvaluationError
from podless.cel.escape import escape, unescape
from podless.cel.types import Type
from podless.cel.values import SECOND, Duration, MapList, SetList, Timestamp
from podless.meta import codec

Schema = dict[str, Any]
MAX_REQUEST = 3 * 1024 * 1024
_TEXT: Schema = {"type": "string"}
_METADATA: Schema = {"type": "object", "properties": {"name": _TEXT, "generateName": _TEXT}}
# format -> kind, type, least size in JSON, most characters
_FORMATS = {
    "byte": ("bytes", types.BYTES, 2, MAX_REQUEST - 2),
    "duration": ("duration", types.DURATION, 3, 32),
    "date": ("date", types.TIMESTAMP, 12, 12),
    "date-time": ("date-time", types.TIMESTAMP, 21, 32),
}
_SCALARS = {"boolean": ("bool", types.BOOL, 4), "number": ("double", types.DOUBLE, 1), "integer": ("int", types.INT, 1)}
_GO = {
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
    list: "[]interface {}",
    dict: "map[string]interface {}",
}
_PLAIN_KINDS = frozenset(("int", "string", "bool", "dyn"))


class Unknown:
    """Data that no schema describes: it is compared as JSON is, where 1 and 1.0 are two things."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unknown) and codec.equal(self.value, other.value)

    def __hash__(self) -> int:
        return hash(codec.encode_sorted(self.value))


class Declared:
    """All types that a schema makes, by name; they are made when they are first asked for."""

    __slots__ = ("root", "structs")

    def __init__(self, schema: Schema, *, resource: bool, name: str = "selfType") -> None:
        self.structs: dict[str, Decl] = {}
        self.root = self.declare(schema, resource, name)

    def declare(self, schema: Schema, resource: bool, name: str) -> Decl | None:
        """The declaration of a schema; None where expressions may not see the value."""
        if schema.get("x-kubernetes-int-or-string"):
            longest = schema.get("maxLength")
            most = MAX_REQUEST - 2 if longest is None else max(longest, 0) * 4
            return Decl(self, "dyn", types.DYN, schema, 1, most)
        if resource:
            schema = with_metadata(schema)
        kind = schema.get("type")
        if kind == "array":
            return self._list(schema, name)
        if kind == "object":
            return self._object(schema, name)
        if kind == "string":
            return self._text(schema)
        if kind in _SCALARS:
            word, type_, least = _SCALARS[kind]
            return Decl(self, word, type_, schema, least, 0)
        return None

    def _list(self, schema: Schema, name: str) -> Decl | None:
        items = schema.get("items")
        if not isinstance(items, dict):
            return None
        inner = self.declare(items, bool(items.get("x-kubernetes-embedded-resource")), f"{name}.@idx")
        if inner is None:
            return None
        limit = schema.get("maxItems")
        most = (MAX_REQUEST - 2) // (inner.least + 1) if limit is None else max(limit, 0)
        decl = Decl(self, "list", types.list_of(inner.type), schema, 2, most)
        decl.items = inner
        return decl

    def _object(self, schema: Schema, name: str) -> Decl | None:
        values = schema.get("additionalProperties")
        if isinstance(values, dict):
            inner = self.declare(values, bool(values.get("x-kubernetes-embedded-resource")), f"{name}.@elem")
            if inner is None:
                return None
            limit = schema.get("maxProperties")
            most = (MAX_REQUEST - 2) // (inner.least + 6) if limit is None else max(limit, 0)
            decl = Decl(self, "map", types.map_of(types.STRING, inner.type), schema, 2, most)
            decl.items = inner
            return decl
        decl = Decl(self, "object", types.struct(name), schema, -1, 0)
        self.structs[name] = decl
        return decl

    def _text(self, schema: Schema) -> Decl:
        longest = schema.get("maxLength")
        kind, type_, least, most = _FORMATS.get(
            schema.get("format") or "", ("string", types.STRING, 2, MAX_REQUEST - 2)
        )
        if kind == "bytes" and longest is not None:
            most = max(longest, 0)
        elif kind == "string" and longest is not None:
            most = max(longest, 0) * 4
        elif kind == "string" and schema.get("enum"):
            most = max((len(item.encode()) for item in schema["enum"] if isinstance(item, str)), default=0)
        return Decl(self, kind, type_, schema, least, most)

    def field(self, struct: str, name: str) -> Type | None:
        """The type of a field of a struct type."""
        decl = self.structs.get(struct)
        found = decl.field(name) if decl is not None else None
        return None if found is None else found.type

    def constructs(self, struct: str) -> bool:
        """Rules cannot make values of struct types."""
        return False


class Decl:
    """A part of a schema. kind: what its values are. least: bytes it takes in JSON. most: how many items it can have.

    plain: JSON and the language have the same value.
    """

    __slots__ = ("_fields", "_least", "_plain", "items", "kind", "most", "nullable", "owner", "schema", "type")

    def __init__(self, owner: Declared, kind: str, type_: Type, schema: Schema, least: int, most: int) -> None:
        self.owner = owner
        self.kind = kind
        self.type = type_
        self.schema = schema
        self._least = least
        self.most = most
        self.nullable = bool(schema.get("nullable"))
        self.items: Decl | None = None
        self._fields: dict[str, Decl | None] = {}
        self._plain: bool | None = None

    def field(self, name: str) -> Decl | None:
        """A field by the name that expressions use."""
        if name not in self._fields:
            self._fields[name] = self._declare(name)
        return self._fields[name]

    def _declare(self, name: str) -> Decl | None:
        properties = self.schema.get("properties") or {}
        real = unescape(name)
        part = properties.get(real)
        if part is None or self.kind != "object":
            return None
        usual = escape(real)
        # a reserved word is understood without its escape, where the grammar lets it be a name
        if usual is None or usual not in (name, f"__{name}__"):
            return None
        embedded = bool(part.get("x-kubernetes-embedded-resource"))
        return self.owner.declare(part, embedded, f"{self.type.name}.{usual}")

    def fields(self) -> Iterator[tuple[str, str, Decl]]:
        """All fields: the name in expressions, the name in JSON, the declaration."""
        for real in self.schema.get("properties") or {}:
            name = escape(real)
            decl = self.field(name) if name is not None else None
            if name is not None and decl is not None:
                yield name, real, decl

    @property
    def least(self) -> int:
        """The fewest bytes it takes in JSON."""
        if self._least < 0:
            properties = self.schema.get("properties") or {}
            total = 2
            for name in dict.fromkeys(self.schema.get("required") or ()):
                part = properties.get(name)
                if part is None or part.get("default") is not None:
                    continue
                embedded = bool(part.get("x-kubernetes-embedded-resource"))
                decl = self.owner.declare(part, embedded, f"{self.type.name}.{escape(name) or name}")
                if decl is not None:
                    total += len(name.encode()) + decl.least + 4
            self._least = total
        return self._least

    @property
    def plain(self) -> bool:
        """Whether values are in JSON what they are in the language."""
        if self._plain is None:
            self._plain = self._is_plain()
        return self._plain

    def _is_plain(self) -> bool:
        if self.kind in _PLAIN_KINDS:
            return True
        if self.kind == "list":
            assert self.items is not None
            return self.schema.get("x-kubernetes-list-type") not in ("set", "map") and self.items.plain
        if self.kind == "map":
            assert self.items is not None
            return self.items.plain
        if self.kind != "object" or self.schema.get("x-kubernetes-preserve-unknown-fields"):
            return False
        properties = self.schema.get("properties") or {}
        seen = list(self.fields())
        same = len(seen) == len(properties) and all(name == real for name, real, _ in seen)
        return same and all(part.plain and not part.nullable for _, _, part in seen)

    def convert(self, value: Any) -> Any:
        """A JSON value as a value of the language. Raises EvaluationError for what is not of the type."""
        if value is None:
            if self.nullable:
                return None
            raise EvaluationError("invalid data, got null for schema with nullable=false")
        return _CONVERT[self.kind](self, value)

    def _list(self, value: Any) -> Any:
        items = self.items
        assert items is not None
        if not isinstance(value, list):
            raise EvaluationError("invalid data, expected an array for the provided schema with type=array")
        out = value if items.plain else [items.convert(item) for item in value]
        kind = self.schema.get("x-kubernetes-list-type")
        if kind == "set":
            return SetList(out)
        if kind == "map":
            keys = self.schema.get("x-kubernetes-list-map-keys") or ()
            return MapList(out, tuple(escape(key) or key for key in keys))
        return out

    def _map(self, value: Any) -> Any:
        items = self.items
        assert items is not None
        if not isinstance(value, dict):
            raise EvaluationError("invalid data, expected a map for the provided schema with type=object")
        return value if items.plain else {key: items.convert(item) for key, item in value.items()}

    def _object(self, value: Any) -> Any:
        if not isinstance(value, dict):
            raise EvaluationError("invalid data, expected a map for the provided schema with type=object")
        if self.plain:
            return value
        out = {}
        for real, item in value.items():
            if item is None:
                continue
            name = escape(real)
            part = self.field(name) if name is not None else None
            if name is not None and part is not None:
                out[name] = part.convert(item)
            else:
                out[f" {real}"] = Unknown(item)  # a name that no expression can have; equality looks at it
        return out

    def _number(self, value: Any) -> float:
        if value.__class__ is float or value.__class__ is int:
            return float(value)
        raise EvaluationError(f"invalid data, expected float, got {_GO.get(value.__class__, '')}")

    def _int(self, value: Any) -> int:
        if value.__class__ is int:
            return int(value)
        raise EvaluationError(f"invalid data, expected int, got {_GO.get(value.__class__, '')}")

    def _bool(self, value: Any) -> bool:
        if value.__class__ is bool:
            return bool(value)
        raise EvaluationError(f"invalid data, expected bool, got {_GO.get(value.__class__, '')}")

    def _text(self, value: Any) -> str:
        if value.__class__ is str:
            return str(value)
        raise EvaluationError(f"invalid data, expected string, got {_GO.get(value.__class__, '')}")

    def _either(self, value: Any) -> Any:
        if value.__class__ is str or value.__class__ is int:
            return value
        raise EvaluationError("invalid data, expected XIntOrString value to be either a string or integer")

    def _bytes(self, value: Any) -> bytes:
        return _base64(self._text(value))

    def _duration(self, value: Any) -> Duration:
        return _span(self._text(value))

    def _date(self, value: Any) -> Timestamp:
        text = self._text(value)
        found = gotimes.parse_timestamp(f"{text}T00:00:00Z")
        if found is None:
            raise EvaluationError(f"Invalid date formatted string {text}: {_unparsed(text, '2006-01-02')}")
        return found

    def _time(self, value: Any) -> Timestamp:
        text = self._text(value)
        found = gotimes.parse_timestamp(text)
        if found is None:
            raise EvaluationError(
                f"Invalid date-time formatted string {text}: {_unparsed(text, '2006-01-02T15:04:05Z07:00')}"
            )
        return found


_CONVERT: dict[str, Callable[[Decl, Any], Any]] = {
    "list": Decl._list,
    "map": Decl._map,
    "object": Decl._object,
    "double": Decl._number,
    "int": Decl._int,
    "bool": Decl._bool,
    "string": Decl._text,
    "dyn": Decl._either,
    "bytes": Decl._bytes,
    "duration": Decl._duration,
    "date": Decl._date,
    "date-time": Decl._time,
}


def _unparsed(text: str, layout: str) -> str:
    return f'parsing time "{text}" as "{layout}": cannot parse "{text}" as "2006"'


def with_metadata(schema: Schema) -> Schema:
    """The schema of a resource, which always has kind, apiVersion and the names in its metadata."""
    properties = schema.get("properties") or {}
    metadata = properties.get("metadata") or {}
    inner = metadata.get("properties") or {}
    wanted = (properties.get("kind"), properties.get("apiVersion"), inner.get("name"), inner.get("generateName"))
    if metadata.get("type") == "object" and all((part or {}).get("type") == "string" for part in wanted):
        return schema
    return {**schema, "properties": {**properties, "kind": _TEXT, "apiVersion": _TEXT, "metadata": _METADATA}}


_URL_SAFE = re.compile(r"[A-Za-z0-9_\-\r\n]*")


def _base64(text: str) -> bytes:
    """Bytes from the URL alphabet, the only one that the original reads."""
    good = _URL_SAFE.match(text)
    assert good is not None
    end = good.end()
    rest = text[end:]
    digits = len(text[:end].replace("\n", "").replace("\r", ""))
    if rest.strip("=\r\n"):
        raise _not_base64(text, end + len(rest) - len(rest.lstrip("=")))
    if (digits + rest.count("=")) % 4 or rest.count("=") > 2:
        raise _not_base64(text, len(text))
    try:
        return base64.urlsafe_b64decode(text)
    except (binascii.Error, ValueError):
        raise _not_base64(text, end) from None


def _not_base64(text: str, at: int) -> EvaluationError:
    return EvaluationError(f"Invalid byte formatted string {text}: illegal base64 data at input byte {at}")


_WORD_SPAN = re.compile(r"([0-9]+)[\t\n\f\r ]*([A-Za-zµ]+)")
_UNITS = (
    (("ns", "nano"), 1),
    (("us", "µs", "micro"), 1000),
    (("ms", "milli"), 10**6),
    (("s", "sec"), SECOND),
    (("m", "min"), 60 * SECOND),
    (("h", "hr", "hour"), 3600 * SECOND),
    (("d", "day"), 24 * 3600 * SECOND),
    (("w", "wk", "week"), 7 * 24 * 3600 * SECOND),
)


def _span(text: str) -> Duration:
    """A duration as Go writes it, or as numbers with unit words."""
    ns = gotimes.parse_duration(text)
    if ns is not None:
        return Duration(ns)
    total, known = 0, False
    for number, word in _WORD_SPAN.findall(text[:1000]):
        unit = word.lower()
        for names, scale in _UNITS:
            if unit in names or unit.startswith(names[-1]):
                total, known = total + int(number) * scale, True
                break
    if not known:
        raise EvaluationError(f"Invalid duration {text}: unable to parse {text} as duration")
    return Duration((total + (1 << 63)) % (1 << 64) - (1 << 63))
