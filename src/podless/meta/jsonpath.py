"""JSONPath of additionalPrinterColumns, compiled into steps: functions that map values to values.

Source: k8s.io/client-go util/jsonpath and the recorded tables: fields with escaped dots, ['keys'], indices, slices with
steps, [*], unions, filters with one comparison or none, recursive descent. Some errors show only on an object, such as
an index into a value that is not a list; the path then finds nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import islice
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from podless.runtime.bounded import bounded_cache
from podless.runtime.lazy import compile_late
from podless.runtime.meter import charge, each

Values = list[Any]
Step = Callable[[Values], Values]  # raises _PathFault if it cannot be followed
# maximum values: unions and descents can multiply them
_MAX = 1 << 20
_CHARGE_INTERVAL = 512  # values examined between two charges
_SLICE = compile_late(r"(-?[0-9]*+)(:-?[0-9]*+)?(:-?[0-9]*+)?")
_CACHED = 4096
_PLAIN = re.compile(r"(?:\.[A-Za-z]++)++")  # matches most paths: only names of fields
_KEY = compile_late(r"'([^']*+)'")
_COMPARISON = compile_late(r"([^!<>=]++)([!<>=]++)(.*+)")
_ESCAPE = compile_late(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.))", re.DOTALL)
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\", "'": "'", '"': '"'}
_TEXT = compile_late(r"[^{]*+")
_NUMBER = compile_late(r"[-+]?[0-9.]*+")
_WORD = compile_late(r"[^ \t\r\n.,\[\]$@{}]*+")
_NAME = compile_late(r"(?:\\.|[^ \t\r\n.,\[\]$@{}\\])*+\\?", re.DOTALL)  # a word in which a backslash escapes
_QUOTED = r"""(?P<quote>["'])(?:(?!(?P=quote))[^\n]|(?<=\\)(?P=quote))*+(?P=quote)"""
_STRING = compile_late(_QUOTED)
_BRACKETS = compile_late(r"\[([^]\n]*+)]")
_FILTER = compile_late(rf"""\[\?\(([^"')\n]*+(?:{_QUOTED}[^)\n]*+)?+)\)""")  # a bracket in quotes does not end it
_COMPARISONS = {"==": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
_COMPARABLE = {str, int, float, bool}


class Searched:
    """An object that several paths search. The values at and below it are collected once for all of them."""

    __slots__ = ("_collected", "_named", "obj")

    def __init__(self, obj: Any) -> None:
        self.obj = obj
        self._collected: Values | None = None
        self._named: dict[str, Values] | None = None

    def follow_steps(self, steps: list[Step]) -> Values:
        """Return the values that the steps of a path lead to. Raises _PathFault."""
        if not steps or steps[0] is not _descend_values:
            return _run_steps(steps, [self.obj])
        if self._collected is None:
            self._collected = _descend_values([self.obj])
        if len(steps) < 2 or not isinstance(steps[1], _FieldStep):
            return _run_steps(steps[1:], self._collected)
        if self._named is None:
            self._named = _group_by_name(self._collected)
        return _run_steps(steps[2:], self._named.get(steps[1].name, []))


def _group_by_name(values: Values) -> dict[str, Values]:
    """Return the fields of all objects among some values, by their names."""
    result: dict[str, Values] = {}
    for index, value in enumerate(values):
        if not index % _CHARGE_INTERVAL:
            charge(_CHARGE_INTERVAL)
        if type(value) is dict:
            for name, item in each(value).items():
                result.setdefault(name, []).append(item)
    return result


class JSONPath:
    """A compiled path. descends: it searches the whole object."""

    __slots__ = ("_names", "_nodes", "descends", "text")

    def __init__(self, text: str, nodes: list[list[Step]]) -> None:
        self.text = text
        self._nodes = nodes
        self._names = text[1:].split(".") if _PLAIN.fullmatch(text) else None
        self.descends = any(steps and steps[0] is _descend_values for steps in nodes)

    def find(self, obj: Any) -> Values:
        """Return the values of the path, in order; none if it cannot be followed. obj: may be a Searched."""
        searched = obj if type(obj) is Searched else None
        if self._names is not None:
            if searched is not None:
                obj = searched.obj
            for name in self._names:
                if type(obj) is not dict or name not in obj:
                    return []
                obj = obj[name]
            return [obj]
        try:
            follow = (searched or Searched(obj)).follow_steps
            results = [follow(steps) for steps in self._nodes]
        except _PathFault:
            return []
        return results[0]

    def first(self, obj: Any, default: Any = None) -> Any:
        """Return the first value of the path, or the default if there is none."""
        values = self.find(obj)
        return values[0] if values else default


@bounded_cache(_CACHED)
def parse_path(text: str) -> JSONPath:
    """Return the compiled path of a column, such as .spec.x. Raises ValueError for a malformed one."""
    return JSONPath(text, _TemplateParser(f"{{{text}}}").parse_template())


class _TemplateParser:
    """Parses a template: text, and actions in braces. Raises ValueError for a malformed one."""

    def __init__(self, text: str) -> None:
        self.text = each(text)
        self.pos = 0
        self.recursive = False

    def parse_template(self) -> list[list[Step]]:
        """Return the nodes of the template, each a list of steps."""
        nodes: list[list[Step]] = []
        while self.pos < len(self.text):
            if self.text[self.pos] == "{":
                self.pos += 1
                nodes.append(self.parse_action())
            else:
                nodes.append([_make_constant(self.take_match(_TEXT)[0])])
        return nodes

    def take_match(self, pattern: re.Pattern[str], fault: str = "") -> re.Match[str]:
        """Return the match of a pattern at this position, and move behind it. fault: the error if there is none."""
        match = pattern.match(self.text, self.pos)
        if match is None:
            raise ValueError(fault)
        self.pos = match.end()
        return match

    def parse_action(self) -> list[Step]:
        """Return the steps up to the closing brace."""
        steps: list[Step] = []
        while True:
            ahead = self.text[self.pos : self.pos + 3]
            char = ahead[:1]
            after_descent, self.recursive = self.recursive, False
            if char == "}":
                self.pos += 1
                return steps
            if ahead == "[?(":
                steps.append(self.parse_filter())
            elif ahead[:2] == "..":
                if after_descent:
                    raise ValueError("invalid multiple recursive descent")
                steps += self.parse_descent()
            elif char in ("", "\r", "\n"):
                raise ValueError("unclosed action")
            elif char in " @$":
                self.pos += 1
                self.recursive = after_descent
            elif char == "[":
                steps += self.parse_array()
            elif char in "\"'":
                steps.append(_make_constant(_unquote(self.take_match(_STRING, "unterminated quoted string")[0])))
            elif char == ".":
                self.pos += 1
                steps.append(self.parse_field())
            elif char in "+-" or char.isdecimal():
                steps.append(_repeat_literal(self.parse_number()))
            elif char == "_" or char.isalpha():
                steps.append(self.parse_word())
            else:
                raise ValueError(f"unrecognized character in action: U+{ord(char):04X} '{char}'")

    def parse_descent(self) -> list[Step]:
        """Parse two dots, and the field after them, if there is one."""
        self.pos += 2
        char = self.text[self.pos : self.pos + 1]
        if char == "_" or char.isalnum():
            return [_descend_values, self.parse_field()]
        self.recursive = True
        return [_descend_values]

    def parse_field(self) -> Step:
        """Parse a field's name, up to an unescaped character that ends it."""
        name = self.take_match(_NAME)[0]
        return _take_items if name == "*" else _FieldStep(name.replace("\\", ""))

    def parse_word(self) -> Step:
        """Parse a word without quotes. Only true and false have a meaning."""
        name = self.take_match(_WORD)[0]
        return _repeat_literal(name == "true") if name in ("true", "false") else _refuse_word(name)

    def parse_number(self) -> int | float:
        text = self.take_match(_NUMBER)[0]
        try:
            return int(text) if "." not in text and len(text) < 20 else float(text)
        except ValueError:
            raise ValueError(f"cannot parse number {text}") from None

    def parse_array(self) -> list[Step]:
        """Parse the content of brackets: an index, a slice, a key, or several of these."""
        text = self.take_match(_BRACKETS, "unterminated array")[1]
        text = ":" if text == "*" else text
        pieces = text.split(",")
        if len(pieces) > 1:
            return [_make_union([_parse_nested(f"[{piece.strip(' ')}]") for piece in pieces])]
        if key := _KEY.fullmatch(text):
            return _parse_nested(f".{key[1]}")
        return [_make_array_step(text)]

    def parse_filter(self) -> Step:
        """Parse a filter: operand, operator and operand."""
        text = self.take_match(_FILTER, "unterminated filter")[1]
        if self.text[self.pos : self.pos + 1] != "]":
            raise ValueError("unclosed array expect ]")
        self.pos += 1
        if match := _COMPARISON.fullmatch(text):
            left_path, operator, right = match.groups()
            if not right:  # the last sign of the operator is the operand then
                operator, right = operator[:-1], operator[-1]
            if operator:
                return _make_comparison(_parse_nested(left_path), operator, _parse_nested(right))
        return _make_existence_filter(_parse_nested(text))


def _parse_nested(text: str) -> list[Step]:
    return _TemplateParser(f"{{{text}}}").parse_template()[0]


def _unquote(text: str) -> str:
    inside, quote = text[1:-1], text[0]
    if len(text) < 2:
        raise ValueError(f"unquote string {text} error invalid syntax")
    if "\\" not in inside:
        return inside

    def unquote_escape(match: re.Match[str]) -> str:
        *codes, simple = match.groups()
        for code, base in zip(codes, (16, 16, 16, 8), strict=True):
            if code is not None and int(code, base) < 0x110000:
                return chr(int(code, base))
        if simple not in _ESCAPES or (simple in "'\"" and simple != quote):
            raise ValueError(f"unquote string {text} error invalid syntax")
        return _ESCAPES[simple]

    return _ESCAPE.sub(unquote_escape, inside)


class _PathFault(Exception):
    """A path cannot be followed in an object. partial: the values that an existence filter counts as found."""

    def __init__(self, message: str, partial: Values) -> None:
        super().__init__(message)
        self.partial = partial


def _run_steps(steps: Iterable[Step], values: Values) -> Values:
    """Return the values after all steps. Raises _PathFault."""
    for step in steps:
        charge(1 + len(values))
        values = step(values)
    return values


def _check_count(values: Values) -> Values:
    if len(values) > _MAX:
        raise _PathFault("too many values", [])
    return values


def _make_constant(value: str) -> Step:
    return lambda values: [value]


def _repeat_literal(value: float | bool) -> Step:
    return lambda values: [value] * len(values)


def _refuse_word(name: str) -> Step:
    """Return a step that fails because of an unknown word."""

    def raise_fault(values: Values) -> Values:
        raise _PathFault(f"unrecognized identifier {name}", values)

    return raise_fault


class _FieldStep:
    """The field of the objects that have it."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, values: Values) -> Values:
        name = self.name
        return [value[name] for value in values if type(value) is dict and name in value]


def _list_children(value: Any) -> Values:
    if type(value) is dict or type(value) is list:
        charge(len(value))
    if type(value) is dict:
        return list(value.values())
    if type(value) is list:
        return value
    return list(each(value.encode())) if isinstance(value, str) else []


def _take_items(values: Values) -> Values:
    """Return all items and fields of the values."""
    return [child for value in values for child in _list_children(value)]


def _descend_values(values: Values) -> Values:
    """Return all non-empty values at and below the given ones, outer ones first."""
    results: Values = []
    todo = values[::-1]
    steps_left = _CHARGE_INTERVAL
    while todo:
        value = todo.pop()
        steps_left -= 1
        if not steps_left:
            charge(_CHARGE_INTERVAL)
            _check_count(results)
            steps_left = _CHARGE_INTERVAL
        if not value:
            continue
        kind = type(value)
        if kind is dict:
            results.append(value)
            todo += reversed(value.values())
        elif kind is list:
            results.append(value)
            todo += reversed(value)
        elif kind is str:
            results.append(value)
    return _check_count(results)


def _make_union(paths: list[list[Step]]) -> Step:

    def join_parts(values: Values) -> Values:
        results: Values = []
        try:
            for path in paths:
                results += _run_steps(path, values)
                _check_count(results)
        except _PathFault as fault:
            raise _PathFault(str(fault), values) from None
        return results

    return join_parts


def _make_array_step(text: str) -> Step:
    """Return a step for an index or slice. A single index is a slice of one. Raises ValueError for other texts."""
    match = _SLICE.fullmatch(text)
    if not match:
        raise ValueError(f"invalid array index {text}")
    start, stop, stride = (_parse_index(part.lstrip(":")) if part and part != ":" else None for part in match.groups())
    lone = not match[2]
    stop = (start or 0) + 1 if lone else stop

    def select_items(values: Values) -> Values:
        items: Values = []
        for value in values:
            if value is None:
                continue
            if type(value) is not list:
                raise _PathFault("what is indexed is not a list", values)
            count = len(value)
            first = (start or 0) + count * ((start or 0) < 0)
            last = count if stop is None else stop + count * (stop < 0 or (stop == 0 and lone))
            if first == last:
                return items
            if not (0 <= first < count and first <= last <= count) or (stride is not None and stride <= 0):
                raise _PathFault("the index is out of bounds", values)
            items += islice(value, first, last, stride or 1)
        return items

    return select_items


def _parse_index(text: str) -> int:
    if not text.strip("-") or len(text) > 19:
        raise ValueError(f"array index {text} is not a number")
    return int(text)


def _make_existence_filter(path: list[Step]) -> Step:
    """Return a filter of items in which the inner path finds a value."""

    def finds_value(value: Any) -> bool:
        try:
            return bool(_run_steps(path, [value]))
        except _PathFault as fault:
            return bool(fault.partial)

    return _make_filter(finds_value)


def _make_comparison(left: list[Step], operator: str, right: list[Step]) -> Step:
    """Return a filter of items for which the values of two paths meet a comparison."""

    def meets_comparison(value: Any) -> bool:
        sides = []
        for steps in (left, right):
            values = _run_steps(steps, [value])
            if not values:
                return False
            if len(values) > 1:
                raise _PathFault("can only compare one element at a time", [])
            sides.append(values[0])
        if operator not in _COMPARISONS:
            raise _PathFault(f"unrecognized filter operator {operator}", [])
        return _compare_values(operator, *sides)

    return _make_filter(meets_comparison)


def _make_filter(accepts: Callable[[Any], bool]) -> Step:
    def filter_items(values: Values) -> Values:
        items: Values = []
        for value in values:
            if type(value) is not list:
                raise _PathFault("what is filtered is not a list", values)
            try:
                items += [item for item in each(value) if accepts(item)]
            except _PathFault as fault:
                raise _PathFault(str(fault), values) from None
        return items

    return filter_items


def _compare_values(operator: str, left: Any, right: Any) -> bool:
    """Return whether a comparison holds.

    Only values of one type are comparable: an integer is not a float, and booleans have no order.
    """
    kind = type(left)
    if kind is not type(right) or kind not in _COMPARABLE or (kind is bool and operator not in ("==", "!=")):
        raise _PathFault("incompatible types for comparison", [])
    return bool(_COMPARISONS[operator](left, right))
