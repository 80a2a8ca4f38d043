"""Go's internal structs, in which a real server keeps built-in objects: names and order of fields, and their syntax.

Most names and orders follow from the structs of the API; gonames.txt lists the exceptions. Errors of older releases
show objects in Go's syntax (%#v). Only the first level of pointers follows from the object: deeper pointers are printed
as meaningless addresses. Source: Kubernetes' pkg/apis, fmt of Go, and the recorded answers of older kube-apiservers.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from podless.codec import gotext, quantity
from podless.runtime.datafiles import read_blocks
from podless.runtime.jsonobject import Object
from podless.runtime.lazy import compile_late
from podless.runtime.meter import charge, each
from podless.runtime.sorting import sort_texts
from podless.structs import gotypes
from podless.structs.gotypes import GoType, ListOf, MapOf
from podless.structs.structs import Field, Struct

Path = tuple[str | int, ...]

_TABLES = read_blocks(FilePath(__file__).with_name("gonames.txt"))
_NAMES: Mapping[str, str] = dict(_TABLES["names"])
# the order of fields, if it differs from that of the API
_ORDERS: dict[str, list[str]] = {}
for _name, _words in _TABLES["orders"]:
    _ORDERS[_name] = [field for word in _words.split() for field in _ORDERS.get(word, (word,))]
# fields that only the Go struct has: (struct, field before it) -> (name, zero value in JSON, zero value in Go's syntax)
ADDED = {
    ("DaemonSetSpec", "minReadySeconds"): ("TemplateGeneration", 0, "0"),
    ("DeploymentSpec", "paused"): ("RollbackTo", None, "(*apps.RollbackConfig)(nil)"),
}
# fields that are pointers in the API, but not in the internal struct
_VALUES = frozenset(row[0] for row in _TABLES["values"])
# fields of PodSpec in the API, which the internal struct has in its security context
_HOST_FIELDS = ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers")
MOVED = {"hostNetwork": False, "hostPID": False, "hostIPC": False, "shareProcessNamespace": None, "hostUsers": None}
# port fields that may be names, which errors show as strings
_PORTS = frozenset({"port", "targetPort"})
# maps of quantities that are shown as stored
_LIMITS = frozenset({"default", "defaultRequest", "max", "maxLimitRequestRatio", "min"})
_ADDRESS = "0xc000000000"
_NO_TIME = "time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC)"
_MONTHS = "January February March April May June July August September October November December"
_AMOUNT = compile_late(r"\+?(-?)([0-9]*+)(?:\.([0-9]*+))?((?:[KMGTPE]i|[eE][-+]?[0-9]{1,4}|[numkMGTPE])?)")


def name_field(struct: str, name: str) -> str:
    """Return the Go name of a field, by its name in JSON."""
    return _NAMES.get(f"{struct}.{name}") or _NAMES.get(name) or name[0].upper() + name[1:]


def order_fields(struct: Struct) -> list[tuple[str, str, Field]]:
    """Return (JSON name, Go name, field) for all fields in Go's order; inline structs are replaced by their fields."""
    fields = {field.name: field for field in struct.fields}
    order = _ORDERS.get(struct.name) or list(fields)
    return [(name, name_field(struct.name, name), fields[name]) for name in order if name in fields]


def order_parts(struct: Struct) -> list[tuple[str, Field]]:
    """Return (Go name, field) for all fields in Go's order; an inline struct is one of them."""
    order = {name: index for index, name in enumerate(_ORDERS.get(struct.name, ()))}
    entries: list[tuple[int, str, Field]] = []
    for index, field in enumerate(struct.declared_fields):
        if field.inline and isinstance(field.type, Struct):
            first = min((order[member.name] for member in field.type.fields if member.name in order), default=index)
            entries.append((first, field.type.name, field))
        elif not order or field.name in order:
            name = "ObjectMeta" if field.name == "metadata" else name_field(struct.name, field.name)
            entries.append((order.get(field.name, index), name, field))
    entries.sort(key=lambda entry: entry[0])
    return [(name, field) for _, name, field in entries]


def is_pointer(struct: Struct, field: Field) -> bool:
    """Return whether a field is a pointer in Go's internal struct, as most pointers of the API are."""
    return field.pointer and f"{struct.name}.{field.name}" not in _VALUES


def move_fields(struct: Struct, value: Object) -> Object:
    """Return the value of a struct with its fields at their places in Go's internal struct."""
    if struct.name != "PodSpec":
        return value
    moved: dict[str, Any] = {name: value[name] for name in _HOST_FIELDS if name in value}
    return {**value, "securityContext": {**(value.get("securityContext") or {}), **moved}}


