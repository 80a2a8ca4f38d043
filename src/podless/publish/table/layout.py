"""A version's columns, compiled once: their definitions, and a reader for each cell."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from podless.apis.shared import columns as shared
from podless.apis.shared.columns import Age, PrinterColumn
from podless.codec import gotext, jsontext, serializer
from podless.codec.gotext import MAX_INT64, MIN_INT64
from podless.kinds.kind import Column, Kind, Version
from podless.meta import jsonpath
from podless.publish import texts
from podless.publish.table import ages
from podless.runtime import clock
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object
from podless.runtime.memo import made_once
from podless.runtime.meter import charge
from podless.structs.structfiles import folder_of

Reader = Callable[[Object], Any]

_COLUMN = 32  # steps on the meter to compile a column
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

    @made_once
    def definitions(self) -> list[Object]:
        return [_column_definition(column, self.group) for column in self.columns if column.name]

    @made_once
    def encoded(self) -> bytes:
        """Return the definitions as JSON."""
        return serializer.encode_json(self.definitions)

    def read_cells(self, obj: Object, now: float | None = None) -> list[Any]:
        """Return the cells of an object's row.

        now: the time for ages, in seconds since 1970; by default the clock's.
        """
        then = clock.time() if now is None else now
        argument = self.reader_argument(obj)
        return [
            _show_time(ages.read_age(read.read(argument)), then) if isinstance(read, Age) else read(argument)
            for read in self.readers
        ]


def _column_definition(column: PrinterColumn, group: str) -> Object:
    """Return the column's entry in columnDefinitions."""
    struct, _, field = column.field.rpartition(".")
    folder, _, struct = struct.rpartition("/")
    return {
        "name": column.name,
        "type": column.type,
        "format": column.format,
        "description": column.description or texts.field_text(folder or group, struct, field),
        "priority": column.priority,
    }


def _show_time(age: ages.AgeSpan | str | None, now: float) -> str | None:
    if not isinstance(age, ages.AgeSpan):
        return age
    return f"{age.before}{ages.format_age(age.moment, now)}{age.after}"


AGED = TableLayout(shared.AGED)
SCALE = TableLayout(shared.SCALE)


def table_layout(kind: Kind, version: Version) -> TableLayout:
    """Return the layout of a version: its columns, or Name and Age; built-in kinds have their own."""
    return kind.derive(
        ("table", version.name),
        lambda: custom_layout(version.columns) if kind.custom else builtin_layout(kind.group, kind.plural),
    )


def builtin_layout(group: str, plural: str) -> TableLayout:
    """Return the layout of a built-in kind."""
    folder = folder_of(group)
    module = shared.import_readers(folder)
    order, conditions = (getattr(module, name, {}).get(plural) for name in ("ORDERS", "CONDITIONS"))
    return TableLayout(shared.read_columns(folder, plural), group, order, conditions)


def custom_layout(columns: Sequence[Column] | None) -> TableLayout:
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
        read = _cell_reader(column.type, path)
        cells.append(
            PrinterColumn(column.name, column.type, read, description, format=column.format, priority=column.priority)
        )
    if searches:
        cells[0] = replace(shared.NAME, read=_read_name)
    return TableLayout(tuple(cells), searches=searches)


def _read_name(value: Any) -> Any:
    name: Any = shared.NAME.read
    return name(value.obj)


def _cell_reader(kind: str, path: jsonpath.JSONPath) -> Callable[[Any], Any] | Age:
    if kind == "date":
        return Age(path.first)
    if kind == "string":
        return functools.partial(_string_cell, path)
    return functools.partial(_converted_cell, _CONVERSIONS.get(kind, _empty_cell), path)


def _string_cell(path: jsonpath.JSONPath, obj: Any) -> str | None:
    values = path.find(obj)
    return _format_cell(values[0]) if values else None


def _converted_cell(convert: Callable[[Any], Any], path: jsonpath.JSONPath, obj: Any) -> Any:
    return convert(path.first(obj))


def _integer_cell(value: Any) -> int | None:
    if type(value) is int and MIN_INT64 <= value <= MAX_INT64:
        return value
    if type(value) is not int and type(value) is not float:
        return None
    return int(value) if MIN_INT64 <= value <= MAX_INT64 else MIN_INT64  # as Go converts a float that is too large


def _number_cell(value: Any) -> int | float | None:
    return jsontext.settle_number(float(value)) if type(value) is int or type(value) is float else None


def _boolean_cell(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _empty_cell(value: Any) -> None:
    return None


_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "integer": _integer_cell,
    "number": _number_cell,
    "boolean": _boolean_cell,
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
