"""Tables and PartialObjectMetadata: what kubectl get shows, and objects without their contents.

A version's columns are compiled once into a Layout; a row is made from a decoded object, and encoded with the bytes
of that object where the client wants it whole. Source: meta.k8s.io/v1 Table and the recorded tables.
"""

from __future__ import annotations

import functools
import math
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from weakref import WeakKeyDictionary

from podless.kinds.kind import Column, Kind, Version
from podless.meta import codec, field, gotext, gotime, jsontext
from podless.meta.errors import BadRequest
from podless.publish import columns as builtin
from podless.publish import jsonpath
from podless.publish.columns import Age, Cell

Object = dict[str, Any]
Reader = Callable[[Object], Any]

_MIN, _MAX = -(1 << 63), (1 << 63) - 1
_LONGEST = _MAX / 1e9  # seconds: a Go duration holds no more
INCLUDED = ("", "Metadata", "Object", "None")


@dataclass(frozen=True, eq=False)
class Layout:
    """Compiled columns. definitions: the columnDefinitions; encoded: the same as JSON; readers: one for each cell."""

    definitions: list[Object]
    encoded: bytes
    readers: tuple[Reader | Age, ...]

    def cells(self, obj: Object, now: float | None = None) -> list[Any]:
        """The cells of an object's row. now: the time for ages, in seconds since 1970; by default the clock's."""
        then = time.time() if now is None else now
        return [
            (_shown(moment, then) if type(moment := _since(read.read(obj))) is float else moment)
            if isinstance(read, Age)
            else read(obj)
            for read in self.readers
        ]


_LAYOUTS: WeakKeyDictionary[Version, Layout] = WeakKeyDictionary()


def layout(kind: Kind, version: Version) -> Layout:
    """The layout of a version: the columns that it has, or Name and Age; built-in kinds have their own."""
    known = _LAYOUTS.get(version)
    if known is None:
        if kind.custom:
            known = custom(version.columns)
        else:
            known = _compile(builtin.BUILTIN.get((kind.group, kind.plural), builtin.DATED))
        _LAYOUTS[version] = known
    return known


def columns(version: Version) -> list[Object]:
    """The columnDefinitions of a custom kind's version."""
    return custom(version.columns).definitions


def custom(given: Sequence[Column] | None) -> Layout:
    """The layout for additionalPrinterColumns; from the first malformed path on they are left out."""
    if not given:
        return AGED
    cells = [builtin.AGED[0]]
    for column in given:
        try:
            path = jsonpath.parse(column.json_path)
        except ValueError:
            break
        told = column.description or f"Custom resource definition column (in JSONPath format): {column.json_path}"
        read = _cell_reader(column.type, path)
        cells.append(Cell(column.name, column.type, told, read, column.format, column.priority))
    return _compile(cells)


def _compile(cells: Iterable[Cell]) -> Layout:
    chosen = tuple(cells)
    definitions = [
        {
            "name": cell.name,
            "type": cell.type,
            "format": cell.format,
            "description": cell.description,
            "priority": cell.priority,
        }
        for cell in chosen
    ]
    return Layout(definitions, codec.encode(definitions), tuple(cell.read for cell in chosen))


def _since(given: Any) -> float | str | None:
    """What the cell of a time shows: the moment that it counts from, or a text or nothing that never changes."""
    if not isinstance(given, str):
        return None
    moment = _moment(given)
    if moment is None:
        return "<unknown>"
    return "<invalid>" if moment == math.inf else moment


def _cell_reader(kind: str, path: jsonpath.Path) -> Callable[[Any], Any] | Age:
    if kind == "date":
        return Age(path.first)
    if kind == "string":
        return functools.partial(_string_cell, path)
    return functools.partial(_converted_cell, _CONVERSIONS.get(kind, _nothing), path)


def _string_cell(path: jsonpath.Path, obj: Any) -> str | None:
    found = path.find(obj)
    return _printed(found[0]) if found else None


def _converted_cell(convert: Callable[[Any], Any], path: jsonpath.Path, obj: Any) -> Any:
    return convert(path.first(obj))


def _integer(value: Any) -> int | None:
    if type(value) is int and _MIN <= value <= _MAX:
        return value
    if type(value) is not int and type(value) is not float:
        return None
    return int(value) if _MIN <= value <= _MAX else _MIN  # what Go makes of a float that is too large


def _number(value: Any) -> int | float | None:
    return jsontext.settle(float(value)) if type(value) is int or type(value) is float else None