def write_struct(struct: Struct, value: Object) -> str:
    """Return a struct: core.Taint{Key:"a", Value:"", Effect:"NoSchedule", TimeAdded:<nil>}."""
    charge(len(value) + 1)
    value = move_fields(struct, value)
    members = []
    for name, field in struct.derive_value("goparts", lambda: order_parts(struct)):
        members.append(f"{name}:{_write_field(struct, field, value)}")
        if added := ADDED.get((struct.name, field.name)):
            members.append(f"{added[0]}:{added[2]}")
    return f"{_write_type(struct)}{{{', '.join(members)}}}"


def write_list(kind: GoType, values: list[Any] | None, package: str) -> str:
    """Return a list in Go syntax: []core.Taint{…}. kind: of its items. package: the default for named strings."""
    named = f"[]{_write_type(kind, package)}"
    if values is None:
        return f"{named}(nil)"
    return f"{named}{{{', '.join(_write_value(kind, item, package) for item in each(values))}}}"


def write_at(struct: Struct, path: Path, value: Any) -> str | None:
    """Return a value at a path of a struct in Go syntax, None if it is shown as usual."""
    holder: GoType = struct
    kind: GoType = struct
    for step in path:
        holder, child = kind, _step_into(kind, step)
        if child is None:
            return None
        kind = child
    package = package_of(holder) if isinstance(holder, Struct) else package_of(struct)
    if isinstance(value, dict | list):
        return _write_whole(kind, value, package)
    if value is None and isinstance(kind, gotypes.Bytes):
        return "[]byte(nil)"
    if value is None:
        return _write_value(kind, None, package) if isinstance(kind, ListOf | MapOf) else None
    if not isinstance(value, str):
        return None
    if isinstance(kind, gotypes.Time):
        return format_time(value)
    if isinstance(kind, gotypes.Bytes) and not isinstance(holder, MapOf):  # errors of maps show the key
        try:
            return f"[]byte{write_bytes(base64.b64decode(value, validate=True))[7:]}"
        except ValueError:  # the value is an error text about the bytes
            return None
    if isinstance(kind, gotypes.IntOrString) and path[-1] not in _PORTS:
        return write_either(value)
    if isinstance(kind, gotypes.Quantity) and len(path) > 1 and path[-2] in _LIMITS:
        return write_quantity(value) if _AMOUNT.fullmatch(value) else None
    return None


def _step_into(kind: GoType, step: str | int) -> GoType | None:
    if isinstance(kind, ListOf) and isinstance(step, int):
        return kind.item
    if isinstance(kind, MapOf):
        return kind.item
    if isinstance(kind, Struct):
        return next((field.type for field in kind.fields if field.name == step), None)
    return None


def _write_whole(kind: GoType, value: Any, package: str) -> str | None:
    """Return a list, map or struct, None if the value has another type than its field."""
    if isinstance(kind, ListOf) and isinstance(value, dict):
        kind = kind.item
    if isinstance(value, list):
        fits = isinstance(kind, ListOf) and all(_has_api_names(kind.item, item) for item in each(value))
        return _write_value(kind, value, package) if fits else None
    if isinstance(kind, Struct):
        return write_struct(kind, value) if _has_api_names(kind, value) else None
    return _write_value(kind, value, package) if isinstance(kind, MapOf | gotypes.Raw) else None


def _has_api_names(kind: GoType, value: Any) -> bool:
    """Return whether a value has the API's names, not the Go names that some errors show."""
    return not isinstance(kind, Struct) or {field.name for field in kind.fields}.issuperset(value)


def format_time(text: str) -> str:
    """Return a time in UTC as Go's %s prints it."""
    return f"{text.rstrip('Z').replace('T', ' ')} +0000 UTC"


def _write_field(struct: Struct, field: Field, value: Object) -> str:
    kind, package = field.type, package_of(struct)
    if field.inline and isinstance(kind, Struct):
        return write_struct(kind, value)
    item = value.get(field.name)
    if isinstance(kind, gotypes.Time):
        blank = _NO_TIME if (struct.name, field.name) == ("ObjectMeta", "creationTimestamp") else "<nil>"
        return blank if item is None else _write_time(item)
    if is_pointer(struct, field):
        return f"(*{_write_type(kind, package)})({'nil' if item is None else _ADDRESS})"
    return _write_value(kind, item, package)


