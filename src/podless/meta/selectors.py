"""Label and field selectors: their syntax, matching, and errors.

Source: k8s.io/apimachinery pkg/labels and pkg/fields, and the recorded errors.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from podless.codec import gotext
from podless.meta import field, names
from podless.meta.errors import BadRequest
from podless.meta.field import FieldError
from podless.runtime.bounded import bounded_cache
from podless.runtime.dataclass import dataclass
from podless.runtime.memo import made_once
from podless.runtime.meter import MAX_UNCHARGED, charge, each

_CACHED = 1024
_REQUIREMENT = 8  # steps on the meter to parse one requirement

_TOKEN = re.compile(r"[ \t\r\n]*+(==|!=|[=!(),<>]|[^=!(),<>\x00 \t\r\n]++\x00?|)")
_OPERATORS = {"in": "in", "notin": "notin", "=": "=", "==": "==", "!=": "!=", ">": "gt", "<": "lt"}
_SYMBOLS = frozenset(("==", "=", "!=", "!", "(", ")", ",", "<", ">", ""))
_INTEGER = re.compile(r"[-+]?[0-9]{1,30}")
_SPLIT = re.compile(r"!=|==?")
_ESCAPED = re.compile(r"\\(.?)|([,=])", re.DOTALL)
_PRINTED = {
    "=": "{key}={values}",
    "==": "{key}=={values}",
    "!=": "{key}!={values}",
    "in": "{key} in ({values})",
    "notin": "{key} notin ({values})",
    "exists": "{key}",
    "!": "!{key}",
    "gt": "{key}>{values}",
    "lt": "{key}<{values}",
}
_NO_VALUES: frozenset[str] = frozenset()
_ALL_NUMBERS = -math.inf, math.inf
_LOOKUPS_LOG2 = 2  # log2 of the number of lookups that take as long as one step of the meter


def _parse_int64(text: str) -> int | None:
    """Return a text as Go's ParseInt reads it for 64 bits; None if it fails."""
    if not _INTEGER.fullmatch(text):
        return None
    value = int(text)
    return value if gotext.MIN_INT64 <= value <= gotext.MAX_INT64 else None


