"""Quantities such as 200M or 1.5Gi, as k8s.io/apimachinery's resource package parses and formats them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from podless.codec.gotext import MAX_INT64, MAX_UINT64, MIN_INT64
from podless.runtime.meter import each

# suffix: power of ten, or of two
DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_SUFFIXES = {power: suffix for suffix, power in DECIMAL.items()}
_SYNTAX = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_SUFFIX = "unable to parse quantity's suffix"
_NUMERIC = "unable to parse numeric part of quantity"
_MAX_DIGITS = 18
_MAX_DECIMALS = 9  # the maximum number of decimals of an amount
NANO = 1_000_000_000
# sign, zeros, digits, a point, digits and a suffix; all are optional
_FORM = re.compile(r"([+-]?+)(0*+)([0-9]*+)(?:\.([0-9]*+))?+([eEinumkKMGTP]*+[+-]?+[0-9]*+)")
_EXPONENT = re.compile(r"[eE][+-]?[0-9]++\Z")
_MAX_POWER = 1000
_MAX_BYTES = 1000
_MILLI = NANO // 1000
_FAST_POWERS = (0, 1, 2, 3, 6, 9)  # the powers of ten by which apimachinery multiplies in one step


class QuantityError(ValueError):
    """A text is not a quantity. The message is kube-apiserver's."""


def parse_amount(text: str) -> tuple[int, str]:
    """Return the amount in billionths, rounded up, away from zero, and its suffix. Raises QuantityError."""
    return _compute_amount(*_split_text(text))


def parse_nanos(text: str) -> int:
    """Return the amount in billionths, rounded up, away from zero. Raises QuantityError."""
    return parse_amount(text)[0]


