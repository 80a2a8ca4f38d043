"""CEL's math extension. Rules of definitions do not have it."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import islice
from typing import Any

from podless.cel import arithmetic, compare
from podless.cel.bounds import charge_each
from podless.cel.decls import Function, Library, Overload, declare_function, plain
from podless.cel.errors import EvaluationError
from podless.cel.types import BOOL, DOUBLE, DYN, INT, UINT, Type, list_of
from podless.cel.values import UINT_MAX, Uint

_NUMBERS = (INT, UINT, DOUBLE)


def _pick(sign: int) -> Callable[..., Any]:
    def pick(*given: Any) -> Any:
        items = given[0] if len(given) == 1 and isinstance(given[0], list) else given
        if not items:
            raise EvaluationError(f"math.@{'max' if sign > 0 else 'min'}(list) argument must not be empty")
        found = items[0]
        for item in islice(charge_each(items), 1, None):
            if compare.compare(item, found) == sign:
                found = item
        return found

    return pick


def _extreme(name: str, sign: int) -> Function:
    pick = _pick(sign)
    forms = [plain(f"math_{name}_{kind.name}", (kind,), kind, pick) for kind in _NUMBERS]
    forms += [
        plain(f"math_{name}_{number.name}_{two.name}", (number, two), number if number == two else DYN, pick)
        for number in _NUMBERS
        for two in _NUMBERS
    ]
    forms += [plain(f"math_{name}_list_{kind.name}", (list_of(kind),), kind, pick) for kind in _NUMBERS]
    forms += [plain(f"math_{name}_{count}", (DYN,) * count, DYN, pick) for count in range(3, 10)]
    return declare_function(f"math.{name}", *forms)


def _abs(value: Any) -> Any:
    return value if value.__class__ is Uint else arithmetic.whole(abs(value)) if value.__class__ is int else abs(value)


def _sign(value: Any) -> Any:
    if value != value:
        return value
    return value.__class__((value > 0) - (value < 0))


def _whole(rounding: Callable[[float], float]) -> Callable[[float], float]:
    return lambda value: float(rounding(value)) if math.isfinite(value) else value


def _round(value: float) -> float:
    floor = math.floor(abs(value))
    return math.copysign(floor + (abs(value) - floor >= 0.5), value)


def _shift(left: bool) -> Callable[[int, int], int]:
    def shift(value: int, count: int) -> int:
        if count < 0:
            raise EvaluationError(f"math.bitShift{'Left' if left else 'Right'}() negative offset: {count}")
        if count > 63:
            return value.__class__(0)
        bits = (int(value) & UINT_MAX) << count & UINT_MAX if left else (int(value) & UINT_MAX) >> count
        return Uint(bits) if value.__class__ is Uint else _signed(bits)

    return shift


def _signed(bits: int) -> int:
    return bits - (1 << 64) if bits >> 63 else bits


def _bits(operation: Callable[[int, int], int]) -> Callable[[int, int], int]:
    return lambda one, other: one.__class__(operation(int(one), int(other)))


def _not(value: int) -> int:
    return Uint(~int(value) & UINT_MAX) if value.__class__ is Uint else ~value


def _sqrt(value: float) -> float:
    return math.sqrt(value) if value >= 0 else math.nan


def _forms(
    name: str, kinds: tuple[Type, ...], call: Callable[..., Any], result: Type | None = None, count: int = 1
) -> list[Overload]:
    return [plain(f"math_{name}_{kind.name}", (kind,) * count, result or kind, call) for kind in kinds]


def _shifts(name: str, left: bool) -> list[Overload]:
    return [plain(f"math_{name}_{kind.name}_int", (kind, INT), kind, _shift(left)) for kind in (INT, UINT)]


_INTS = (INT, UINT)
LIBRARY = Library(
    "math",
    (
        _extreme("greatest", 1),
        _extreme("least", -1),
        declare_function("math.ceil", *_forms("ceil", (DOUBLE,), _whole(math.ceil))),
        declare_function("math.floor", *_forms("floor", (DOUBLE,), _whole(math.floor))),
        declare_function("math.round", *_forms("round", (DOUBLE,), _whole(_round))),
        declare_function("math.trunc", *_forms("trunc", (DOUBLE,), _whole(math.trunc))),
        declare_function("math.isInf", *_forms("isInf", (DOUBLE,), math.isinf, BOOL)),
        declare_function("math.isNaN", *_forms("isNaN", (DOUBLE,), math.isnan, BOOL)),
        declare_function("math.isFinite", *_forms("isFinite", (DOUBLE,), math.isfinite, BOOL)),
        declare_function("math.abs", *_forms("abs", _NUMBERS, _abs)),
        declare_function("math.sign", *_forms("sign", _NUMBERS, _sign)),
        declare_function("math.sqrt", *_forms("sqrt", _NUMBERS, _sqrt, DOUBLE)),
        declare_function("math.bitAnd", *_forms("bitAnd", _INTS, _bits(lambda a, b: a & b), None, 2)),
        declare_function("math.bitOr", *_forms("bitOr", _INTS, _bits(lambda a, b: a | b), None, 2)),
        declare_function("math.bitXor", *_forms("bitXor", _INTS, _bits(lambda a, b: a ^ b), None, 2)),
        declare_function("math.bitNot", *_forms("bitNot", _INTS, _not)),
        declare_function("math.bitShiftLeft", *_shifts("bitShiftLeft", True)),
        declare_function("math.bitShiftRight", *_shifts("bitShiftRight", False)),
    ),
)
