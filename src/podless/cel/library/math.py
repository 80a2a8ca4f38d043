"""CEL's math extension. Rules of definitions do not have it."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from itertools import islice
from typing import Any

from podless.cel import arithmetic, values
from podless.cel.bounds import charge_each
from podless.cel.errors import EvaluationError
from podless.cel.functions import Library, Overload, declare, declare_each
from podless.cel.values import UINT_MAX, Uint


def _make_pick(sign: int) -> Callable[..., Any]:
    def pick_extreme(*args: Any) -> Any:
        items = args[0] if len(args) == 1 and isinstance(args[0], list) else args
        if not items:
            raise EvaluationError(f"math.@{'max' if sign > 0 else 'min'}(list) argument must not be empty")
        result = items[0]
        for item in islice(charge_each(items), 1, None):
            if values.compare_values(item, result) == sign:
                result = item
        return result

    return pick_extreme


def _declare_extreme(name: str, sign: int) -> tuple[Overload, ...]:
    pick, numbers = _make_pick(sign), _NUMBERS.split()
    function, id = f"math.{name}", f"math_{name}"
    pairs = [(one, two, one if one == two else "dyn") for one in numbers for two in numbers]
    return (
        *declare_each(_NUMBERS, function + "({0}) -> {0}", id + "_{0}", pick),
        *(declare(f"{function}({one}, {two}) -> {result}", f"{id}_{one}_{two}", pick) for one, two, result in pairs),
        *declare_each(_NUMBERS, function + "(list({0})) -> {0}", id + "_list_{0}", pick),
        *(declare(f"{function}({', '.join(['dyn'] * count)}) -> dyn", f"{id}_{count}", pick) for count in range(3, 10)),
    )


def _take_abs(value: Any) -> Any:
    return (
        value if value.__class__ is Uint else arithmetic.check_int(abs(value)) if value.__class__ is int else abs(value)
    )


def _take_sign(value: Any) -> Any:
    if value != value:
        return value
    return value.__class__((value > 0) - (value < 0))


def _make_rounding(rounding: Callable[[float], float]) -> Callable[[float], float]:
    return lambda value: float(rounding(value)) if math.isfinite(value) else value


def _round_half_away(value: float) -> float:
    floor = math.floor(abs(value))
    return math.copysign(floor + (abs(value) - floor >= 0.5), value)


def _make_shift(to_left: bool) -> Callable[[int, int], int]:
    def shift_bits(value: int, count: int) -> int:
        if count < 0:
            raise EvaluationError(f"math.bitShift{'Left' if to_left else 'Right'}() negative offset: {count}")
        if count > 63:
            return value.__class__(0)
        bits = (int(value) & UINT_MAX) << count & UINT_MAX if to_left else (int(value) & UINT_MAX) >> count
        return Uint(bits) if value.__class__ is Uint else _convert_signed(bits)

    return shift_bits


def _convert_signed(bits: int) -> int:
    return bits - (1 << 64) if bits >> 63 else bits


def _make_bit_operation(operation: Callable[[int, int], int]) -> Callable[[int, int], int]:
    return lambda one, other: one.__class__(operation(int(one), int(other)))


def _invert_bits(value: int) -> int:
    return Uint(~int(value) & UINT_MAX) if value.__class__ is Uint else ~value


def _take_root(value: float) -> float:
    return math.sqrt(value) if value >= 0 else math.nan


_NUMBERS, _INTS = "int uint double", "int uint"
LIBRARY = Library(
    "math",
    (
        *_declare_extreme("greatest", 1),
        *_declare_extreme("least", -1),
        declare("math.ceil(double) -> double", "math_ceil_double", _make_rounding(math.ceil)),
        declare("math.floor(double) -> double", "math_floor_double", _make_rounding(math.floor)),
        declare("math.round(double) -> double", "math_round_double", _make_rounding(_round_half_away)),
        declare("math.trunc(double) -> double", "math_trunc_double", _make_rounding(math.trunc)),
        declare("math.isInf(double) -> bool", "math_isInf_double", math.isinf),
        declare("math.isNaN(double) -> bool", "math_isNaN_double", math.isnan),
        declare("math.isFinite(double) -> bool", "math_isFinite_double", math.isfinite),
        *declare_each(_NUMBERS, "math.abs({0}) -> {0}", "math_abs_{0}", _take_abs),
        *declare_each(_NUMBERS, "math.sign({0}) -> {0}", "math_sign_{0}", _take_sign),
        *declare_each(_NUMBERS, "math.sqrt({0}) -> double", "math_sqrt_{0}", _take_root),
        *declare_each(_INTS, "math.bitAnd({0}, {0}) -> {0}", "math_bitAnd_{0}", _make_bit_operation(operator.and_)),
        *declare_each(_INTS, "math.bitOr({0}, {0}) -> {0}", "math_bitOr_{0}", _make_bit_operation(operator.or_)),
        *declare_each(_INTS, "math.bitXor({0}, {0}) -> {0}", "math_bitXor_{0}", _make_bit_operation(operator.xor)),
        *declare_each(_INTS, "math.bitNot({0}) -> {0}", "math_bitNot_{0}", _invert_bits),
        *declare_each(_INTS, "math.bitShiftLeft({0}, int) -> {0}", "math_bitShiftLeft_{0}_int", _make_shift(True)),
        *declare_each(_INTS, "math.bitShiftRight({0}, int) -> {0}", "math_bitShiftRight_{0}_int", _make_shift(False)),
    ),
)