def _write_value(kind: GoType, item: Any, package: str) -> str:
    if isinstance(kind, Struct):
        return write_struct(kind, item or {})
    if isinstance(kind, ListOf):
        return write_list(kind.item, item, package)
    if isinstance(kind, MapOf):
        return _write_map(kind, item, package)
    if isinstance(kind, gotypes.IntOrString):
        return write_either(item)
    if isinstance(kind, gotypes.Quantity):
        return write_quantity(item or "0")
    if isinstance(kind, gotypes.Bytes):
        return "[]uint8(nil)" if item is None else write_bytes(base64.b64decode(item))
    if isinstance(kind, gotypes.Raw):
        raw = "[]uint8(nil)" if item is None else write_bytes(gotext.format_json(item).encode())
        return f"{kind.go}{{Raw:{raw}, Object:runtime.Object(nil)}}"
    if item is None:
        item = kind.make_zero()
    return gotext.quote(item) if isinstance(item, str) else gotext.format_value(item)


def _write_map(kind: MapOf, item: Mapping[str, Any] | None, package: str) -> str:
    named = _write_type(kind, package)
    if item is None:
        return f"{named}(nil)"
    entries = [
        f"{gotext.quote(key)}:{_write_value(kind.item, item[key], package)}" for key in sort_texts(each(dict(item)))
    ]
    return f"{named}{{{', '.join(entries)}}}"


def write_either(item: Any) -> str:
    """Return an intstr.IntOrString."""
    if isinstance(item, str):
        return f"intstr.IntOrString{{Type:1, IntVal:0, StrVal:{gotext.quote(item)}}}"
    return f'intstr.IntOrString{{Type:0, IntVal:{item or 0}, StrVal:""}}'


def write_quantity(text: str) -> str:
    """Return a quantity: its digits and its power of ten, as parsed."""
    match = _AMOUNT.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no amount")
    sign, integer, decimals, suffix = match[1], match[2] or "", match[3] or "", match[4]
    value, scale, form = int(integer + decimals), -len(decimals), "DecimalSI"
    if suffix in quantity.BINARY:
        value, form = value << quantity.BINARY[suffix], "BinarySI"
    elif len(suffix) > 1:
        scale, form = scale + int(suffix[1:]), "DecimalExponent"
    else:
        scale += quantity.DECIMAL[suffix]
    amount = (
        f"i:resource.int64Amount{{value:{sign}{value}, scale:{scale}}}, d:resource.infDecAmount{{Dec:(*inf.Dec)(nil)}}"
    )
    return f"resource.Quantity{{{amount}, s:{gotext.quote(text)}, Format:{gotext.quote(form)}}}"


def write_bytes(raw: bytes) -> str:
    """Return bytes inside another value: []uint8{0x7b, 0x7d}."""
    return f"[]uint8{{{', '.join(f'{byte:#x}' for byte in each(raw))}}}"


def _write_time(text: str) -> str:
    """Return a time in UTC."""
    day, _, clock = text.rstrip("Z").partition("T")
    year, month, date = (int(number) for number in day.split("-"))
    hour, minute, seconds = clock.split(":")
    second, _, fraction = seconds.partition(".")
    nanos, name = int(f"{fraction:0<9}") if fraction else 0, _MONTHS.split()[month - 1]
    return f"time.Date({year}, time.{name}, {date}, {int(hour)}, {int(minute)}, {int(second)}, {nanos}, time.UTC)"


def package_of(struct: Struct) -> str:
    """Return the Go package of a struct and of the named types in it: core, apps, or v1 for those of metadata."""
    folder = struct.home.partition("/")[0]
    return "v1" if folder == "meta" else folder or "core"


def _write_type(kind: GoType, package: str = "core") -> str:
    """Return the name of a type."""
    if isinstance(kind, Struct):
        return f"{package_of(kind)}.{kind.name}"
    if isinstance(kind, ListOf) and kind.go.startswith("[]"):
        return f"[]{_write_type(kind.item, package)}"
    if isinstance(kind, MapOf) and kind.go.startswith("map["):
        key = kind.go[4 : kind.go.index("]")]
        return f"map[{_qualify_name(key, package)}]{_write_type(kind.item, package)}"
    if isinstance(kind, gotypes.IntOrString):
        return "intstr.IntOrString"
    return _qualify_name(kind.go, package)


def _qualify_name(go: str, package: str) -> str:
    return f"{package}.{go[3:]}" if go.startswith("v1.") else go
