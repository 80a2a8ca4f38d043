"""Printer columns: the definition of a column, common readers of cells, and the columns of a group's columns.txt.

The format of the file: apis/README.md. It is read at the first Table of a kind. Cells that are computed have a function
in the module `columns` of the group, which reads the object with `at`. If a list is not sorted by name, that module has
ORDERS: the sort keys of objects by plural. Source: recorded Tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from podless.runtime.dataclass import dataclass
from podless.runtime.datafiles import read_blocks
from podless.runtime.meter import each
from podless.runtime.release import CURRENT

Object = Mapping[str, Any]
Reader = Callable[[Object], Any]
FOLDER = Path(__file__).parent.parent
NONE, UNSET = "<none>", "<unset>"
_OPERATORS = {"In": "in", "NotIn": "notin"}


class Lapse(NamedTuple):
    """A text that contains a duration: from `since` until now, or until a given `until`.

    Without `since` it is only the text before. The surrounding texts must need no JSON escapes.
    """

    before: str
    since: str = ""
    after: str = ""
    until: str = ""


@dataclass(frozen=True, slots=True)
class Age:
    """A cell with the time since a timestamp.

    read: returns the timestamp, "" for none; a Lapse if the cell contains more; None for an empty cell.
    """

    read: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class PrinterColumn:
    """One column of a Table: its entry in columnDefinitions, and the function that reads an object's cell.

    name: "" for a cell without an entry. field: STRUCT.FIELD (FOLDER/STRUCT.FIELD in another group) whose text is the
    default description. releases: that have the column, "" for all.
    """

    name: str
    type: str
    read: Reader | Age
    description: str = ""
    field: str = ""
    format: str = ""
    priority: int = 0
    releases: str = ""


def at(obj: Any, *path: str, default: Any = "") -> Any:
    """Return the value at a path of keys, or the default if it is missing or null."""
    for key in path:
        obj = obj.get(key) if isinstance(obj, dict) else None
    return default if obj is None else obj


# readers of the value at a path


def value(path: str, default: Any = "") -> Reader:
    """Return a reader of the value."""
    keys = path.split(".")
    return lambda obj: at(obj, *keys, default=default)


def text(path: str, default: str = "") -> Callable[[Object], str]:
    """Return a reader of the value as a string."""
    keys = path.split(".")
    return lambda obj: str(at(obj, *keys, default=default))


def number(path: str) -> Callable[[Object], int]:
    """Return a reader of a number; a missing one is 0."""
    keys = path.split(".")
    return lambda obj: int(at(obj, *keys, default=0))


def count(path: str) -> Callable[[Object], int]:
    """Return a reader of the number of items."""
    keys = path.split(".")
    return lambda obj: len(at(obj, *keys, default=()))


def ratio(count_path: str, total_path: str) -> Callable[[Object], str]:
    """Return a reader of two numbers, such as 1/2."""
    ready_number, wanted_number = value(count_path, 0), value(total_path, 0)
    return lambda obj: f"{ready_number(obj)}/{wanted_number(obj)}"


def joined(path: str, empty: str = "") -> Callable[[Object], str]:
    """Return a reader of a list of strings, joined by commas."""
    keys = path.split(".")
    return lambda obj: ",".join(at(obj, *keys, default=())) or empty


def flag(path: str, default: str = "false") -> Reader:
    """Return a reader of a boolean."""
    return value(path, default == "true")


def text_or(path: str, default: str) -> Callable[[Object], str]:
    """Return a reader of the value as a string; the default also replaces an empty string."""
    read = text(path)
    return lambda obj: read(obj) or default


def slash(first: str, second: str) -> Callable[[Object], str]:
    """Return a reader of two strings, such as ClusterRole/view."""
    read_first, read_second = text(first), text(second)
    return lambda obj: f"{read_first(obj)}/{read_second(obj)}"


def joined_items(path: str, field: str) -> Callable[[Object], str]:
    """Return a reader of a field of each item of a list, joined by commas."""
    read = value(path, ())
    return lambda obj: ",".join(at(item, field) for item in each(read(obj)))


def selector(path: str) -> Callable[[Object], str]:
    """Return a reader of a LabelSelector as a string."""
    read = value(path, None)
    return lambda obj: format_selector(read(obj))


def class_name(*marks: str) -> Callable[[Object], str]:
    """Return a reader of a class's name; "(default)" is added if one of these annotations is "true"."""

    def read_name(obj: Object) -> str:
        name, annotations = str(at(obj, "metadata", "name")), at(obj, "metadata", "annotations", default={})
        return f"{name} (default)" if any(annotations.get(mark) == "true" for mark in marks) else name

    return read_name


def desired_replicas(obj: Object) -> int | None:
    """Return the wanted replicas of a Scale, which omits 0."""
    return at(obj, "spec", "replicas", default=None) or None


# columns


def read_columns(folder: str, plural: str) -> tuple[PrinterColumn, ...]:
    """Return the columns of a built-in kind. Without columns it shows Name and Created At, as a real server does."""
    path = FOLDER / folder / "columns.txt"
    for header, rows in read_blocks(path).items() if path.exists() else ():
        if header == plural:
            module = import_readers(folder)
            columns = (_read_column(module, *row) for row in rows)
            return tuple(column for column in columns if CURRENT.get().is_in_span(column.releases))
        if header.startswith(f"{plural}  like "):
            return read_columns(header.rpartition(" ")[2], plural)
    return DATED