@dataclass(frozen=True, slots=True)
class Requirement:
    """One requirement on one label. operator: a key of _PRINTED. values: sorted; empty for exists and !."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def __str__(self) -> str:
        return _PRINTED[self.operator].format(key=self.key, values=",".join(self.values))


@dataclass(frozen=True)
class LabelSelector:
    """Requirements that labels must all meet, in the order of their keys. matches_nothing: no labels match."""

    requirements: tuple[Requirement, ...] = ()
    matches_nothing: bool = False

    @property
    def empty(self) -> bool:
        """Whether everything matches."""
        return not self.requirements and not self.matches_nothing

    @made_once
    def required_label(self) -> tuple[str, tuple[str, ...]] | None:
        """Return a label that must have one of some values, and these values; None if the selector requires none."""
        for requirement in self.requirements:
            if requirement.operator in ("=", "==", "in"):
                return requirement.key, requirement.values
        return None

    @made_once
    def matches(self) -> Callable[[Mapping[str, str]], bool]:
        """Return a function that checks whether labels match, in time proportional to the labels."""
        return (lambda labels: False) if self.matches_nothing else _RequirementIndex(self.requirements).match_labels

    def prepare(self) -> None:
        """Compute everything that matching needs."""
        self.matches({})

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))


class _RequirementIndex:
    """The requirements of a label selector by key, so that few of them are checked for few labels."""

    __slots__ = ("_absent", "_excluded", "_ranges", "_required", "_size")

    def __init__(self, requirements: Sequence[Requirement]) -> None:
        # the values of which a label must have one; None: any value
        self._required: dict[str, frozenset[str] | None] = {}
        self._excluded: dict[str, set[str]] = {}
        # the open interval of a label's number
        self._ranges: dict[str, tuple[float, float]] = {}
        absent: set[str] = set()
        for term in each(requirements):
            key, operator = term.key, term.operator
            if operator == "!":
                absent.add(key)
            elif operator in ("!=", "notin"):
                self._excluded.setdefault(key, set()).update(each(term.values))
            elif operator == "exists":
                self._required.setdefault(key, None)
            elif operator in ("gt", "lt"):
                self._required.setdefault(key, None)
                range_ = self._ranges.get(key, _ALL_NUMBERS)
                self._ranges[key] = _limit_range(range_, operator, _parse_int64(term.values[0]))
            else:
                values = frozenset(each(term.values))
                earlier = self._required.get(key)
                self._required[key] = values if earlier is None else earlier & values
        self._absent = frozenset(absent)
        self._size = len(self._required) + len(self._excluded) + len(absent)

    def match_labels(self, labels: Mapping[str, str]) -> bool:
        """Return whether labels meet them all."""
        required, excluded = self._required, self._excluded
        if self._size > MAX_UNCHARGED and len(labels) > MAX_UNCHARGED:
            charge(min(len(labels), self._size) >> _LOOKUPS_LOG2)
        if len(required) > len(labels):
            return False
        for key, values in required.items():
            if key not in labels or (values is not None and labels[key] not in values):
                return False
        for key, (low, high) in self._ranges.items():
            value = _parse_int64(labels[key])
            if value is None or not low < value < high:
                return False
        if self._absent and not labels.keys().isdisjoint(self._absent):  # isdisjoint() iterates over the smaller set
            return False
        if not excluded:
            return True
        if len(excluded) < len(labels):
            return all(labels.get(key) not in values for key, values in excluded.items())
        return all(value not in excluded.get(key, _NO_VALUES) for key, value in labels.items())


def _limit_range(range_: tuple[float, float], operator: str, bound: int | None) -> tuple[float, float]:
    """Return a range limited by a requirement. A bound that is not a number matches nothing."""
    low, high = range_
    if bound is None:
        return math.inf, high
    return (max(low, bound), high) if operator == "gt" else (low, min(high, bound))


EVERYTHING = LabelSelector()
NOTHING = LabelSelector(matches_nothing=True)


@bounded_cache(_CACHED)
def parse_labels(text: str) -> LabelSelector:
    """Return the selector in a labelSelector parameter: a=b, a!=b, a in (b,c), a notin (b), a, !a, a>1, a<1.

    Requirements are separated by commas. Raises BadRequest.
    """
    return LabelSelector(_sort_by_key(_SelectorParser(text).parse_requirements()))


def from_object(selector: Mapping[str, Any] | None) -> LabelSelector:
    """Return the selector of a LabelSelector object (matchLabels and matchExpressions).

    None selects nothing, an empty object everything. Raises BadRequest.
    """
    if selector is None:
        return NOTHING
    operators = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}
    requirements = [
        _make_requirement(key, "=", [value]) for key, value in each(selector.get("matchLabels") or {}).items()
    ]
    for expression in each(selector.get("matchExpressions") or []):
        operator, key, values = expression.get("operator", ""), expression.get("key", ""), expression.get("values")
        if operator not in operators:
            raise BadRequest(f"{gotext.quote(operator)} is not a valid label selector operator")
        requirements.append(_make_requirement(key, operators[operator], values or []))
    return LabelSelector(_sort_by_key(requirements))


def make_set_selector(labels: Mapping[str, str]) -> LabelSelector:
    """Return a selector for objects with all of these labels, which need not be valid."""
    return LabelSelector(_sort_by_key(Requirement(key, "=", (value,)) for key, value in each(labels).items()))


def _sort_by_key(requirements: Iterable[Requirement]) -> tuple[Requirement, ...]:
    return tuple(sorted(requirements, key=lambda requirement: requirement.key))


class _SelectorParser:
    """Parses a label selector token by token; `in` and `notin` are operators only in their place."""

    def __init__(self, text: str) -> None:
        self.tokens: list[str] = []
        pos = 0
        while not self.tokens or self.tokens[-1]:
            charge(1)
            match = _TOKEN.match(text, pos)
            self.tokens.append(match.group(1).rstrip("\x00") if match else "")
            pos = match.end() if match else pos
        self.pos = 0

    def peek_token(self) -> str:
        return self.tokens[self.pos]

    def take_token(self) -> str:
        self.pos += 1
        return self.tokens[self.pos - 1]

    def parse_requirements(self) -> list[Requirement]:
        results: list[Requirement] = []
        while token := self.peek_token():
            if token in _SYMBOLS and token != "!":
                raise BadRequest(f"found '{token}', expected: !, identifier, or 'end of string'")
            charge(_REQUIREMENT)
            try:
                results.append(self.parse_requirement())
            except BadRequest as fault:
                raise BadRequest(f"unable to parse requirement: {fault.message}") from None
            following = self.take_token()
            if not following:
                break
            if following != ",":
                raise BadRequest(f"found '{following}', expected: ',' or 'end of string'")
            if self.peek_token() in _SYMBOLS - {"!"}:
                raise BadRequest(f"found '{self.peek_token()}', expected: identifier after ','")
        return results

    def parse_requirement(self) -> Requirement:
        key = self.take_token()
        absent = key == "!"
        if absent:
            key = self.take_token()
        if key in _SYMBOLS:
            raise BadRequest(f"found '{key}', expected: identifier")
        if faults := names.check_qualified_name(key):
            raise BadRequest(str(field.invalid("<nil>", key, "; ".join(faults))))
        if absent:
            return Requirement(key, "!")
        if self.peek_token() in ("", ","):
            return Requirement(key, "exists")
        token = self.take_token()
        if token not in _OPERATORS:
            raise BadRequest(f"found '{token}', expected: in, notin, =, ==, !=, gt, lt")
        operator = _OPERATORS[token]
        values = self.parse_values() if operator in ("in", "notin") else [self.parse_value()]
        return _make_requirement(key, operator, values)

    def parse_value(self) -> str:
        if self.peek_token() in ("", ","):
            return ""
        token = self.take_token()
        if token in _SYMBOLS:
            raise BadRequest(f"found '{token}', expected: identifier")
        return token

    def parse_values(self) -> list[str]:
        token = self.take_token()
        if token != "(":
            raise BadRequest(f"found '{token}' expected: '('")
        if self.peek_token() == ")":
            self.take_token()
            return [""]
        if self.peek_token() in _SYMBOLS - {","}:
            raise BadRequest(f"found '{self.peek_token()}', expected: ',', ')' or identifier")
        values = self.parse_value_list()
        self.take_token()
        return sorted(set(values))  # errors number the values as Go does: as a sorted set

    def parse_value_list(self) -> list[str]:
        """Read values up to the closing bracket. Two adjacent commas enclose an empty value."""
        results: list[str] = []
        while True:
            charge(1)
            token = self.take_token()
            following = self.peek_token() if token else ""
            if token not in _SYMBOLS:
                results.append(token)
                if following == ")":
                    return results
                if following != ",":
                    raise BadRequest(f"found '{following}', expected: ',' or ')'")
            elif token == ",":
                if not results or following in (",", ")"):
                    results.append("")
                if following == ")":
                    return results
            else:
                raise BadRequest(f"found '{token}', expected: ',', or identifier")


def _make_requirement(key: str, operator: str, values: list[str]) -> Requirement:
    """Return a valid requirement. Raises BadRequest with all its faults."""
    faults: list[FieldError] = []
    if problems := names.check_qualified_name(key):
        faults.append(field.invalid("key", key, "; ".join(problems)))
    if operator in ("in", "notin") and not values:
        faults.append(field.invalid("values", values, "for 'in', 'notin' operators, values set can't be empty"))
    if operator in ("exists", "!") and values:
        faults.append(field.invalid("values", values, "values set must be empty for exists and does not exist"))
    for index, value in enumerate(each(values)):
        if operator in ("gt", "lt") and _parse_int64(value) is None:
            detail = "for 'Gt', 'Lt' operators, the value must be an integer"
            faults.append(field.invalid(f"values[{index}]", value, detail))
    for index, value in enumerate(values):
        if problems := names.check_label_value(value):
            faults.append(field.invalid(f"values[{index}][{key}]", value, "; ".join(problems)))
    if faults:
        raise BadRequest(field.join_errors(faults))
    return Requirement(key, operator, tuple(sorted(set(values))))


@dataclass(frozen=True)
class FieldSelector:
    """Requirements on fields, which must all hold. requirements: (field, "=" or "!=", value), sorted, as given."""

    requirements: tuple[tuple[str, str, str], ...] = ()

    @property
    def empty(self) -> bool:
        """Whether everything matches."""
        return not self.requirements

    @made_once
    def names(self) -> tuple[str, ...]:
        """Return the fields of the requirements, each once."""
        return tuple(dict.fromkeys(name for name, _, _ in each(self.requirements)))

    @made_once
    def _required(self) -> dict[str, dict[str, None]]:
        return _group_by_field(self.requirements, "=")

    @made_once
    def _excluded(self) -> dict[str, dict[str, None]]:
        return _group_by_field(self.requirements, "!=")

    def matches(self, getter: Callable[[str], str]) -> bool:
        """Return whether an object matches. getter: returns the value of a field, "" if it is missing.

        Takes time in proportion to the number of different fields in the selector.
        """
        for name, values in self._required.items():
            if len(values) > 1 or getter(name) not in values:
                return False
        excluded = self._excluded
        return not excluded or all(getter(name) not in values for name, values in excluded.items())

    def prepare(self) -> None:
        """Compute everything that matching needs."""
        _ = self.names, self._required, self._excluded

    def find_exact(self, name: str) -> str | None:
        """Return the only value that a field may have, None if there are several."""
        return next(iter(self._required.get(name, ())), None)

    def __str__(self) -> str:
        return ",".join(f"{name}{operator}{escape_value(value)}" for name, operator, value in self.requirements)


def _group_by_field(requirements: Sequence[tuple[str, str, str]], operator: str) -> dict[str, dict[str, None]]:
    """Return the values of the requirements of one operator, by field, in their order."""
    result: dict[str, dict[str, None]] = {}
    for name, sign, value in each(requirements):
        if sign == operator:
            result.setdefault(name, {})[value] = None
    return result


@bounded_cache(_CACHED)
def parse_fields(text: str) -> FieldSelector:
    r"""Return the selector in a fieldSelector parameter: a=b, a==b and a!=b, separated by commas.

    In values, \, means a comma, \= an equals sign and \\ a backslash. Raises BadRequest. The fields are not checked
    here.
    """
    requirements = []
    for term in sorted(_split_terms(text)):
        charge(2)
        match = _SPLIT.search(term)
        if match:
            operator = "!=" if match.group() == "!=" else "="
            name, value = term[: match.start()], _ESCAPED.sub(_unescape_match, term[match.end() :])
            if name or value:  # a real server drops a term without both
                requirements.append((name, operator, value))
        elif term:
            raise BadRequest(f"invalid selector: '{text}'; can't understand '{term}'")
    return FieldSelector(tuple(requirements))


def _split_terms(text: str) -> list[str]:
    """Return the text split at its commas, except commas after a backslash."""
    if "\\" not in text:
        return text.split(",")
    terms = []
    start, escaped = 0, False
    for index, char in enumerate(each(text)):
        if char == "," and not escaped:
            terms.append(text[start:index])
            start = index + 1
            continue
        escaped = char == "\\" and not escaped
    return [*terms, text[start:]]


def _unescape_match(match: re.Match[str]) -> str:
    escaped, bare = match.groups()
    if bare:
        raise BadRequest(f"invalid field selector: unescaped character in value: {ord(bare)}")
    if escaped not in ("\\", ",", "="):
        raise BadRequest(f"invalid field selector: invalid escape sequence: {match.group()}")
    return str(escaped)


def escape_value(value: str) -> str:
    """Escape a value for a field selector."""
    return value.replace("\\", "\\\\").replace(",", "\\,").replace("=", "\\=")
