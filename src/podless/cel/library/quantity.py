"""Quantities such as 200M or 1.5Gi, as apimachinery's resource package parses them (Kubernetes)."""

from __future__ import annotations

import operator
import re
import sys

from podless.cel import values
from podless.cel.cost import UNIT, traversal_cost
from podless.cel.errors import EvaluationError, NoOverload
from podless.cel.functions import Library, declare, parse_type, succeeds
from podless.cel.values import INT_MAX, INT_MIN
from podless.codec import quantity
from podless.runtime.lazy import compile_late

QUANTITY = parse_type("Quantity")
_QUANTITY = compile_late(r"[+-]?0*([0-9]*)\.?([0-9]*)(.*)", re.DOTALL)
_DIGITS = 18  # decimal digits that fit 64 bits
_BINARY_DIGITS = 15
_NANO = -9


class QuantityValue:
    """A quantity: mantissa times ten to the power.

    small: it fits 64 bits, which decides whether it is an integer. sum: it is the result of an addition, which
    kube-apiserver does not accept on the right of ==.
    """

    __slots__ = ("mantissa", "power", "small", "sum")

    def __init__(self, mantissa: int, power: int, small: bool, sum: bool = False) -> None:
        self.mantissa = mantissa
        self.power = power
        self.small = small
        self.sum = sum

    def scale_mantissa(self, power: int) -> int:
        """Return the mantissa for a lower power."""
        return self.mantissa * int(10 ** (self.power - power))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, QuantityValue):
            return False
        if other.sum:
            raise NoOverload
        return compare_quantities(self, other) == 0

    def __lt__(self, other: QuantityValue) -> bool:
        return compare_quantities(self, other) < 0

    def __hash__(self) -> int:
        # as for Python's own numbers: equal ones of different powers have the same remainder
        return hash(self.mantissa * pow(10, self.power, sys.hash_info.modulus))

    def __repr__(self) -> str:
        return f"Quantity({self.mantissa}e{self.power})"


values.NAMES[QuantityValue] = "kubernetes.Quantity"


def parse_quantity(text: str) -> QuantityValue:
    """Parse a quantity. Fractions below a billionth are rounded up. Raises EvaluationError."""
    try:
        amount = quantity.parse_nanos(text)
    except quantity.QuantityError as error:
        raise EvaluationError(str(error)) from None
    match = _QUANTITY.match(text)
    assert match is not None
    number, fraction, suffix = match[1] or "0", match[2], match[3]
    factor, power = 1, 0
    if suffix in quantity.BINARY:
        bits = quantity.BINARY[suffix]
        factor = 1 << bits
        digits_left = -1 if fraction else _BINARY_DIGITS - len(number) - bits * 3 // 10 - 1
    else:
        power = quantity.DECIMAL[suffix] if suffix in quantity.DECIMAL else int(suffix[1:])
        digits_left = _DIGITS - len(number) - len(fraction)
    power -= len(fraction)
    if digits_left >= 0 and power >= _NANO:
        mantissa = int(number + fraction) * factor
        if mantissa <= INT_MAX:
            return QuantityValue(-mantissa if text[0] == "-" else mantissa, power, True)
    return QuantityValue(amount, _NANO, False)


def _is_integer(value: QuantityValue) -> bool:
    return value.small and value.power >= 0 and INT_MIN <= value.scale_mantissa(0) <= INT_MAX


def _convert_to_int(value: QuantityValue) -> int:
    if not _is_integer(value):
        raise EvaluationError("cannot convert value to integer")
    return value.scale_mantissa(0)


def _convert_to_double(value: QuantityValue) -> float:
    """Return mantissa times power as a float, both rounded first, the power as by Go's math.Pow10."""
    try:
        base = float(value.mantissa)
    except OverflowError:
        base = float("inf") if value.mantissa > 0 else float("-inf")
    if not value.power:
        return base
    high, low = divmod(abs(value.power), 32)
    high_power, low_power = float(f"1e{high * 32}"), float(f"1e{low}")
    return base * (high_power * low_power) if value.power > 0 else base * (float(f"1e-{high * 32}") / low_power)


def _add_quantities(left: QuantityValue, right: QuantityValue | int) -> QuantityValue:
    return _sum_quantities(left, right if isinstance(right, QuantityValue) else QuantityValue(right, 0, True), 1)


def _subtract_quantities(left: QuantityValue, right: QuantityValue | int) -> QuantityValue:
    return _sum_quantities(left, right if isinstance(right, QuantityValue) else QuantityValue(right, 0, True), -1)


def _sum_quantities(left: QuantityValue, right: QuantityValue, sign: int) -> QuantityValue:
    small = left.small and right.small
    if small and not right.mantissa:
        return QuantityValue(left.mantissa, left.power, True, True)
    if small and not left.mantissa:
        return QuantityValue(sign * right.mantissa, right.power, True, True)
    power = min(left.power, right.power)
    left_mantissa, right_mantissa = left.scale_mantissa(power), right.scale_mantissa(power) * sign
    total = left_mantissa + right_mantissa
    small = small and all(INT_MIN <= mantissa <= INT_MAX for mantissa in (left_mantissa, right_mantissa, total))
    return QuantityValue(total, power, small, True)


def compare_quantities(left: QuantityValue, right: QuantityValue) -> int:
    """Return -1, 0 or 1 if `left` is less than, equal to or greater than `right`."""
    power = min(left.power, right.power)
    left_mantissa, right_mantissa = left.scale_mantissa(power), right.scale_mantissa(power)
    return (left_mantissa > right_mantissa) - (left_mantissa < right_mantissa)


_TRAVERSAL = traversal_cost()
LIBRARY = Library(
    "quantity",
    (
        declare("quantity(string) -> Quantity", "string_to_quantity", parse_quantity, _TRAVERSAL),
        declare("isQuantity(string) -> bool", "is_quantity_string", succeeds(parse_quantity), _TRAVERSAL),
        declare("sign(Quantity) -> int", "quantity_sign", lambda a: (a.mantissa > 0) - (a.mantissa < 0), UNIT),
        declare("<Quantity>.isGreaterThan(Quantity) -> bool", "quantity_is_greater_than", operator.gt, UNIT),
        declare("<Quantity>.isLessThan(Quantity) -> bool", "quantity_is_less_than", operator.lt, UNIT),
        declare("<Quantity>.compareTo(Quantity) -> int", "quantity_compare_to", compare_quantities, UNIT),
        declare("<Quantity>.asApproximateFloat() -> double", "quantity_get_float", _convert_to_double, UNIT),
        declare("<Quantity>.asInteger() -> int", "quantity_get_int", _convert_to_int, UNIT),
        declare("<Quantity>.isInteger() -> bool", "quantity_is_integer", _is_integer, UNIT),
        declare("<Quantity>.add(Quantity) -> Quantity", "quantity_add", _add_quantities, UNIT),
        declare("<Quantity>.add(int) -> Quantity", "quantity_add_int", _add_quantities, UNIT),
        declare("<Quantity>.sub(Quantity) -> Quantity", "quantity_sub", _subtract_quantities, UNIT),
        declare("<Quantity>.sub(int) -> Quantity", "quantity_sub_int", _subtract_quantities, UNIT),
    ),
)
