"""Quantities such as 200M or 1.5Gi, as apimachinery's resource package reads them (Kubernetes)."""

from __future__ import annotations

from fractions import Fraction

from podless.cel import values
from podless.cel.decls import Library, function, member, plain
from podless.cel.errors import EvaluationError
from podless.cel.sizes import once, traversal
from podless.cel.types import BOOL, DOUBLE, INT, STRING, struct
from podless.cel.values import INT_MAX, INT_MIN
from podless.meta import quantity

QUANTITY = struct("kubernetes.Quantity")


class Quantity(Fraction):
    """An amount; exact."""

    __slots__ = ()


values.NAMES[Quantity] = "kubernetes.Quantity"


def parse(text: str) -> Quantity:
    """Read a quantity. What is finer than a billionth is rounded up. Raises EvaluationError."""
    try:
        return Quantity(quantity.parse(text))
    except quantity.QuantityError as error:
        raise EvaluationError(str(error)) from None


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
