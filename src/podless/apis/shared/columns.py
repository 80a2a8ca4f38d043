"""Printer columns: the definition of a column, and common readers and columns.

The module `columns` of a group has COLUMNS: the columns of its kinds by plural. If a list is not sorted by name it also
has ORDERS: the sort keys of objects by plural. publish/table/layout.py imports it at the first Table of the group. A
path is a string such as "spec.replicas"; code that computes a cell reads the object with `at`. Source: recorded Tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from podless.runtime.dataclass import dataclass
from podless.runtime.meter import each

Object = Mapping[str, Any]
Reader = Callable[[Object], Any]
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


Columns = Mapping[str, tuple[PrinterColumn, ...]]


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


# columns


def _make_column(
    kind: str,
    default_reader: Callable[[str], Reader],
    name: str,
    documentation: str,
    read: str | Reader | Age = "",
    *,
    format: str = "",
    wide: bool = False,
) -> PrinterColumn:
    reader = default_reader(read or path_of(documentation)) if isinstance(read, str) else read
    description, field = (documentation, "") if " " in documentation else ("", documentation)
    return PrinterColumn(name, kind, reader, description, field, format, int(wide))


def path_of(field: str) -> str:
    """Return the path of a field: in spec for the struct DeploymentSpec, in status for DeploymentStatus."""
    struct, _, name = field.partition(".")
    prefix = "spec." if struct.endswith("Spec") else "status." if struct.endswith("Status") else ""
    return prefix + name


# Make a column from a name, a field (or a description), and a path or reader (default: the field's path). wide: only
# `kubectl get -o wide` shows it.
string = partial(_make_column, "string", text)
integer = partial(_make_column, "integer", number)
boolean = partial(_make_column, "boolean", partial(value, default=False))

_CREATED = "meta/ObjectMeta.creationTimestamp"
_CREATED_AT = "metadata.creationTimestamp"
NAME = string("Name", "meta/ObjectMeta.name", "metadata.name", format="name")
AGE = string("Age", _CREATED, Age(text(_CREATED_AT)))
# the default columns. A custom kind's age is a date, empty without creationTimestamp (in bookmarks); that of built-in
# kinds is a string
AGED = (NAME, PrinterColumn("Age", "date", Age(value(_CREATED_AT, None)), field=_CREATED))
DATED = (NAME, PrinterColumn("Created At", "date", text(_CREATED_AT), field=_CREATED))
SCALE = (
    NAME,
    integer(
        "Desired",
        "autoscaling/ScaleSpec.replicas",
        lambda obj: at(obj, "spec", "replicas", default=None) or None,  # 0 is omitted
    ),
    integer("Available", "autoscaling/ScaleStatus.replicas", value("status.replicas", 0)),
    AGED[1],
)


def class_name(*marks: str) -> PrinterColumn:
    """Make the column with a class name; "(default)" is added if one of these annotations is "true"."""

    def read_name(obj: Object) -> str:
        name, annotations = str(at(obj, "metadata", "name")), at(obj, "metadata", "annotations", default={})
        return f"{name} (default)" if any(annotations.get(mark) == "true" for mark in marks) else name

    return replace(NAME, read=read_name)


def containers(path: str, *, wide: bool = True) -> tuple[PrinterColumn, PrinterColumn]:
    """Make the columns with names and images of the containers in the PodSpec at a path."""
    keys = path.split(".")

    def make_reader(field: str) -> Callable[[Object], str]:
        return lambda obj: ",".join(at(item, field) for item in each(at(obj, *keys, "containers", default=())))

    return (
        string("Containers", "core/Container.name", make_reader("name"), wide=wide),
        string("Images", "core/Container.image", make_reader("image"), wide=wide),
    )


def selector(field: str, path: str = "", empty: str = NONE) -> PrinterColumn:
    """Make the wide column of a LabelSelector. path: default the field's path."""
    read = value(path or path_of(field), None)
    return string("Selector", field, lambda obj: format_selector(read(obj), empty), wide=True)


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
