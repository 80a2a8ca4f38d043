"""Options, declared once: a dataclass field has the name, type and default, and its metadata the help text.

The command line and the reference pages are made from these declarations (cli/options.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, field, fields
from itertools import chain
from pathlib import Path
from typing import Any

from podless.runtime.dataclass import dataclass


class ReportedError(Exception):
    """A failure that a command reports with this text, in one line, and an exit code of its own."""


@contextmanager
def report_errors(*errors: type[Exception]) -> Iterator[None]:
    """Turn errors of these types into a ReportedError with the same text, within the block."""
    try:
        yield
    except errors as error:
        raise ReportedError(error.args[0] if isinstance(error, LookupError) else error) from None


class StartError(ReportedError):
    """The server cannot start. The text is one line. All failures at the start raise it.

    why: the text without the name of the option at fault.
    """

    def __init__(self, reason: str, option: str = "") -> None:
        super().__init__(f"{option}: {reason}" if option else reason)
        self.why = reason


@dataclass(frozen=True, slots=True)
class Option:
    """The declaration of an option."""

    flag: str  # on the command line; "" if only programs can set it
    help: str
    metavar: str = ""  # placeholder of the value
    parse: Callable[[str], Any] = str  # makes the value from a text; raises ValueError with a one-line text
    default: str | None = None  # default text of the command, None for the field's own default
    choices: tuple[str, ...] = ()  # valid texts
    values: tuple[Any, Any] | None = None  # values of a switch: on, off
    # the flag can be repeated; makes the field from the list of values
    combine: Callable[[list[Any]], Any] | None = None
    unset_flag: tuple[str, str] | None = None  # a flag that sets the field to None, with its help
    letter: str = ""  # the flag in one letter
    bare_value: Any = None  # value of the flag without a text, None if it needs one
    server_only: bool = False  # only servers use it; other commands that take the section accept it and do not list it


@dataclass(frozen=True, slots=True)
class Section:
    """A field whose value is a dataclass of options, shown under one heading.

    of: the dataclass. any_of: fields, one of which must be set to create it; empty: always create it.
    """

    of: type
    title: str
    description: str = ""
    any_of: tuple[str, ...] = ()


_NONE: Any = MISSING


def option(flag: str, help: str, *, value: Any = _NONE, factory: Callable[[], Any] = _NONE, **declaration: Any) -> Any:
    """Declare a dataclass field as an option. value or factory: its default; declaration: other fields of Option.

    A field whose default is True or False is a switch, unless its flag takes a value.
    """
    if isinstance(value, bool) and "parse" not in declaration:
        declaration.setdefault("values", (True, False))
    return field(default=value, default_factory=factory, metadata={"option": Option(flag, help, **declaration)})


def file_option(flag: str, help: str) -> Any:
    """Declare a dataclass field as an option that names a file (default: None)."""
    return option(flag, help, value=None, metavar="FILE", parse=Path)


def section(of: type, title: str, description: str = "", *, any_of: tuple[str, ...] = (), factory: Any = _NONE) -> Any:
    """Declare a dataclass field as a section. factory: makes its default, None if it is required."""
    metadata = {"section": Section(of, title, description, any_of)}
    if factory is MISSING:
        return field(default=None, metadata=metadata)
    return field(default_factory=factory, metadata=metadata)


def declared_options(of: type) -> Iterator[tuple[str, Any, Option | Section]]:
    """Yield name, default (MISSING for none) and declaration of each field. Raises KeyError for an undeclared field."""
    for declared in fields(of):
        default = declared.default_factory() if declared.default_factory is not MISSING else declared.default
        yield declared.name, default, declared.metadata.get("option") or declared.metadata["section"]


def merge_maps(maps: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return one map of the values of a repeated flag; the last one wins, as in Kubernetes' map flags."""
    return {name: value for table in maps for name, value in table.items()}


def join_lists(lists: Iterable[Iterable[Any]]) -> tuple[Any, ...]:
    """Return one list of the values of a repeated flag, as Kubernetes' list flags do."""
    return tuple(chain.from_iterable(lists))


def parse_positive(text: str) -> int:
    """Parse a positive number. Raises ValueError."""
    if not text.isascii() or not text.isdigit() or len(text) > 18 or not int(text):
        raise ValueError("expected a number above 0")
    return int(text)


def parse_megabytes(text: str) -> int:
    """Parse a number of MiB, and return bytes. Raises ValueError."""
    return parse_number(text) << 20


def parse_memory(text: str) -> int:
    """Parse a positive number of MiB, and return bytes. Raises ValueError."""
    return parse_positive(text) << 20


def parse_number(text: str) -> int:
    """Parse a number from 0. Raises ValueError."""
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise ValueError("expected a number from 0")
    return int(text)


_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0}


def parse_duration(text: str) -> float:
    """Parse numbers with units, such as 1h30m or 90s, and return seconds. Raises ValueError."""
    total, remaining = 0.0, text
    for unit, seconds in _UNITS.items():
        number, sign, after = remaining.partition(unit)
        integer, _, fraction = number.partition(".")
        if sign and integer.isascii() and integer.isdigit() and (not fraction or (unit == "s" and fraction.isdigit())):
            total, remaining = total + float(number) * seconds, after
    if remaining or total <= 0:
        raise ValueError("expected a duration such as 1h, 30m or 1h30m")
    return total


_SIZES = {"Ki": 10, "Mi": 20, "Gi": 30}


def parse_seed(text: str) -> int:
    """Parse a seed, a number from 0. Raises ValueError."""
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise ValueError("expected a number")
    return int(text)


def parse_size(text: str) -> int:
    """Parse a number with a unit, such as 256Mi, and return bytes. Raises ValueError."""
    digits, unit = text[:-2], text[-2:]
    if unit not in _SIZES or not digits.isascii() or not digits.isdigit() or len(digits) > 9:
        raise ValueError("expected a size such as 512Ki, 256Mi or 4Gi")
    return int(digits) << _SIZES[unit]