def import_readers(folder: str) -> ModuleType | None:
    """Return the module with the readers of a group that compute a cell; None if it has none."""
    name = f"podless.apis.{folder}.columns"
    return import_module(name) if find_spec(name) else None


def _read_column(module: ModuleType | None, name: str, *row: str) -> PrinterColumn:
    """Return the column that a row declares."""
    options = dict(word.partition("=")[::2] for word in row if _OPTION.fullmatch(word))
    words = [word for word in row if not _OPTION.fullmatch(word)]
    if words:
        type_, documentation, *cell = words
        reader: Any = _find_reader(type_, cell[0] if cell else path_of(documentation), module)
        description, field = (documentation, "") if " " in documentation else ("", documentation)
        column = PrinterColumn(
            "" if name == "-" else name,
            _TYPES.get(type_, type_),
            Age(reader) if type_ == "age" else reader,
            description,
            field,
            "name" if type_ == "name" else "",
        )
    else:
        column = NAME if name == "Name" else AGE
    span = "-".join(options.get(word, "") for word in ("since", "until"))
    return replace(column, priority=int("wide" in options), releases=span if span != "-" else "")


def _find_reader(type_: str, cell: str, module: ModuleType | None) -> Any:
    """Return the reader for a cell: a path, or a function of the group's module or of this one, with arguments."""
    name, called, arguments = cell.partition("(")
    if not called:
        return _READERS[type_](cell)
    function: Any = getattr(module, name, None) or globals()[name]
    return function(*arguments[:-1].split(", ")) if arguments != ")" else function


def path_of(field: str) -> str:
    """Return the path of a field: in spec for the struct DeploymentSpec, in status for DeploymentStatus."""
    struct, _, name = field.partition(".")
    prefix = "spec." if struct.endswith("Spec") else "status." if struct.endswith("Status") else ""
    return prefix + name


_READERS: Mapping[str, Callable[[str], Reader]] = {
    "string": text,
    "name": text,
    "age": text,
    "integer": number,
    "boolean": flag,
}
_TYPES = {"name": "string", "age": "string"}
_OPTION = re.compile(r"wide|(since|until)=\S+")
NAME = _read_column(None, "Name", "name", "meta/ObjectMeta.name", "metadata.name")
AGE = _read_column(None, "Age", "age", "meta/ObjectMeta.creationTimestamp", "metadata.creationTimestamp")
# the default columns. A custom kind's age is a date, empty without creationTimestamp (in bookmarks); that of built-in
# kinds is a string
AGED = (NAME, PrinterColumn("Age", "date", Age(value("metadata.creationTimestamp", None)), field=AGE.field))
DATED = (NAME, PrinterColumn("Created At", "date", text("metadata.creationTimestamp"), field=AGE.field))
SCALE = (
    NAME,
    _read_column(None, "Desired", "integer", "autoscaling/ScaleSpec.replicas", "desired_replicas()"),
    _read_column(None, "Available", "integer", "autoscaling/ScaleStatus.replicas"),
    AGED[1],
)


# strings


def format_selector(selector: Any, empty: str = NONE) -> str:
    """Format a LabelSelector as a string, sorted by key."""
    pairs = [(key, f"{key}={value}") for key, value in each(at(selector, "matchLabels", default={})).items()]
    pairs += [(item["key"], _format_requirement(item)) for item in each(at(selector, "matchExpressions", default=()))]
    return ",".join(text for _, text in sorted(each(pairs), key=lambda pair: pair[0])) or empty


def _format_requirement(requirement: Mapping[str, Any]) -> str:
    key, operator = requirement["key"], requirement["operator"]
    if operator in _OPERATORS:
        return f"{key} {_OPERATORS[operator]} ({','.join(sorted(requirement.get('values') or ()))})"
    return f"!{key}" if operator == "DoesNotExist" else str(key)


def labels(path: str) -> Callable[[Object], str]:
    """Return a reader of a label map as a string, sorted by key."""
    read = value(path, {})
    return lambda obj: ",".join(f"{key}={value}" for key, value in sorted(each(read(obj)).items())) or NONE


def shorten(texts: Sequence[str], joint: str = ",", limit: int = 3) -> str:
    """Join the first texts, and append how many more there are."""
    hidden = len(texts) - limit
    return joint.join(texts[:limit]) + (f" + {hidden} more..." if hidden > 0 else "")


def balancer_addresses(obj: Object) -> str:
    """Return the ingress addresses of a load balancer."""
    ingress = at(obj, "status", "loadBalancer", "ingress", default=())
    return ",".join(sorted({at(entry, "ip") or at(entry, "hostname") for entry in each(ingress)} - {""}))


def find_condition(holder: Any, name: str) -> Any:
    """Return the first condition of a type in a status, {} if there is none."""
    return next((item for item in each(at(holder, "conditions", default=())) if item["type"] == name), {})
