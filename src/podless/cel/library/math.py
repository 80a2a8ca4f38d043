"""CEL's math extension. Rules of definitions do not have it."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import islice
from typing import Any

from podless.cel import arithmetic, compare
from podless.cel.bounds import charge_each
from podless.cel.decls import Function, Library, Overload, declare_function, overload
from podless.cel.errors import EvaluationError
from podless.cel.types import BOOL, DOUBLE, DYN, INT, UINT, Type, list_of
from podless.cel.values import UINT_MAX, Uint

_NUMBERS = (INT, UINT, DOUBLE)


def _make_pick(sign: int) -> Callable[..., Any]:
    def pick_extreme(*args: Any) -> Any:
        items = args[0] if len(args) == 1 and isinstance(args[0], list) else args
        if not items:
            raise EvaluationError(f"math.@{'max' if sign > 0 else 'min'}(list) argument must not be empty")
        result = items[0]
        for item in islice(charge_each(items), 1, None):
            if compare.compare_values(item, result) == sign:
                result = item
        return result

    return pick_extreme


def _declare_extreme(name: str, sign: int) -> Function:
    pick = _make_pick(sign)
    forms = [overload(f"math_{name}_{kind.name}", (kind,), kind, pick) for kind in _NUMBERS]
    forms += [
        overload(f"math_{name}_{number.name}_{two.name}", (number, two), number if number == two else DYN, pick)
        for number in _NUMBERS
        for two in _NUMBERS
    ]
    forms += [overload(f"math_{name}_list_{kind.name}", (list_of(kind),), kind, pick) for kind in _NUMBERS]
    forms += [overload(f"math_{name}_{count}", (DYN,) * count, DYN, pick) for count in range(3, 10)]
    return declare_function(f"math.{name}", *forms)


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


def _declare_overloads(
    name: str, kinds: tuple[Type, ...], call: Callable[..., Any], result: Type | None = None, count: int = 1
) -> list[Overload]:
    return [overload(f"math_{name}_{kind.name}", (kind,) * count, result or kind, call) for kind in kinds]


def _declare_shifts(name: str, to_left: bool) -> list[Overload]:
    return [overload(f"math_{name}_{kind.name}_int", (kind, INT), kind, _make_shift(to_left)) for kind in (INT, UINT)]


_INTS = (INT, UINT)
LIBRARY = Library(
    "math",
    (
        _declare_extreme("greatest", 1),
        _declare_extreme("least", -1),
        declare_function("math.ceil", *_declare_overloads("ceil", (DOUBLE,), _make_rounding(math.ceil))),
        declare_function("math.floor", *_declare_overloads("floor", (DOUBLE,), _make_rounding(math.floor))),
        declare_function("math.round", *_declare_overloads("round", (DOUBLE,), _make_rounding(_round_half_away))),
        declare_function("math.trunc", *_declare_overloads("trunc", (DOUBLE,), _make_rounding(math.trunc))),
        declare_function("math.isInf", *_declare_overloads("isInf", (DOUBLE,), math.isinf, BOOL)),
        declare_function("math.isNaN", *_declare_overloads("isNaN", (DOUBLE,), math.isnan, BOOL)),
        declare_function("math.isFinite", *_declare_overloads("isFinite", (DOUBLE,), math.isfinite, BOOL)),
        declare_function("math.abs", *_declare_overloads("abs", _NUMBERS, _take_abs)),
        declare_function("math.sign", *_declare_overloads("sign", _NUMBERS, _take_sign)),
        declare_function("math.sqrt", *_declare_overloads("sqrt", _NUMBERS, _take_root, DOUBLE)),
        declare_function(
            "math.bitAnd", *_declare_overloads("bitAnd", _INTS, _make_bit_operation(lambda a, b: a & b), None, 2)
        ),
        declare_function(
            "math.bitOr", *_declare_overloads("bitOr", _INTS, _make_bit_operation(lambda a, b: a | b), None, 2)
        ),
        declare_function(
            "math.bitXor", *_declare_overloads("bitXor", _INTS, _make_bit_operation(lambda a, b: a ^ b), None, 2)
        ),
        declare_function("math.bitNot", *_declare_overloads("bitNot", _INTS, _invert_bits)),
        declare_function("math.bitShiftLeft", *_declare_shifts("bitShiftLeft", True)),
        declare_function("math.bitShiftRight", *_declare_shifts("bitShiftRight", False)),
    ),
)
