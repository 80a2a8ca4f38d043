"""Quantities such as 200M or 1.5Gi, as k8s.io/apimachinery's resource package reads and writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_SUFFIXES = {power: suffix for suffix, power in _DECIMAL.items()}
_SYNTAX = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_SUFFIX = "unable to parse quantity's suffix"
_NANO = 10**9
_LOOSE = re.compile(r"[+-]?[0-9.]++[eEinumkKMGTP]*+[-+]?[0-9]*+\Z")
_LOOSE_SUFFIX = re.compile(r"[eEinumkKMGTP]*+[-+]?[0-9]*+\Z")
_NUMBER = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)")
_EXPONENT = re.compile(r"[eE][+-]?[0-9]++\Z")
_MOST_POWER = 1000
_MOST_BYTES = 1000
_MOST_BINARY = (1 << 63) - 1


class QuantityError(ValueError):
    """A text is no quantity; the words are those of a real server."""


def parse(text: str) -> Fraction:
    """The amount. What is finer than a billionth is rounded up, away from zero. Raises QuantityError."""
    return _read(text)[0]


def units(text: str) -> int:
    """The amount in whole units: parts of one are rounded up, away from zero, and int64 bounds it.

    Raises QuantityError.
    """
    amount = parse(text)
    whole = min(-(-abs(amount).numerator // amount.denominator), _MOST_BINARY)
    return -whole if amount < 0 else whole


def canonical(text: str) -> str:
    """The quantity in its one form: no more digits than needed, the largest suffix of its kind that leaves none over.

    Raises QuantityError.
    """
    return _written(*_read(text))


def total(texts: Iterable[str]) -> str:
    """What several amounts are together, in the form of the first that is not zero. Raises QuantityError."""
    amount, suffix = Fraction(0), ""
    for text in texts:
        more, given = _read(text)
        suffix = suffix if amount else given
        amount += more
    return _written(amount, suffix)


def difference(text: str, less: str) -> str:
    """What is left of an amount, in its form. Raises QuantityError."""
    amount, suffix = _read(text)
    return _written(amount - _read(less)[0], suffix)


def _written(amount: Fraction, suffix: str) -> str:
    """An amount in the form that a suffix is of."""
    if not amount:
        return "0"
    whole = amount.denominator == 1
    if suffix in _BINARY and whole and abs(amount) >= 1024:
        return _binary(amount.numerator)
    return _decimal(amount, bool(_EXPONENT.match(suffix)))


def _read(text: str) -> tuple[Fraction, str]:
    """The amount, and the suffix that it was given with."""
    number = _NUMBER.match(text)
    if number is None or len(text) > _MOST_BYTES:
        raise QuantityError(_SYNTAX)
    suffix = text[number.end() :]
    amount = Fraction(number[0].rstrip("."))
    if suffix in _BINARY:
        amount *= 1 << _BINARY[suffix]
        if abs(amount) > _MOST_BINARY:
            amount = Fraction(_MOST_BINARY if amount > 0 else -_MOST_BINARY)
    elif suffix in _DECIMAL:
        amount *= Fraction(10) ** _DECIMAL[suffix]
    elif _EXPONENT.match(suffix):
        power = int(suffix[1:])
        if abs(power) > _MOST_POWER:
            raise QuantityError(_SUFFIX)
        amount *= Fraction(10) ** power
    else:
        raise QuantityError(_SUFFIX if _LOOSE.match(text) and _LOOSE_SUFFIX.match(suffix) else _SYNTAX)
    return _rounded(Fraction(amount)), suffix


def _rounded(amount: Fraction) -> Fraction:
    if _NANO % amount.denominator == 0:
        return amount
    scaled = abs(amount) * _NANO
    up = -(-scaled.numerator // scaled.denominator)
    return Fraction(-up if amount < 0 else up, _NANO)


def _binary(amount: int) -> str:
    power = 0
    while amount % 1024 == 0 and power < 60:
        amount, power = amount // 1024, power + 10
    suffix = next((name for name, bits in _BINARY.items() if bits == power), "")
    return f"{amount}{suffix}"


def _decimal(amount: Fraction, exponent: bool) -> str:
    """With a suffix, or with a power of ten where it was given so or no suffix is large enough."""
    power = -9
    digits = (amount * _NANO).numerator
    while digits % 1000 == 0:
        digits, power = digits // 1000, power + 3
    if not exponent and power in _SUFFIXES:
        return f"{digits}{_SUFFIXES[power]}"
    return f"{digits}e{power}" if power else str(digits)


_FINE = ("n", "u")


def rounded(amounts: dict[str, str] | None) -> None:
    """Round what is finer than a thousandth up, in place. Source: SetDefaults_ResourceList of Kubernetes' core/v1."""
    if not amounts:
        return
    for name, text in amounts.items():
        if text.endswith(_FINE) or "e-" in text:
            amount = parse(text) * 1000
            up = -(-abs(amount).numerator // amount.denominator)
            amounts[name] = canonical(f"{-up if amount < 0 else up}m")
