"""format(): replaces clauses such as %s, %d and %.2f by values.

This is the first version of cel-go's formatting, with the numbers of its English locale: commas group thousands, and
powers of ten use superscript digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import replace
from typing import Any

from podless.cel import bounds, gotimes
from podless.cel.cost import traversal_cost
from podless.cel.errors import EvaluationError
from podless.cel.functions import Library, declare
from podless.cel.library.standard import to_string
from podless.cel.syntax import Expr, ListExpr, MapExpr
from podless.cel.types import RUNTIME_NAMES, Type
from podless.cel.values import Duration, Timestamp, TypeValue, Uint, name_of
from podless.codec import gotext
from podless.runtime.dataclass import dataclass
from podless.runtime.meter import charge

_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_MAX_DIGITS = 1000
_VALUE = 8  # steps of a value in a list or map
# clause: error text for a value of the wrong type
TYPE_ERRORS = {
    "s": "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and"
    " timestamps, was given {}",
    "d": "decimal clause can only be used on integers, was given {}",
    "f": "fixed-point clause can only be used on doubles, was given {}",
    "e": "scientific clause can only be used on doubles, was given {}",
    "b": "only integers and bools can be formatted as binary, was given {}",
    "x": "only integers, byte buffers, and strings can be formatted as hex, was given {}",
    "o": "octal clause can only be used on integers, was given {}",
}
ACCEPTED_TYPES = {
    clause: frozenset(names.split())
    for clause, names in {
        "s": "list map int uint double bool string bytes type null_type google.protobuf.Timestamp "
        "google.protobuf.Duration",
        "d": "int uint",
        "f": "double",
        "e": "double",
        "b": "int uint bool",
        "x": "int uint string bytes",
        "o": "int uint",
    }.items()
}
_SPECIAL_DOUBLES = ("NaN", "Infinity", "-Infinity")
_UNEXPECTED_END = "unexpected end of string"


class BadClause(EvaluationError):
    """A clause is malformed or cannot format its value."""


class Misfit(BadClause):
    """A clause cannot format values of this type."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


def split_format(text: str, count: int, *, checked: bool = False) -> list[tuple[str, str, int | None]]:
    """Return the pieces of a format: the text before a clause, its letter and precision; the last has no letter.

    checked: report an incomplete clause before a missing argument. Raises BadClause at the first error.
    """
    clauses: list[tuple[str, str, int | None]] = []
    piece, at = "", 0
    while at < len(text):
        if text[at] != "%":
            end = text.find("%", at)
            end = len(text) if end < 0 else end
            piece += text[at:end]
            at = end
            continue
        if text[at + 1 : at + 2] == "%":
            piece += "%"
            at += 2
            continue
        if checked and at + 1 >= len(text):
            raise BadClause(_UNEXPECTED_END)
        if len(clauses) >= count:
            raise BadClause(f"index {len(clauses)} out of range")
        letter, precision, at = _parse_clause(text, at + 1)
        clauses.append((piece, letter, precision))
        piece = ""
    return [*clauses, (piece, "", None)]


def _parse_clause(text: str, at: int) -> tuple[str, int | None, int]:
    if at >= len(text):
        raise BadClause(_UNEXPECTED_END)
    precision = None
    if text[at] == ".":
        end = at + 1
        while end < len(text) and text[end].isascii() and text[end].isdigit():
            end += 1
        prefix = "could not parse formatting clause: error while parsing precision: "
        if end >= len(text):
            raise BadClause(f"{prefix}could not find end of precision specifier")
        if end == at + 1:
            problem = 'strconv.Atoi: parsing "": invalid syntax'
            raise BadClause(f"{prefix}error while converting precision to integer: {problem}")
        precision = int(text[at + 1 : end][:6])
        if precision > _MAX_DIGITS:
            raise BadClause(f"{prefix}precision {precision} exceeds maximum allowed precision {_MAX_DIGITS}")
        at = end
    letter = text[at]
    if letter not in "sdfebxXo":
        byte = letter.encode()[:1].decode("latin-1")
        raise BadClause(f'could not parse formatting clause: unrecognized formatting clause "{byte}"')
    return letter, precision, at + 1


@dataclass(frozen=True)
class Clauses:
    """The clauses of one version of format(), by letter.

    formatters: functions of a value and a precision. accepted_types: names of their types; %f and %e also accept the
    strings "NaN" and "Infinity". type_errors: texts for other types.
    """

    formatters: Mapping[str, Callable[[Any, int | None], str]]
    accepted_types: Mapping[str, Set[str]]
    type_errors: Mapping[str, str]

    def render(self, text: str, args: list[Any]) -> str:
        """Return the text with its clauses replaced by values."""
        rendered = []
        size = 0
        for index, (piece, letter, precision) in enumerate(split_format(text, len(args))):
            rendered.append(piece)
            if letter:
                rendered.append(self.format_value(args[index], letter, precision))
            size += sum(map(len, rendered[-2:]))
            bounds.afford_work(size)
        return "".join(rendered)

    def format_value(self, value: Any, letter: str, precision: int | None) -> str:
        """Return a value formatted by a clause. Raises EvaluationError."""
        try:
            if not self.accepts(name_of(value), letter.lower()):
                raise Misfit(value)
            return self.formatters[letter](value, precision)
        except Misfit as misfit:
            problem = self.type_errors[letter.lower()].format(name_of(misfit.value))
        except BadClause as error:
            problem = str(error)
        raise EvaluationError(f"error during formatting: {problem}")

    def accepts(self, type_name: str, letter: str) -> bool:
        """Return whether a clause can format values of a type."""
        return type_name in self.accepted_types[letter] or (letter in "fe" and type_name == "string")

    def find_fault(self, text: str, args: list[Expr]) -> tuple[Expr | None, str] | None:
        """Return the fault of a constant format, None for none: the faulty argument or None, and why."""
        try:
            clauses = split_format(text, len(args), checked=True)
        except BadClause as error:
            return None, str(error)
        for arg, (_, letter, _) in zip(args, clauses[:-1], strict=False):
            wrong = self.find_misfit(arg, letter.lower())
            if wrong is not None:
                type_name = _name_type(wrong.type)
                return wrong, f"error during formatting: {self.type_errors[letter.lower()].format(type_name)}"
        if len(clauses) - 1 < len(args):
            count = len(clauses) - 1
            return None, f"too many arguments supplied to string.format (expected {count}, got {len(args)})"
        return None

    def find_misfit(self, arg: Expr, letter: str) -> Expr | None:
        """Return the part that does not fit a clause: an argument, or for %s a part of a list or map literal."""
        todo = [arg]
        while todo:
            node = todo.pop()
            name = _name_type(node.type)
            if name not in ("dyn", "error") and not self.accepts(name, letter):
                return node
            if letter == "s" and isinstance(node, ListExpr | MapExpr):
                todo.extend(reversed(node.list_children()))
        return None