def parse_units(text: str) -> int:
    """Return the amount in whole units, rounded up away from zero and limited to int64. Raises QuantityError."""
    amount = parse_nanos(text)
    units = min(-(-abs(amount) // NANO), MAX_INT64)
    return -units if amount < 0 else units


def is_whole(text: str) -> bool:
    """Return whether kube-apiserver takes an amount as a number of whole units. Raises QuantityError.

    It counts thousandths in 64 bits, so that 10Pi is not whole: a count that is too large wraps around. It becomes 0
    where apimachinery has an integer, and multiplies it by ten repeatedly.
    """
    _, _, integer, decimals, suffix = pieces = _split_text(text)
    amount, _ = _compute_amount(*pieces)
    thousandths = -(-abs(amount) // _MILLI)
    if thousandths > MAX_INT64:
        if suffix not in BINARY and _becomes_zero(integer, decimals, _find_power(suffix)):
            return True
        thousandths = (thousandths - MIN_INT64) % (MAX_UINT64 + 1) + MIN_INT64
    return thousandths % 1000 == 0


def canonicalize_quantity(text: str) -> str:
    """Return the canonical form of a quantity: as few digits as possible, and the largest suffix without a fraction.

    A text that is almost canonical is unchanged, such as +1 and 1. Raises QuantityError.
    """
    pieces = _split_text(text)
    amount = _compute_amount(*pieces)
    return text if _is_kept(*pieces) else format_quantity(*amount)


def add_quantities(texts: Sequence[str]) -> str:
    """Return the sum of amounts, with the kind of suffix of the first one that is not zero. Raises QuantityError."""
    amount, suffix = 0, ""
    for text in each(texts):
        addend, own_suffix = parse_amount(text)
        suffix = suffix if amount else own_suffix
        amount += addend
    return format_quantity(amount, suffix)


def subtract_quantity(text: str, subtrahend: str) -> str:
    """Return the difference of two amounts, with the kind of suffix of the first. Raises QuantityError."""
    amount, suffix = parse_amount(text)
    return format_quantity(amount - parse_nanos(subtrahend), suffix)


def format_quantity(amount: int, suffix: str) -> str:
    """Return an amount in billionths as a quantity, with a suffix of the same kind as `suffix`."""
    if not amount:
        return "0"
    if suffix in BINARY:
        units, remainder = divmod(amount, NANO)
        if not remainder and abs(units) >= 1024:
            return _format_binary(units)
    return _format_decimal(amount, bool(_EXPONENT.match(suffix)))


def _split_text(text: str) -> tuple[str, ...]:
    """Return sign, zeros, digits, digits after the point, and suffix."""
    match = _FORM.fullmatch(text)
    if match is None or not text or len(text) > _MAX_BYTES:
        raise QuantityError(_SYNTAX)
    return match.groups("")


def _compute_amount(sign: str, zeros: str, integer: str, decimals: str, suffix: str) -> tuple[int, str]:
    if suffix in BINARY:
        digits = _read_digits(zeros, integer, decimals, slow=not _fits_int64(integer, decimals, suffix))
        amount = min(_scale_digits(digits << BINARY[suffix], _MAX_DECIMALS - len(decimals)), MAX_INT64 * NANO)
    else:
        power = _find_power(suffix)
        slow = not _is_integer(integer, decimals, power)
        amount = _scale_digits(_read_digits(zeros, integer, decimals, slow=slow), power + _MAX_DECIMALS - len(decimals))
    return -amount if sign == "-" else amount, suffix


def _scale_digits(digits: int, power: int) -> int:
    """Return digits times a power of ten, rounded up."""
    factor: int = 10 ** abs(power)
    return digits * factor if power >= 0 else -(-digits // factor)


def _find_power(suffix: str) -> int:
    if suffix in DECIMAL:
        return DECIMAL[suffix]
    if not _EXPONENT.match(suffix) or abs(int(suffix[1:])) > _MAX_POWER:
        raise QuantityError(_SUFFIX)
    return int(suffix[1:])


def _is_integer(integer: str, decimals: str, power: int) -> bool:
    """Return whether apimachinery has a decimal amount as a 64-bit integer with a power of ten."""
    return len(integer or "0") + len(decimals) <= _MAX_DIGITS and power - len(decimals) >= -_MAX_DECIMALS


def _becomes_zero(integer: str, decimals: str, power: int) -> bool:
    """Return whether too many thousandths of a decimal amount become 0."""
    return power - len(decimals) + 3 not in _FAST_POWERS and _is_integer(integer, decimals, power)


def _fits_int64(integer: str, decimals: str, suffix: str) -> bool:
    """Return whether apimachinery computes a binary amount in one 64-bit step."""
    bits = BINARY[suffix]
    return not decimals and len(integer or "0") <= 14 - bits * 3 // 10 and int(integer or 0) << bits <= MAX_INT64


def _read_digits(zeros: str, integer: str, decimals: str, *, slow: bool) -> int:
    """Return the digits before a suffix as a number.

    Without digits it is 0, except in apimachinery's slow path, which rejects the text.
    """
    if slow and not (zeros or integer or decimals):
        raise QuantityError(_NUMERIC)
    return int(integer + decimals or 0)


def _is_kept(_sign: str, _zeros: str, integer: str, decimals: str, suffix: str) -> bool:
    """Return whether apimachinery formats a valid quantity as written, because it is close enough to canonical."""
    if suffix in BINARY:
        return _fits_int64(integer, decimals, suffix) and int(integer or 0) & 7 != 0
    digits, power = (integer or "0") + decimals, _find_power(suffix)
    if not _is_integer(integer, decimals, power):
        return False
    scale = power - len(decimals)
    return scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"


def _format_binary(amount: int) -> str:
    power = 0
    while amount % 1024 == 0 and power < 60:
        amount, power = amount // 1024, power + 10
    suffix = next((name for name, bits in BINARY.items() if bits == power), "")
    return f"{amount}{suffix}"


def _format_decimal(amount: int, exponent: bool) -> str:
    """Return billionths with a suffix, or with a power of ten if `exponent` is set or no suffix is large enough."""
    power = -_MAX_DECIMALS
    while amount % 1000 == 0 and power + 3 <= _MAX_POWER:  # a larger power could not be read again
        amount, power = amount // 1000, power + 3
    if not exponent and power in _SUFFIXES:
        return f"{amount}{_SUFFIXES[power]}"
    return f"{amount}e{power}" if power else str(amount)


_FINE = ("n", "u")


def round_quantities(amounts: dict[str, str] | None) -> None:
    """Round amounts up to thousandths, in place. Source: SetDefaults_ResourceList of Kubernetes' core/v1."""
    if not amounts:
        return
    for name, text in each(amounts).items():
        if text.endswith(_FINE) or "e-" in text or "E-" in text:
            amount = parse_nanos(text)
            if amount % _MILLI == 0 and not text.endswith(_FINE):
                continue
            rounded = -(-abs(amount) // _MILLI)
            unit = "m" if text.endswith(_FINE) else "e-3"
            amounts[name] = canonicalize_quantity(f"{-rounded if amount < 0 else rounded}{unit}")
