"""Tables and PartialObjectMetadata: the output of kubectl get, and objects without their contents.

A version's columns are compiled once into a TableLayout. A row is made once from a decoded object, as JSON. Its ages
are filled in when it is sent. If the client wants the whole object, it is added as bytes. Source: meta.k8s.io/v1 Table
and the recorded tables, and for ages k8s.io/apimachinery pkg/util/duration.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from podless.apis.shared import columns as shared
from podless.apis.shared.columns import Age, Lapse, PrinterColumn
from podless.codec import gotext, gotime, jsontext, serializer
from podless.codec.gotext import MAX_INT64, MIN_INT64, Named
from podless.codec.gotime import format_human_duration
from podless.kinds.kind import Column, Kind, Version
from podless.meta import field, jsonpath
from podless.meta.errors import BadRequest
from podless.runtime import clock
from podless.runtime.bounded import bounded_cache
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object
from podless.runtime.memo import made_once
from podless.runtime.meter import charge, each
from podless.structs.structfiles import find_description, folder_of

Reader = Callable[[Object], Any]

INCLUDED = ("", "Metadata", "Object", "None")
SHARED = 128  # bytes; longer fieldsV1 texts are separate pieces, so that rows can share them
_COLUMN = 32  # steps on the meter to compile a column
_CELL = 2  # steps on the meter for a cell
_LETTERS = 64  # characters of a value's text that count as one step


@dataclass(frozen=True, eq=False)
class TableLayout:
    """Compiled columns. Their definitions are created when a table first needs them."""

    columns: tuple[PrinterColumn, ...]
    group: str = ""  # group of the structs that the columns show
    order: Reader | None = None  # the sort key of a list's rows, if any
    conditions: Callable[[Object], list[Object]] | None = None  # returns the conditions of a row
    searches: bool = False  # columns search whole objects; readers then take the result of `reader_argument`

    def reader_argument(self, obj: Object) -> Any:
        """Return the argument for the readers of a row."""
        return jsonpath.Searched(obj) if self.searches else obj

    @made_once
    def readers(self) -> tuple[Reader | Age, ...]:
        """Return a reader for each cell."""
        return tuple(column.read for column in self.columns)

    @property
    def definitions(self) -> list[Object]:
        """The columnDefinitions."""
        return [_define_column(column, self.group) for column in self.columns if column.name]

    @made_once
    def encoded(self) -> bytes:
        """Return the definitions as JSON."""
        return serializer.encode_json(self.definitions)


def _define_column(column: PrinterColumn, group: str) -> Object:
    """Return the column's entry in columnDefinitions."""
    struct, _, field = column.field.rpartition(".")
    folder, _, struct = struct.rpartition("/")
    return {
        "name": column.name,
        "type": column.type,
        "format": column.format,
        "description": column.description or find_description(folder or group, struct, field),
        "priority": column.priority,
    }


AGED = TableLayout(shared.AGED)
SCALE = TableLayout(shared.SCALE)


def get_layout(kind: Kind, version: Version) -> TableLayout:
    """Return the layout of a version: its columns, or Name and Age; built-in kinds have their own."""
    return kind.derive(
        ("table", version.name),
        lambda: make_custom_layout(version.columns) if kind.custom else make_builtin_layout(kind.group, kind.plural),
    )


def make_builtin_layout(group: str, plural: str) -> TableLayout:
    """Return the layout of a built-in kind."""
    folder = folder_of(group)
    module = shared.import_readers(folder)
    order, conditions = (getattr(module, name, {}).get(plural) for name in ("ORDERS", "CONDITIONS"))
    return TableLayout(shared.read_columns(folder, plural), group, order, conditions)


def make_custom_layout(columns: Sequence[Column] | None) -> TableLayout:
    """Return the layout for additionalPrinterColumns; the first malformed path and all later columns are left out."""
    if not columns:
        return AGED
    cells = [shared.NAME]
    searches = False
    for column in columns:
        charge(_COLUMN)
        try:
            path = jsonpath.parse_path(column.json_path)
        except ValueError:
            break
        searches |= path.descends
        description = (
            column.description or f"Custom resource definition column (in JSONPath format): {column.json_path}"
        )
        read = _make_cell_reader(column.type, path)
        cells.append(
            PrinterColumn(column.name, column.type, read, description, format=column.format, priority=column.priority)
        )
    if searches:
        cells[0] = replace(shared.NAME, read=_read_name)
    return TableLayout(tuple(cells), searches=searches)


def _read_name(value: Any) -> Any:
    name: Any = shared.NAME.read
    return name(value.obj)