def _boolean(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _nothing(value: Any) -> None:
    return None


_CONVERSIONS: dict[str, Callable[[Any], Any]] = {"integer": _integer, "number": _number, "boolean": _boolean}


def _printed(value: Any) -> str:
    """A value as a cell of type string: text as it is, lists and objects as Go's JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list):
        return _go_json(value)
    if value is None:
        return "<no value>"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) and _MIN <= value <= _MAX else gotext.general(float(value))


_HTML = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_UNSAFE = re.compile("[<>&\u2028\u2029]")


def _go_json(value: Any) -> str:
    text = codec.encode_sorted(value).decode()
    return _UNSAFE.sub(lambda match: _HTML[match.group()], text)


def age(text: str, now: float) -> str:
    """How long ago an RFC 3339 time was, for people: 5s, 3m12s, 2d3h.

    <unknown> where there is no time, <invalid> for what is none or lies ahead.
    """
    moment = _since(text)
    return _shown(moment, now) if isinstance(moment, float) else str(moment)


def _shown(moment: float, now: float) -> str:
    return _human(now - moment)


@functools.lru_cache(4096)
def _moment(text: str) -> float | None:
    """Seconds since 1970, None for no time, infinity for what is none."""
    try:
        plain = None if text in ("", "null") else gotime.normalise(text)
    except ValueError:
        return math.inf
    if plain is None:
        return None
    try:
        return datetime.fromisoformat(plain).timestamp()
    except ValueError:  # Go has a year 0, Python has none; that long ago all ages are the same
        return -math.inf


# from how many seconds on -> the greater unit, and the lesser one that is shown with it (0 for none), both in seconds
_SPANS = (
    (365 * 86400 * 8, 365 * 86400, 0),
    (365 * 86400 * 2, 365 * 86400, 86400),
    (86400 * 8, 86400, 0),
    (3600 * 48, 86400, 3600),
    (3600 * 8, 3600, 0),
    (60 * 180, 3600, 60),
    (60 * 10, 60, 0),
    (120, 60, 1),
)
_UNITS = {365 * 86400: "y", 86400: "d", 3600: "h", 60: "m", 1: "s"}


def _human(duration: float) -> str:
    """A duration in one unit or two, as k8s.io/apimachinery's HumanDuration has it; clocks may be a second apart."""
    seconds = int(min(duration, _LONGEST))
    if duration <= -2:
        return "<invalid>"
    for least, unit, lesser in _SPANS:
        if seconds >= least:
            count, rest = divmod(seconds, unit)
            more = rest // lesser if lesser else 0
            return f"{count}{_UNITS[unit]}{more}{_UNITS[lesser]}" if more else f"{count}{_UNITS[unit]}"
    return f"{max(seconds, 0)}s"


AGED = _compile(builtin.AGED)
SCALE = _compile(builtin.SCALE)


def check_include(text: str) -> str:
    """The includeObject parameter: Metadata for "". Raises BadRequest."""
    if text not in INCLUDED:
        why = field.invalid("includeObject", text, "must be 'Metadata', 'Object', 'None', or empty")
        raise BadRequest(f"Unable to convert to Table as requested: {why}")
    return text or "Metadata"


_METADATA = (
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
)
_ZERO = {"deletionGracePeriodSeconds": 0}  # is shown even when it is 0; all else is left out when it is empty
_INNER = {
    "ownerReferences": ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"),
    "managedFields": ("manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource"),
}


def partial(obj: Mapping[str, Any], version: str = "v1") -> Object:
    """The object as PartialObjectMetadata, the fields in the order that a real server has them."""
    given = obj.get("metadata") or {}
    kept = {
        name: given[name] for name in _chosen(_METADATA, tuple(given)) if given[name] or given[name] == _ZERO.get(name)
    }
    for name, order in _INNER.items():
        if name in kept:
            kept[name] = [{key: item[key] for key in _chosen(order, tuple(item))} for item in kept[name]]
    return {"kind": "PartialObjectMetadata", "apiVersion": f"meta.k8s.io/{version}", "metadata": kept}


@functools.lru_cache(256)
def _chosen(order: tuple[str, ...], given: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the fields that are given, in order; objects of a kind have the same ones again and again."""
    return tuple(name for name in order if name in given)


def table(
    shown: Layout,
    objects: Iterable[Object],
    listed: Mapping[str, Any],
    include: str = "Metadata",
    version: str = "v1",
    *,
    headed: bool = True,
    now: float | None = None,
) -> Object:
    """A Table of decoded objects.

    listed: the list's metadata, or the object's own for a single one. include: Metadata, Object or None. headed:
    whether the columnDefinitions come with it, as they do but for the later events of a watch.
    """
    return {
        "kind": "Table",
        "apiVersion": f"meta.k8s.io/{version}",
        "metadata": _listed(listed),
        "columnDefinitions": shown.definitions if headed else None,
        "rows": [_row(shown, obj, include, version, now) for obj in objects],
    }


def _row(shown: Layout, obj: Object, include: str, version: str, now: float | None) -> Object:
    return {"cells": shown.cells(obj, now), "object": _included(obj, include, version)}


def _included(obj: Object, include: str, version: str) -> Mapping[str, Any] | None:
    return obj if include == "Object" else partial(obj, version) if include == "Metadata" else None


SHARED = 128  # bytes of a set of managed fields
# a row as JSON, in pieces: bytes, and between them the moments whose ages belong there
Row = tuple[bytes | float, ...]


def make_row(
    shown: Layout, obj: Object, include: str = "Metadata", version: str = "v1", body: bytes | None = None
) -> Row:
    """All of a row that does not change with time. body: the object's own JSON, for includeObject=Object."""
    pieces: list[bytes | float] = []
    lead = b'{"cells":['
    steady: list[Any] = []
    for read in shown.readers:
        if not isinstance(read, Age):
            steady.append(read(obj))
            continue
        moment = _since(read.read(obj))
        if not isinstance(moment, float):
            steady.append(moment)
            continue
        before = codec.encode(steady)[1:-1]
        pieces += [b'%b%b%b"' % (lead, before, b"," if steady else b""), moment]
        lead, steady = b'",', []
    cells = codec.encode(steady)[1:-1]
    if not steady:
        lead = lead.removesuffix(b",")
    shown_object = [body] if body else _pieces(_included(obj, include, version))
    shown_object[0] = b'%b%b],"object":%b' % (lead, cells, shown_object[0])
    shown_object[-1] += b"}"
    return (*pieces, *shown_object)


def _pieces(included: Mapping[str, Any] | None) -> list[bytes]:
    """An object as JSON, its sets of managed fields apart: many objects have the same ones, and can share them."""
    encoded = codec.encode(included)
    pieces: list[bytes] = []
    start = 0
    for entry in (included or {}).get("metadata", {}).get("managedFields") or ():
        fields = codec.encode(entry.get("fieldsV1"))
        place = encoded.find(fields, start)
        if len(fields) >= SHARED and place >= 0:
            pieces += [encoded[start:place], encoded[place : place + len(fields)]]
            start = place + len(fields)
    return [*pieces, encoded[start:]]


class Clock:
    """Fills ages into rows, as they are at one moment; many objects are of the same second. now: seconds since 1970."""

    def __init__(self, now: float) -> None:
        self._now = now
        self._ages: dict[float, bytes] = {}

    def fill(self, row: Row) -> bytes:
        """The row as JSON."""
        return b"".join([piece if piece.__class__ is bytes else self._age(piece) for piece in row])

    def _age(self, moment: Any) -> bytes:
        known = self._ages.get(moment)
        if known is None:
            known = self._ages[moment] = _shown(moment, self._now).encode()
        return known


def encode_row(
    shown: Layout,
    obj: Object,
    include: str = "Metadata",
    version: str = "v1",
    *,
    body: bytes | None = None,
    now: float | None = None,
) -> bytes:
    """One row as JSON. body: the object's own JSON, which then is not made anew for includeObject=Object."""
    row = make_row(shown, obj, include, version, body if include == "Object" else None)
    return Clock(time.time() if now is None else now).fill(row)


def frame(shown: Layout, listed: Mapping[str, Any], version: str = "v1", *, headed: bool = True) -> tuple[bytes, bytes]:
    """What stands before and behind the rows of a Table in JSON. headed: with the definitions of its columns."""
    head = f'{{"kind":"Table","apiVersion":"meta.k8s.io/{version}","metadata":'.encode()
    definitions = shown.encoded if headed else b"null"
    return b"".join((head, codec.encode(_listed(listed)), b',"columnDefinitions":', definitions, b',"rows":[')), b"]}"


def encode_table(
    shown: Layout, rows: Sequence[bytes], listed: Mapping[str, Any], version: str = "v1", *, headed: bool = True
) -> bytes:
    """A Table as JSON, of rows that encode_row made."""
    head, tail = frame(shown, listed, version, headed=headed)
    return b"".join((head, b",".join(rows), tail))


def _listed(given: Mapping[str, Any]) -> Object:
    """What ListMeta keeps of a metadata, without what is empty."""
    return {name: given[name] for name in ("resourceVersion", "continue", "remainingItemCount") if given.get(name)}
