"""Numbers as Go's validators see them.

JSON integers within int64 are Python ints, all other numbers floats. A bound in a schema is a float64; an integer value
is compared with the bound's integer part, as in kube-openapi.
"""

from __future__ import annotations

import math

from podless.codec import gotext

_MAX_SAFE = float(2**53 - 1)
_EPSILON = 1e-9
_MAX32 = 3.4028235677973366e38  # float32 overflows from here on when rounding to nearest


def is_integral(value: float) -> bool:
    """Return whether a float64 counts as a JSON integer: within 53 bits, and whole within a relative error of 1e-9."""
    if value != value or not -_MAX_SAFE <= value <= _MAX_SAFE:
        return False
    nearest = math.trunc(value)
    if abs(value - nearest) >= 0.5:  # round half away from zero
        nearest += 1 if value > 0 else -1
    if value == nearest:
        return True
    return nearest != 0 and abs(value - nearest) < _EPSILON * abs(nearest)


def in_range(value: float, kind: str, form: str) -> bool:
    """Return whether a number fits the type and format: int64 or int32 for integers, float32 for floats."""
    if kind == "integer":
        if isinstance(value, float):
            if not value.is_integer():
                return False
            value = int(gotext.shortest_decimal(value))  # Go's check parses the shortest decimal form of the float
        bits = 31 if form == "int32" else 63
        return -(1 << bits) <= value < 1 << bits
    return form != "float" or abs(value) < _MAX32


def narrow_integer(value: float) -> float:
    """Return a number as Go holds it: integers beyond int64 become float64."""
    if value.__class__ is int and not gotext.MIN_INT64 <= value <= gotext.MAX_INT64:
        return float(value) if abs(value) < 1 << 1023 else math.copysign(math.inf, value)
    return value


def truncate_float(value: float) -> int:
    """Return int64(x) as Go computes it on amd64: -2**63 if it is out of range."""
    if value != value or value >= 2.0**63 or value < -(2.0**63):
        return -(2**63)
    return int(value)


def is_multiple(value: float, factor: float) -> bool:
    """Return whether a float is a multiple of a positive factor."""
    quotient = 1 / factor * value if factor < 1 else value / factor
    return is_integral(quotient)


def format_number(value: float) -> str:
    """Return a number as fmt's %v prints it."""
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        return "NaN" if value != value else "+Inf" if value > 0 else "-Inf"
    return gotext.format_float(value)