def _name_type(kind: Type) -> str:
    return kind.name if kind.kind in ("struct", "opaque") else RUNTIME_NAMES.get(kind.kind, kind.kind)


def _format_string(value: Any, precision: int | None = None) -> str:
    if value is None:
        return "null"
    if isinstance(value, list):
        return f"[{join_texts(map(_format_nested, bounds.charge_each(value)))}]"
    if value.__class__ is dict:
        entries = sorted(
            (_quote_nested(key, _format_key(key)), _format_nested(item))
            for key, item in bounds.charge_each(value.items())
        )
        return f"{{{join_texts(f'{key}:{item}' for key, item in entries)}}}"
    try:
        return str(to_string(value))
    except EvaluationError as error:
        raise BadClause(f"could not convert argument {gotext.quote(str(error))} to string") from None


def join_texts(texts: Iterable[str]) -> str:
    """Join texts with commas. The length is charged as it grows."""
    joined, size = [], 0
    for text in texts:
        charge(_VALUE)
        joined.append(text)
        size += len(text) + 2
        bounds.afford_work(size)
    return ", ".join(joined)


def _format_key(key: Any) -> str:
    if key.__class__ not in (str, bool, int, Uint):
        raise BadClause(f"no formatting function for map key of type {name_of(key)}")
    return _format_string(key)


def _format_nested(value: Any) -> str:
    """Return a value inside a list or map, in CEL's syntax."""
    kind = value.__class__
    if kind is float:
        return f'"{_format_fixed_plain(value)}"' if not math.isfinite(value) else _format_fixed_plain(value)
    if kind is Timestamp:
        return f"timestamp({gotext.quote(gotimes.format_timestamp(value))})"
    if kind is Duration:
        return f"duration({gotext.quote(gotimes.format_duration(value))})"
    if isinstance(value, list) or kind in (dict, str, bytes, bool, int, Uint, TypeValue) or value is None:
        return _quote_nested(value, _format_string(value))
    raise BadClause(f"no formatting function for {name_of(value)}")


def _quote_nested(value: Any, text: str) -> str:
    if value.__class__ is str:
        return gotext.quote(text)
    return f"b{gotext.quote(text)}" if value.__class__ is bytes else text


def _format_fixed_plain(value: float) -> str:
    if math.isfinite(value):
        return f"{value:.6f}"
    return gotext.format_float(value)


def _parse_number(value: float | str) -> float:
    if isinstance(value, float):
        return value
    if value not in _SPECIAL_DOUBLES:
        raise Misfit(value)
    return float(value.replace("Infinity", "inf"))


def _format_special(value: float) -> str:
    return "NaN" if value != value else "∞" if value > 0 else "-∞"


def _format_fixed(value: Any, precision: int | None) -> str:
    number = _parse_number(value)
    if not math.isfinite(number):
        return _format_special(number)
    return f"{number:,.{6 if precision is None else precision}f}"


def _format_scientific(value: Any, precision: int | None) -> str:
    number = _parse_number(value)
    if not math.isfinite(number):
        return _format_special(number)
    # cel-go reads the precision as a width and pads to it
    mantissa, _, power = f"{number:.6e}".partition("e")
    sign = "-" if power.startswith("-") else ""
    text = f"{mantissa}×10{(sign + power.lstrip('+-')).translate(_RAISED)}"
    return text.rjust(precision or 0)


def _format_hex(value: Any, precision: int | None) -> str:
    if isinstance(value, str | bytes):
        return (value.encode() if isinstance(value, str) else value).hex()
    return f"{int(value):x}"


# the clauses for integers, which all versions share
INTEGER_FORMATTERS: Mapping[str, Callable[[Any, int | None], str]] = {
    "b": lambda value, precision: f"{int(value):b}",
    "o": lambda value, precision: f"{int(value):o}",
    "x": _format_hex,
    "X": lambda value, precision: _format_hex(value, precision).upper(),
}
CLAUSES = Clauses(
    {
        "s": _format_string,
        "d": lambda value, precision: str(int(value)),
        "f": _format_fixed,
        "e": _format_scientific,
        **INTEGER_FORMATTERS,
    },
    ACCEPTED_TYPES,
    TYPE_ERRORS,
)


def format_library(name: str, kinds: Clauses) -> Library:
    """Return the library with format() for some clauses."""
    form = declare("<string>.format(list(dyn)) -> string", "string_format", kinds.render, traversal_cost())
    return Library(name, (replace(form, check=kinds.find_fault),))


LIBRARY = format_library("format", CLAUSES)
