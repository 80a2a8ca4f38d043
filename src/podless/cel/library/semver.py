"""Semantic versions, as blang/semver parses them (Kubernetes)."""

from __future__ import annotations

import operator

from podless.cel import values
from podless.cel.bounds import charge_each
from podless.cel.cost import UNIT, traversal_cost
from podless.cel.errors import EvaluationError
from podless.cel.functions import Library, declare, succeeds
from podless.codec import gotext
from podless.runtime.dataclass import dataclass

_DIGITS = frozenset("0123456789")
_IDENTIFIER = _DIGITS | frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-")


@dataclass(frozen=True, slots=True)
class Semver:
    """A version. prerelease: the parts of the pre-release. build: only == compares it."""

    numbers: tuple[int, int, int]
    prerelease: tuple[str, ...] = ()
    build: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Semver) and compare_versions(self, other) == 0

    def __lt__(self, other: Semver) -> bool:
        return compare_versions(self, other) < 0

    def __hash__(self) -> int:
        return hash((self.numbers, self.prerelease))


values.NAMES[Semver] = "kubernetes.Semver"


def compare_versions(left: Semver, right: Semver) -> int:
    """Return -1, 0 or 1. Build metadata is ignored."""
    if left.numbers != right.numbers:
        return 1 if left.numbers > right.numbers else -1
    if not left.prerelease or not right.prerelease:
        return bool(right.prerelease) - bool(left.prerelease)
    for left_part, right_part in zip(left.prerelease, right.prerelease, strict=False):
        if left_part == right_part:
            continue
        numeric = left_part.isdigit(), right_part.isdigit()
        if numeric == (True, True):
            return 1 if int(left_part) > int(right_part) else -1
        if numeric[0] != numeric[1]:
            return -1 if numeric[0] else 1
        return 1 if left_part > right_part else -1
    return (len(left.prerelease) > len(right.prerelease)) - (len(left.prerelease) < len(right.prerelease))


def _parse_number(text: str, name: str) -> int:
    if any(char not in _DIGITS for char in charge_each(text)):
        raise EvaluationError(f"Invalid character(s) found in {name} number {gotext.quote(text)}")
    if len(text) > 1 and text[0] == "0":
        raise EvaluationError(f"{name.capitalize()} number must not contain leading zeroes {gotext.quote(text)}")
    return _parse_unsigned(text)


def _parse_unsigned(text: str) -> int:
    try:
        return gotext.parse_uint(text)
    except ValueError as error:
        raise EvaluationError(str(error)) from None


def _wrap_signed(number: int) -> int:
    """Return a 64-bit number as a signed integer, with wrap-around."""
    return number - (1 << 64) if number > values.INT_MAX else number


def parse_semver(text: str, normalize: bool = False) -> Semver:
    """Parse a version. normalize: accept a leading v, missing numbers and leading zeros. Raises EvaluationError."""
    text = _normalize_text(text) if normalize else text
    if not text:
        raise EvaluationError("Version string empty")
    segments = text.split(".", 2)
    if len(segments) != 3:
        raise EvaluationError("No Major.Minor.Patch elements found")
    major, minor = _parse_number(segments[0], "major"), _parse_number(segments[1], "minor")
    before_build, plus, build = segments[2].partition("+")
    patch_text, minus, prerelease = before_build.partition("-")
    patch = _parse_number(patch_text, "patch")
    return Semver((major, minor, patch), _parse_prerelease(prerelease, bool(minus)), _parse_build(build, bool(plus)))


def _parse_prerelease(text: str, is_given: bool) -> tuple[str, ...]:
    if not is_given:
        return ()
    identifiers = tuple(text.split("."))
    for identifier in charge_each(identifiers):
        if not identifier:
            raise EvaluationError("Prerelease is empty")
        if all(char in _DIGITS for char in charge_each(identifier)):
            if len(identifier) > 1 and identifier[0] == "0":
                raise EvaluationError(
                    f"Numeric PreRelease version must not contain leading zeroes {gotext.quote(identifier)}"
                )
            _parse_unsigned(identifier)
        elif any(char not in _IDENTIFIER for char in charge_each(identifier)):
            raise EvaluationError(f"Invalid character(s) found in prerelease {gotext.quote(identifier)}")
    return identifiers


def _parse_build(text: str, is_given: bool) -> tuple[str, ...]:
    identifiers = tuple(text.split(".")) if is_given else ()
    for identifier in charge_each(identifiers):
        if not identifier:
            raise EvaluationError("Build meta data is empty")
        if any(char not in _IDENTIFIER for char in charge_each(identifier)):
            raise EvaluationError(f"Invalid character(s) found in build meta data {gotext.quote(identifier)}")
    return identifiers


def _normalize_text(text: str) -> str:
    segments = text.removeprefix("v").split(".", 2)
    for index, segment in enumerate(segments):
        if len(segment) > 1:
            bare = segment.lstrip("0")
            segments[index] = bare if bare and bare[0] in _DIGITS else f"0{bare}"
    if len(segments) < 3:
        if any(char in segments[-1] for char in "+-"):
            raise EvaluationError("short version cannot contain PreRelease/Build meta data")
        segments += ["0"] * (3 - len(segments))
    return ".".join(segments)


_TRAVERSAL = traversal_cost()
LIBRARY = Library(
    "semver",
    (
        declare("semver(string) -> Semver", "string_to_semver", parse_semver, _TRAVERSAL),
        declare("semver(string, bool) -> Semver", "string_bool_to_semver", parse_semver, _TRAVERSAL),
        declare("isSemver(string) -> bool", "is_semver_string", succeeds(parse_semver), _TRAVERSAL),
        declare("isSemver(string, bool) -> bool", "is_semver_string_bool", succeeds(parse_semver), _TRAVERSAL),
        declare("<Semver>.isGreaterThan(Semver) -> bool", "semver_is_greater_than", operator.gt, UNIT),
        declare("<Semver>.isLessThan(Semver) -> bool", "semver_is_less_than", operator.lt, UNIT),
        declare("<Semver>.compareTo(Semver) -> int", "semver_compare_to", compare_versions, UNIT),
        declare("<Semver>.major() -> int", "semver_major", lambda value: _wrap_signed(value.numbers[0]), UNIT),
        declare("<Semver>.minor() -> int", "semver_minor", lambda value: _wrap_signed(value.numbers[1]), UNIT),
        declare("<Semver>.patch() -> int", "semver_patch", lambda value: _wrap_signed(value.numbers[2]), UNIT),
    ),
    feature="CELSemver",
)
