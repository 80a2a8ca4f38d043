"""Built-in objects in Go's syntax (%#v), as errors of older releases show them.

Only the first level of pointers follows from the object: deeper pointers are printed as meaningless addresses. Source:
fmt of Go, and the recorded answers of older kube-apiservers.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from podless.codec import gotext, quantity
from podless.runtime.jsonobject import Object
from podless.runtime.lazy import compile_late
from podless.runtime.meter import charge, each
from podless.runtime.sorting import sort_texts
from podless.structs import gonames, gotypes
from podless.structs.gotypes import GoType, ListOf, MapOf
from podless.structs.structs import Field, Struct

Path = tuple[str | int, ...]

# port fields that may be names, which errors show as strings
_PORTS = frozenset({"port", "targetPort"})
# maps of quantities that are shown as stored
_LIMITS = frozenset({"default", "defaultRequest", "max", "maxLimitRequestRatio", "min"})
_ADDRESS = "0xc000000000"
_NO_TIME = "time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC)"
_MONTHS = "January February March April May June July August September October November December"
_AMOUNT = compile_late(r"\+?(-?)([0-9]*+)(?:\.([0-9]*+))?((?:[KMGTPE]i|[eE][-+]?[0-9]{1,4}|[numkMGTPE])?)")


def write_struct(struct: Struct, value: Object) -> str:
    """Return a struct: core.Taint{Key:"a", Value:"", Effect:"NoSchedule", TimeAdded:<nil>}."""
    charge(len(value) + 1)
    value = gonames.move_fields(struct, value)
    members = []
    for name, field in struct.derive_value("goparts", lambda: gonames.order_parts(struct)):
        members.append(f"{name}:{_write_field(struct, field, value)}")
        if added := gonames.ADDED.get((struct.name, field.name)):
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
    if gonames.is_pointer(struct, field):
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
