"""Options, declared once: a dataclass field says its name, type and default, and here what people are told of it.

The command line, its help and the reference pages are made from the same declaration (cli/options.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, field, fields
from typing import Any


class StartError(Exception):
    """The server cannot start; the text is one clear line for a person. Whatever a start fails with is one of these."""


@dataclass(frozen=True, slots=True)
class Option:
    """What is told of a field.

    flag: as on the command line; "" for what only programs can set. metavar: stands for the value. parse: makes the
    value of a text, and raises ValueError with one clear line. default: the text that the command takes where none is
    given, None where it is the field's own default. choices: the texts that are good. values: of a switch, on and off.
    many: the flag may be repeated, and the field is made of the list of values by this. without: a flag that sets the
    field to None, and what it does. short: the flag in one letter. alone: the value of the flag without a text, None
    where it needs one.
    """

    flag: str
    help: str
    metavar: str = ""
    parse: Callable[[str], Any] = str
    default: str | None = None
    choices: tuple[str, ...] = ()
    values: tuple[Any, Any] | None = None
    many: Callable[[list[Any]], Any] | None = None
    without: tuple[str, str] | None = None
    short: str = ""
    alone: Any = None


@dataclass(frozen=True, slots=True)
class Section:
    """A field that has options of its own: those of a dataclass, shown together.

    of: the dataclass. given: fields of which one has to be set for there to be such an object at all; none for always.
    """

    of: type
    title: str
    about: str = ""
    given: tuple[str, ...] = ()


_NONE: Any = MISSING


def option(flag: str, help: str, *, value: Any = _NONE, factory: Callable[[], Any] = _NONE, **more: Any) -> Any:
    """A dataclass field that is an option. value or factory: its default; more: as for Option."""
    return field(default=value, default_factory=factory, metadata={"option": Option(flag, help, **more)})


def section(of: type, title: str, about: str = "", *, given: tuple[str, ...] = (), factory: Any = _NONE) -> Any:
    """A dataclass field that is a section; factory: makes its default, None where it has to be given."""
    metadata = {"section": Section(of, title, about, given)}
    if factory is MISSING:
        return field(default=None, metadata=metadata)
    return field(default_factory=factory, metadata=metadata)


def declared_options(of: type) -> Iterator[tuple[str, Any, Option | Section]]:
    """The fields of a dataclass: name, default (MISSING for none), and what is told of them. Raises KeyError for a
    field that nothing is told of.
    """
    for each in fields(of):
        default = each.default_factory() if each.default_factory is not MISSING else each.default
        yield each.name, default, each.metadata.get("option") or each.metadata["section"]


def one_or_more(text: str) -> int:
    """A number above 0. Raises ValueError."""
    if not text.isascii() or not text.isdigit() or len(text) > 18 or not int(text):
        raise ValueError("a number above 0")
    return int(text)


def parse_megabytes(text: str) -> int:
    """Bytes, of a number of MiB. Raises ValueError."""
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise ValueError("a number")
    return int(text) << 20


def parse_number(text: str) -> int:
    """A number from 0 on. Raises ValueError."""
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise ValueError("a number")
    return int(text)


_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0}


def parse_duration(text: str) -> float:
    """Seconds, from numbers with units such as 1h30m or 90s. Raises ValueError."""
    total, rest = 0.0, text
    for unit, seconds in _UNITS.items():
        given, sign, after = rest.partition(unit)
        whole, _, fraction = given.partition(".")
        if sign and whole.isascii() and whole.isdigit() and (not fraction or (unit == "s" and fraction.isdigit())):
            total, rest = total + float(given) * seconds, after
    if rest or total <= 0:
        raise ValueError("a duration is a time such as 1h, 30m or 1h30m")
    return total


_SIZES = {"Ki": 10, "Mi": 20, "Gi": 30}


def parse_seed(text: str) -> int:
    """A seed: any number from 0 on. Raises ValueError."""
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise ValueError("a seed is a number")
    return int(text)


def parse_size(text: str) -> int:
    """Bytes, of a number with a unit such as 256Mi. Raises ValueError."""
    digits, unit = text[:-2], text[-2:]
    if unit not in _SIZES or not digits.isascii() or not digits.isdigit() or len(digits) > 9:
        raise ValueError("a size is a number with a unit such as 512Ki, 256Mi or 4Gi")
    return int(digits) << _SIZES[unit]
