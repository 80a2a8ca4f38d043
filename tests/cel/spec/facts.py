"""The facts of cel-spec as programs, variables and values of ours."""

from __future__ import annotations

import base64
import json
import pathlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from podless.cel import gotimes, library, types, values
from podless.cel.functions import Declarations, Library, Overload
from podless.cel.types import Type
from podless.codec import gotime
from podless.runtime.jsonobject import Object

HERE = pathlib.Path(__file__).parent
_PRIMITIVES = {
    "BOOL": types.BOOL, "BYTES": types.BYTES, "DOUBLE": types.DOUBLE,
    "INT64": types.INT, "STRING": types.STRING, "UINT64": types.UINT,
}  # fmt: skip
_WELL_KNOWN = {"DURATION": types.DURATION, "TIMESTAMP": types.TIMESTAMP}
_WRAPPERS = {
    "BoolValue": types.BOOL, "BytesValue": types.BYTES, "DoubleValue": types.DOUBLE, "FloatValue": types.DOUBLE,
    "Int32Value": types.INT, "Int64Value": types.INT, "StringValue": types.STRING, "UInt32Value": types.UINT,
    "UInt64Value": types.UINT,
}  # fmt: skip
_JSON = {"Value": types.DYN, "ListValue": types.LIST_DYN, "Struct": types.MAP_STRING_DYN}
_MESSAGE_TYPES = {
    **{f"google.protobuf.{name}": types.wrapper_type(kind) for name, kind in _WRAPPERS.items()},
    **{f"google.protobuf.{name}": kind for name, kind in _JSON.items()},
    "google.protobuf.Duration": types.DURATION,
    "google.protobuf.Timestamp": types.TIMESTAMP,
}
_PLAIN: dict[str, Callable[[Any], Any]] = {
    "bool": bool,
    "double": float,
    "int64": int,
    "string": str,
    "uint64": lambda text: values.Uint(int(text)),
}


def _overload(function: str, given: Object) -> Overload:
    kinds = tuple(type_of(each) for each in given.get("params", ()))
    member = given.get("isInstanceFunction", False)
    return Overload(function, given["overloadId"], kinds, type_of(given["resultType"]), lambda *args: None, member)


@dataclass(frozen=True)
class Fact:
    """One test. place: suite/section/name."""

    place: str
    given: Object

    @property
    def variables(self) -> dict[str, Type]:
        declared = {name: type_of(each) for name, each in self.given.get("types", {}).items()}
        return dict.fromkeys(self.given.get("bindings", ()), types.DYN) | declared

    @property
    def declarations(self) -> Declarations:
        """All functions, and those that the fact declares."""
        given = self.given.get("functions")
        if not given:
            return library.all_libraries()
        own = tuple(_overload(name, form) for name, forms in given.items() for form in forms)
        return Declarations((*library.all_libraries().libraries, Library("own", own)))

    @property
    def bindings(self) -> Object:
        return {name: value(each) for name, each in self.given.get("bindings", {}).items()}


def every() -> Iterator[Fact]:
    """All facts in the order of the suites."""
    for section, facts in json.loads((HERE / "facts.json").read_text())["sections"].items():
        for fact in facts:
            yield Fact(f"{section}/{fact['name']}", fact)


def type_of(given: Object) -> Type:
    """A type from its protobuf JSON."""
    ((key, content),) = given.items()
    if key == "primitive":
        return _PRIMITIVES[content]
    if key == "wrapper":
        return types.wrapper_type(_PRIMITIVES[content])
    if key == "wellKnown" and content in _WELL_KNOWN:
        return _WELL_KNOWN[content]
    if key == "messageType" and content in _MESSAGE_TYPES:
        return _MESSAGE_TYPES[content]
    if key == "typeParam":
        return types.Type("param", content)
    if key == "dyn":
        return types.DYN
    if key == "null":
        return types.NULL
    if key == "listType":
        return types.list_of(type_of(content["elemType"]))
    if key == "mapType":
        return types.map_of(type_of(content["keyType"]), type_of(content["valueType"]))
    if key == "abstractType":
        return Type("opaque", content["name"], tuple(type_of(each) for each in content.get("parameterTypes", ())))
    raise ValueError(f"{key} {content}")


def value(given: Object) -> Any:
    """A value from its JSON."""
    ((key, content),) = given.items()
    if key in _PLAIN:
        return _PLAIN[key](content)
    if key == "bytes":
        return base64.b64decode(content)
    if key == "null":
        return None
    if key == "type":
        return values.TypeValue(content)
    if key == "list":
        return [value(each) for each in content]
    if key == "map":
        return {value(name): value(each) for name, each in content}
    if key == "object":
        return message(content)
    raise ValueError(f"{key} {content}")


def message(given: Object) -> Any:
    """A well-known message that stands for a plain value."""
    name, content = given["@type"].rpartition("/")[2], given["value"]
    if name == "google.protobuf.Duration":
        return values.Duration(gotime.parse_duration(content))
    if name == "google.protobuf.Timestamp":
        return gotimes.parse_timestamp(content)
    if name in ("google.protobuf.Value", "google.protobuf.ListValue", "google.protobuf.Struct"):
        return json.loads(json.dumps(content), parse_int=float)
    kind = _WRAPPERS[name.rpartition(".")[2]]
    return base64.b64decode(content) if kind is types.BYTES else _READ[kind.kind](content)


_READ = _PLAIN | {"int": int, "uint": _PLAIN["uint64"]}