def _make_cell_reader(kind: str, path: jsonpath.JSONPath) -> Callable[[Any], Any] | Age:
    if kind == "date":
        return Age(path.first)
    if kind == "string":
        return functools.partial(_read_string, path)
    return functools.partial(_read_converted, _CONVERSIONS.get(kind, lambda _: None), path)


def _read_string(path: jsonpath.JSONPath, obj: Any) -> str | None:
    values = path.find(obj)
    return _format_cell(values[0]) if values else None


def _read_converted(convert: Callable[[Any], Any], path: jsonpath.JSONPath, obj: Any) -> Any:
    return convert(path.first(obj))


def _convert_integer(value: Any) -> int | None:
    if type(value) is int and MIN_INT64 <= value <= MAX_INT64:
        return value
    if type(value) is not int and type(value) is not float:
        return None
    return int(value) if MIN_INT64 <= value <= MAX_INT64 else MIN_INT64  # as Go converts a float that is too large


def _convert_number(value: Any) -> int | float | None:
    return jsontext.settle_number(float(value)) if type(value) is int or type(value) is float else None


def _convert_boolean(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "integer": _convert_integer,
    "number": _convert_number,
    "boolean": _convert_boolean,
}


def _format_cell(value: Any) -> str:
    """Return a value as a cell of type string: texts unchanged, lists and objects as Go's JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list):
        return _encode_go_json(value)
    if value is None:
        return "<no value>"
    if isinstance(value, bool):
        return "true" if value else "false"
    return (
        str(value) if isinstance(value, int) and MIN_INT64 <= value <= MAX_INT64 else gotext.format_float(float(value))
    )


def _encode_go_json(value: Any) -> str:
    text = serializer.encode_sorted(value).decode()
    charge(len(text) // _LETTERS)
    return text


class _AgeSpan(NamedTuple):
    """A time span from a moment (seconds since 1970) until now, as part of a text."""

    before: str
    moment: float
    after: str


def _read_age(value: Any) -> _AgeSpan | str | None:
    """Return the content of an age cell: a span, a constant text, or None."""
    if not isinstance(value, Lapse):
        moment = _read_time(value)
        return _AgeSpan("", moment, "") if isinstance(moment, float) else moment
    if not value.since:
        return value.before
    start = _read_time(value.since)
    if not isinstance(start, float):
        return f"{value.before}{start}{value.after}"
    end = _read_time(value.until) if value.until else None
    if isinstance(end, float):
        return f"{value.before}{format_human_duration(end - start)}{value.after}"
    return _AgeSpan(value.before, start, value.after)


def _read_time(value: Any) -> float | str | None:
    """Return the content of a time cell: the moment from which it counts, a constant text, or None."""
    if not isinstance(value, str):
        return None
    moment = _parse_moment(value)
    if moment is None:
        return "<unknown>"
    return "<invalid>" if moment == math.inf else moment


@bounded_cache(4096)
def _parse_moment(text: str) -> float | None:
    """Return seconds since 1970, None for no time, infinity for an invalid time."""
    try:
        plain = None if text in ("", "null") else gotime.normalise_time(text)
    except ValueError:
        return math.inf
    if plain is None:
        return None
    try:
        return datetime.fromisoformat(plain).timestamp()
    except ValueError:  # Go has a year 0, Python does not; the age is the same for all such times
        return -math.inf


_METADATA = (
    "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp",
    "deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences", "finalizers",
    "managedFields",
)  # fmt: skip
_ZERO = {"deletionGracePeriodSeconds": 0}  # shown even if 0; all other fields are omitted when empty
_ITEM_FIELDS = {
    "ownerReferences": ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"),
    "managedFields": ("manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource"),
}


def make_partial(obj: Mapping[str, Any], version: str = "v1") -> Object:
    """Return the object as PartialObjectMetadata, with the fields in a real server's order."""
    metadata = obj.get("metadata") or {}
    partial = {
        name: metadata[name]
        for name in _order_fields(_METADATA, tuple(metadata))
        if metadata[name] or metadata[name] == _ZERO.get(name)
    }
    for name, order in _ITEM_FIELDS.items():
        if name in partial:
            partial[name] = [
                {key: item[key] for key in _order_fields(order, tuple(item))} for item in each(partial[name])
            ]
    return {"kind": "PartialObjectMetadata", "apiVersion": f"meta.k8s.io/{version}", "metadata": partial}


