"""Quantities such as 200M or 1.5Gi, as apimachinery's resource package reads them (Kubernetes)."""

from __future__ import annotations

import re
from fractions import Fraction

from podless.cel import values
from podless.cel.decls import Library, function, member, plain
from podless.cel.errors import EvaluationError
from podless.cel.sizes import once, traversal
from podless.cel.types import BOOL, DOUBLE, INT, STRING, struct
from podless.cel.values import INT_MAX, INT_MIN

QUANTITY = struct("kubernetes.Quantity")
_FORM = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?([eE][+-]?[0-9]+|[numkMGTPE]i?|)\Z")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_SYNTAX = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_SUFFIX = "unable to parse quantity's suffix"
_NANO = 10**9
_LOOSE = re.compile(r"[+-]?[0-9.]+[eEinumkKMGTP]*[-+]?[0-9]*\Z")
_LOOSE_SUFFIX = re.compile(r"[eEinumkKMGTP]*[-+]?[0-9]*\Z")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_MOST_POWER = 1000


class Quantity(Fraction):
    """An amount; exact."""

    __slots__ = ()


values.NAMES[Quantity] = "kubernetes.Quantity"


def parse(text: str) -> Quantity:
    """Read a quantity. What is finer than a billionth is rounded up. Raises EvaluationError."""
    number = _NUMBER.match(text)
    if number is None or len(text) > 1000:
        raise EvaluationError(_SYNTAX)
    suffix = text[number.end() :]
    amount = Fraction(number[0].rstrip(".") if not number[0].endswith("..") else "0")
    if suffix in _BINARY:
        amount *= 1 << _BINARY[suffix]
    elif suffix in _DECIMAL:
        amount *= Fraction(10) ** _DECIMAL[suffix]
    elif re.match(r"[eE][+-]?[0-9]+\Z", suffix):
        power = int(suffix[1:])
        if abs(power) > _MOST_POWER:
            raise EvaluationError(_SUFFIX)
        amount *= Fraction(10) ** power
    else:
        raise EvaluationError(
            _SYNTAX if not _LOOSE.match(text) or not re.match(r"[eEinumkKMGTP]*[-+]?[0-9]*\Z", suffix) else _SUFFIX
        )
    return _rounded(amount)


def _rounded(amount: Fraction) -> Quantity:
    if _NANO % amount.denominator == 0:
        return Quantity(amount)
    scaled = abs(amount) * _NANO
    up = -(-scaled.numerator // scaled.denominator)
    return Quantity(Fraction(-up if amount < 0 else up, _NANO))


def _is_quantity(text: str) -> bool:
    try:
        parse(text)
    except EvaluationError:
        return False
    return True


def _is_integer(value: Quantity) -> bool:
    return value.denominator == 1 and INT_MIN <= value.numerator <= INT_MAX


def _integer(value: Quantity) -> int:
    if not _is_integer(value):
        raise EvaluationError("cannot convert value to integer")
    return value.numerator


def _add(one: Quantity, other: Fraction | int) -> Quantity:
    return Quantity(Fraction(one) + other)


def _sub(one: Quantity, other: Fraction | int) -> Quantity:
    return Quantity(Fraction(one) - other)


def _compare(one: Fraction, other: Fraction | int) -> int:
    return (one > other) - (one < other)


_LOOK, _ONE = traversal(), once()
_PAIR = (QUANTITY, QUANTITY)
LIBRARY = Library(
    "quantity",
    (
        function(
            "quantity",
            "Reads a quantity.",
            ["quantity('200M') == quantity('0.2G')"],
            plain("string_to_quantity", (STRING,), QUANTITY, parse),
            cost=_LOOK,
        ),
        function(
            "isQuantity",
            "Whether a text is a quantity.",
            ["isQuantity('1.5Gi')", "!isQuantity('1K')"],
            plain("is_quantity_string", (STRING,), BOOL, _is_quantity),
            cost=_LOOK,
        ),
        function(
            "sign",
            "-1, 0 or 1.",
            ["sign(quantity('-1k')) == -1"],
            plain("quantity_sign", (QUANTITY,), INT, lambda value: _compare(value, 0)),
            cost=_ONE,
        ),
        function(
            "isGreaterThan",
            "Whether it is more.",
            ["quantity('150Mi').isGreaterThan(quantity('100Mi'))"],
            member("quantity_is_greater_than", _PAIR, BOOL, lambda a, b: a > b),
            cost=_ONE,
        ),
        function(
            "isLessThan",
            "Whether it is less.",
            ["quantity('50M').isLessThan(quantity('50Mi'))"],
            member("quantity_is_less_than", _PAIR, BOOL, lambda a, b: a < b),
            cost=_ONE,
        ),
        function(
            "compareTo",
            "-1, 0 or 1.",
            ["quantity('200M').compareTo(quantity('0.2G')) == 0"],
            member("quantity_compare_to", _PAIR, INT, _compare),
            cost=_ONE,
        ),
        function(
            "asApproximateFloat",
            "As a double.",
            ["quantity('1.5k').asApproximateFloat() == 1500.0"],
            member("quantity_get_float", (QUANTITY,), DOUBLE, lambda value: float(Fraction(value))),
            cost=_ONE,
        ),
        function(
            "asInteger",
            "As an int; an error if it is none.",
            ["quantity('50k').asInteger() == 50000"],
            member("quantity_get_int", (QUANTITY,), INT, _integer),
            cost=_ONE,
        ),
        function(
            "isInteger",
            "Whether it is an int.",
            ["!quantity('50m').isInteger()"],
            member("quantity_is_integer", (QUANTITY,), BOOL, _is_integer),
            cost=_ONE,
        ),
        function(
            "add",
            "The sum.",
            ["quantity('50k').add(20) == quantity('50020')"],
            member("quantity_add", _PAIR, QUANTITY, _add),
            member("quantity_add_int", (QUANTITY, INT), QUANTITY, _add),
            cost=_ONE,
        ),
        function(
            "sub",
            "The difference.",
            ["quantity('50k').sub(quantity('20k')) == quantity('30k')"],
            member("quantity_sub", _PAIR, QUANTITY, _sub),
            member("quantity_sub_int", (QUANTITY, INT), QUANTITY, _sub),
            cost=_ONE,
        ),
    ),
)
