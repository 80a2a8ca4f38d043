"""Names and order of fields in Go's internal structs, in which a real server keeps built-in objects.

Most follow from the structs of the API; gonames.txt lists the exceptions. Source: Kubernetes' pkg/apis, as recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from podless.runtime.datafiles import read_blocks
from podless.runtime.jsonobject import Object
from podless.structs.structs import Field, Struct

_TABLES = read_blocks(Path(__file__).with_name("gonames.txt"))
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
