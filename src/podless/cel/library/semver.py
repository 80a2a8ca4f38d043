"""Semantic versions, as blang/semver parses them (Kubernetes)."""

from __future__ import annotations

from dataclasses import dataclass

from podless.cel import values
from podless.cel.bounds import charge_each
from podless.cel.decls import Library, declare_function, member, plain
from podless.cel.errors import EvaluationError
from podless.cel.sizes import once, traversal
from podless.cel.types import BOOL, INT, STRING, struct
from podless.codec import gotext

SEMVER = struct("kubernetes.Semver")
_DIGITS = frozenset("0123456789")
_IDENTIFIER = _DIGITS | frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-")


@dataclass(frozen=True, slots=True)
class Semver:
    """A version. before: the parts of the pre-release. build: only == compares it."""

    numbers: tuple[int, int, int]
    before: tuple[str, ...] = ()
    build: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Semver) and compare_versions(self, other) == 0

    def __hash__(self) -> int:
        return hash((self.numbers, self.before))


values.NAMES[Semver] = "kubernetes.Semver"


def compare_versions(one: Semver, other: Semver) -> int:
    """Return -1, 0 or 1. Build metadata is ignored."""
    if one.numbers != other.numbers:
        return 1 if one.numbers > other.numbers else -1
    if not one.before or not other.before:
        return bool(other.before) - bool(one.before)
    for mine, its in zip(one.before, other.before, strict=False):
        if mine == its:
            continue
        numeric = mine.isdigit(), its.isdigit()
        if numeric == (True, True):
            return 1 if int(mine) > int(its) else -1
        if numeric[0] != numeric[1]:
            return -1 if numeric[0] else 1
        return 1 if mine > its else -1
    return (len(one.before) > len(other.before)) - (len(one.before) < len(other.before))


def _number(text: str, name: str) -> int:
    if not text or any(char not in _DIGITS for char in charge_each(text)):
        if not text:
            raise EvaluationError('strconv.ParseUint: parsing "": invalid syntax')
        raise EvaluationError(f"Invalid character(s) found in {name} number {gotext.quote(text)}")
    if len(text) > 1 and text[0] == "0":
        raise EvaluationError(f"{name.capitalize()} number must not contain leading zeroes {gotext.quote(text)}")
    return _unsigned(text)


def _unsigned(text: str) -> int:
    if len(text) > 20 or int(text) >= 1 << 64:
        raise EvaluationError(f"strconv.ParseUint: parsing {gotext.quote(text)}: value out of range")
    return int(text)


def _signed(number: int) -> int:
    """Return a 64-bit number as a signed integer, with wrap-around."""
    return number - (1 << 64) if number > values.INT_MAX else number


def parse_semver(text: str, normalize: bool = False) -> Semver:
    """Parse a version. normalize: accept a leading v, missing numbers and leading zeros. Raises EvaluationError."""
    text = _normal(text) if normalize else text
    if not text:
        raise EvaluationError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise EvaluationError("No Major.Minor.Patch elements found")
    major, minor = _number(parts[0], "major"), _number(parts[1], "minor")
    rest, plus, build = parts[2].partition("+")
    patch, minus, before = rest.partition("-")
    last = _number(patch, "patch")
    return Semver((major, minor, last), _before(before, bool(minus)), _build(build, bool(plus)))


def _before(text: str, given: bool) -> tuple[str, ...]:
    if not given:
        return ()
    parts = tuple(text.split("."))
    for part in charge_each(parts):
        if not part:
            raise EvaluationError("Prerelease is empty")
        if all(char in _DIGITS for char in charge_each(part)):
            if len(part) > 1 and part[0] == "0":
                raise EvaluationError(
                    f"Numeric PreRelease version must not contain leading zeroes {gotext.quote(part)}"
                )
            _unsigned(part)
        elif any(char not in _IDENTIFIER for char in charge_each(part)):
            raise EvaluationError(f"Invalid character(s) found in prerelease {gotext.quote(part)}")
    return parts


def _build(text: str, given: bool) -> tuple[str, ...]:
    parts = tuple(text.split(".")) if given else ()
    for part in charge_each(parts):
        if not part:
            raise EvaluationError("Build meta data is empty")
        if any(char not in _IDENTIFIER for char in charge_each(part)):
            raise EvaluationError(f"Invalid character(s) found in build meta data {gotext.quote(part)}")
    return parts


def _normal(text: str) -> str:
    parts = text.removeprefix("v").split(".", 2)
    for index, part in enumerate(parts):
        if len(part) > 1:
            bare = part.lstrip("0")
            parts[index] = bare if bare and bare[0] in _DIGITS else f"0{bare}"
    if len(parts) < 3:
        if any(char in parts[-1] for char in "+-"):
            raise EvaluationError("short version cannot contain PreRelease/Build meta data")
        parts += ["0"] * (3 - len(parts))
    return ".".join(parts)


def _is_semver(text: str, normalize: bool = False) -> bool:
    try:
        parse_semver(text, normalize)
    except EvaluationError:
        return False
    return True


_LOOK, _ONE = traversal(), once()
_PAIR = (SEMVER, SEMVER)
LIBRARY = Library(
    "semver",
    (
        declare_function(
            "semver",
            plain("string_to_semver", (STRING,), SEMVER, parse_semver),
            plain("string_bool_to_semver", (STRING, BOOL), SEMVER, parse_semver),
            cost=_LOOK,
        ),
        declare_function(
            "isSemver",
            plain("is_semver_string", (STRING,), BOOL, _is_semver),
            plain("is_semver_string_bool", (STRING, BOOL), BOOL, _is_semver),
            cost=_LOOK,
        ),
        declare_function(
            "isGreaterThan",
            member("semver_is_greater_than", _PAIR, BOOL, lambda a, b: compare_versions(a, b) > 0),
            cost=_ONE,
        ),
        declare_function(
            "isLessThan", member("semver_is_less_than", _PAIR, BOOL, lambda a, b: compare_versions(a, b) < 0), cost=_ONE
        ),
        declare_function("compareTo", member("semver_compare_to", _PAIR, INT, compare_versions), cost=_ONE),
        declare_function(
            "major", member("semver_major", (SEMVER,), INT, lambda value: _signed(value.numbers[0])), cost=_ONE
        ),
        declare_function(
            "minor", member("semver_minor", (SEMVER,), INT, lambda value: _signed(value.numbers[1])), cost=_ONE
        ),
        declare_function(
            "patch", member("semver_patch", (SEMVER,), INT, lambda value: _signed(value.numbers[2])), cost=_ONE
        ),
    ),
    feature="CELSemver",
)