@bounded_cache(256)
def _order_fields(order: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the given fields in order. Cached, because objects of a kind have the same fields."""
    return tuple(name for name in order if name in names)


def check_include(text: str) -> str:
    """Return the includeObject parameter: Metadata for "". Raises BadRequest."""
    if text not in INCLUDED:
        error = field.invalid("includeObject", Named(text), "must be 'Metadata', 'Object', 'None', or empty")
        raise BadRequest(f"Unable to convert to Table as requested: {error}")
    return text or "Metadata"


# a row as JSON in pieces: bytes, and between them the moments whose ages belong there
Row = tuple[bytes | float, ...]


def make_row(
    layout: TableLayout, obj: Object, include: str = "Metadata", version: str = "v1", body: bytes | None = None
) -> Row:
    """Return the part of a row that does not change with time.

    body: the JSON of the included object, if it is known.
    """
    pieces: list[bytes | float] = []
    lead = b'{"cells":['
    steady: list[Any] = []
    argument, readers = layout.reader_argument(obj), layout.readers
    charge(_CELL * len(readers))
    for read in readers:
        if not isinstance(read, Age):
            steady.append(read(argument))
            continue
        age = _read_age(read.read(argument))
        if not isinstance(age, _AgeSpan):
            steady.append(age)
            continue
        before = serializer.encode_json(steady)[1:-1] + b"," if steady else b""
        start = b'%b%b"%b' % (lead, before, age.before.encode())
        pieces += [start, age.moment]
        lead, steady = b'%b",' % age.after.encode(), []
    cells = serializer.encode_json(steady)[1:-1] if steady else b""
    if not steady:
        lead = lead.removesuffix(b",")
    shown_object = [body] if body else _encode_pieces(include_object(obj, include, version))
    conditions = layout.conditions(obj) if layout.conditions is not None else None
    noted = b'"conditions":%b,' % serializer.encode_json(conditions) if conditions else b""
    shown_object[0] = b'%b%b],%b"object":%b' % (lead, cells, noted, shown_object[0])
    shown_object[-1] += b"}"
    return (*pieces, *shown_object)


def include_object(obj: Object, include: str, version: str) -> Object | None:
    """Return the object that a row includes."""
    return obj if include == "Object" else make_partial(obj, version) if include == "Metadata" else None


def _encode_pieces(included: Mapping[str, Any] | None) -> list[bytes]:
    """Return an object as JSON in pieces; its fieldsV1 texts are separate, because many objects have the same."""
    encoded = serializer.encode_json(included)
    pieces: list[bytes] = []
    start = 0
    for entry in each((included or {}).get("metadata", {}).get("managedFields") or ()):
        fields = serializer.encode_json(entry.get("fieldsV1"))
        offset = encoded.find(fields, start)
        if len(fields) >= SHARED and offset >= 0:
            pieces += [encoded[start:offset], encoded[offset : offset + len(fields)]]
            start = offset + len(fields)
    return [*pieces, encoded[start:]]


class AgeFiller(dict[float, bytes]):
    """Fills the ages at one moment into rows; caches them, because objects share seconds. now: seconds since 1970."""

    def __init__(self, now: float) -> None:
        self._now = now

    def __missing__(self, moment: float) -> bytes:
        text = self[moment] = format_human_duration(self._now - moment).encode()
        return text

    def fill_row(self, row: Sequence[bytes | float]) -> bytes:
        """Return a row, or several with separators, as JSON."""
        return b"".join([piece if isinstance(piece, bytes) else self[piece] for piece in row])


def frame_table(
    layout: TableLayout,
    metadata: Mapping[str, Any],
    version: str = "v1",
    *,
    with_columns: bool = True,
    bare: bool = False,
) -> tuple[bytes, bytes]:
    """Return the JSON before and after the rows of a Table.

    metadata: of the list, or of the single object. with_columns: include the columnDefinitions, as in all tables except
    those of later watch events. bare: there are no rows; for kinds without columns of their own a real server then
    shows null.
    """
    head = f'{{"kind":"Table","apiVersion":"meta.k8s.io/{version}","metadata":'.encode()
    definitions = layout.encoded if with_columns else b"null"
    opened, closed = (b"null", b"}") if bare and layout.columns is shared.DATED else (b"[", b"]}")
    meta = {
        name: metadata[name] for name in ("resourceVersion", "continue", "remainingItemCount") if metadata.get(name)
    }
    return b'%b%b,"columnDefinitions":%b,"rows":%b' % (head, serializer.encode_json(meta), definitions, opened), closed


def encode_table(
    layout: TableLayout, row: Row, metadata: Mapping[str, Any], version: str = "v1", *, with_columns: bool = True
) -> bytes:
    """Return a Table of one row as JSON, with the ages of now. with_columns: as for `frame_table`."""
    head, tail = frame_table(layout, metadata, version, with_columns=with_columns)
    return b"".join((head, AgeFiller(clock.time()).fill_row(row), tail))
