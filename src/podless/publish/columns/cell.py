"""What a column is: a cell's reader, and what the head of the column says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from podless.publish import texts

Object = Mapping[str, Any]


class Lapse(NamedTuple):
    """A text with a span of time in it: from `since` until now, or to an `until` that is given as well.

    Without `since` it is the text before. What stands around the span are letters that JSON has as they are.
    """

    before: str
    since: str = ""
    after: str = ""
    until: str = ""


@dataclass(frozen=True, slots=True)
class Age:
    """A cell that tells how long ago a time was.

    read: gives the time as text, "" for no time; a Lapse for more than the time; all else has no cell.
    """

    read: Callable[[Any], Any]


class Of(NamedTuple):
    """The field that a column shows, whose text is the column's: API group, struct, field (publish/texts.py)."""

    group: str
    struct: str
    field: str


@dataclass(frozen=True, slots=True)
class Cell:
    """One column: what its head says, and how an object's cell is read.

    name: "" for a cell without a head. told: its text, or the field that has it.
    """

    name: str
    type: str
    told: Of | str
    read: Callable[[Object], Any] | Age
    format: str = ""
    priority: int = 0

    def head(self) -> dict[str, Any]:
        """The column's entry in columnDefinitions."""
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": self.told if isinstance(self.told, str) else texts.field_text(*self.told),
            "priority": self.priority,
        }


def at(obj: Any, *path: str, default: Any = "") -> Any:
    """What is at a path of keys, or the default where there is nothing."""
    for key in path:
        obj = obj.get(key) if isinstance(obj, dict) else None
    return default if obj is None else obj


def count(*path: str) -> Callable[[Object], int]:
    """Reads how many items there are at a path."""
    return lambda obj: len(at(obj, *path, default=()))


def text(*path: str) -> Callable[[Object], str]:
    """Reads what is at a path, as a text."""
    return lambda obj: str(at(obj, *path))


_CREATED = Of(texts.META, "ObjectMeta", "creationTimestamp")
_CREATED_AT = text("metadata", "creationTimestamp")
NAME = Cell("Name", "string", Of(texts.META, "ObjectMeta", "name"), text("metadata", "name"), format="name")
# the columns of kinds that choose none; a custom kind's age is a date, empty where it has none (a bookmark), and the
# default of built-in ones a time
AGE = Cell("Age", "string", _CREATED, Age(_CREATED_AT))
AGED = (NAME, Cell("Age", "date", _CREATED, Age(lambda obj: at(obj, "metadata", "creationTimestamp", default=None))))
DATED = (NAME, Cell("Created At", "date", _CREATED, _CREATED_AT))


def class_name(*marks: str) -> Cell:
    """The name of a class, and whether it is the one for those who name none: an annotation of these is "true"."""

    def read(obj: Object) -> str:
        name, annotations = str(at(obj, "metadata", "name")), at(obj, "metadata", "annotations", default={})
        return f"{name} (default)" if any(annotations.get(mark) == "true" for mark in marks) else name

    return replace(NAME, read=read)


SCALE = (
    NAME,
    Cell(
        "Desired",
        "integer",
        Of("autoscaling", "ScaleSpec", "replicas"),
        lambda obj: at(obj, "spec", "replicas", default=None) or None,  # left out of a Scale when it is 0
    ),
    Cell(
        "Available",
        "integer",
        Of("autoscaling", "ScaleStatus", "replicas"),
        lambda obj: at(obj, "status", "replicas", default=0),
    ),
    AGED[1],
)
