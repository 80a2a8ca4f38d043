"""JSONPath as additionalPrinterColumns use it, compiled once into closures.

Source: k8s.io/client-go util/jsonpath and the recorded tables: fields with escaped dots, ['keys'], indices, slices with
steps, [*], unions, filters with one comparison or none, recursive descent. A path may have errors that show only on an
object (an index of what is no list, values that do not compare); it then finds nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from podless.meta.bounded import bounded_cache

Values = list[Any]
Step = Callable[[Values], Values]

_CACHED = 4096
_KEY = re.compile(r"'([^']*)'")
_SLICE = re.compile(r"(-?[0-9]*)(:-?[0-9]*)?(:-?[0-9]*)?")
_FILTER = re.compile(r"([^!<>=]+)([!<>=]+)(.+?)")
_NUMBER = re.compile(r"[-+]?[0-9.]*")
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.))", re.DOTALL)
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\", "'": "'", '"': '"'}
_PLAIN = re.compile(r"(?:\.[A-Za-z]+)+")  # names of fields and nothing else, as most paths are
_ENDS = frozenset(" \t\r\n.,[]$@{}")


class Fault(Exception):
    """A path cannot be followed in an object. partial: what a filter that asks for existence takes for found."""

    def __init__(self, message: str, partial: Values) -> None:
        super().__init__(message)
        self.partial = partial


class Path:
    """A compiled path."""

    __slots__ = ("_names", "_nodes", "text")

    def __init__(self, text: str, nodes: list[list[Step]]) -> None:
        self.text = text
        self._nodes = nodes
        self._names = text[1:].split(".") if _PLAIN.fullmatch(text) else None

    def find(self, obj: Any) -> Values:
        """The values that the path leads to, in order; none where it cannot be followed."""
        if self._names is not None:
            for name in self._names:
                if type(obj) is not dict or name not in obj:
                    return []
                obj = obj[name]
            return [obj]
        try:
            found = [_run(steps, [obj]) for steps in self._nodes]
        except Fault:
            return []
        return found[0]

    def first(self, obj: Any, default: Any = None) -> Any:
        """The first value that the path leads to, or the default where there is none."""
        found = self.find(obj)
        return found[0] if found else default


@bounded_cache(_CACHED)
def parse(text: str) -> Path:
    """A path as additionalPrinterColumns have it, such as .spec.x, compiled. Raises ValueError for a malformed one."""
    return Path(text, _Parser(f"{{{text}}}").template())


def _run(steps: Iterable[Step], values: Values) -> Values:
    for step in steps:
        values = step(values)
    return values


class _Parser:
    """Reads a template: text, and actions in braces. Like its model it takes what it does not know as far as it can."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pos = 0
        self.recursive = False

    def template(self) -> list[list[Step]]:
        """The nodes of the template, each a list of steps."""
        nodes: list[list[Step]] = []
        while self.pos < len(self.text):
            if self.text[self.pos] == "{":
                self.pos += 1
                nodes.append(self.action())
                continue
            start = self.pos
            self.pos = min(found for found in (self.text.find("{", start), len(self.text)) if found >= 0)
            nodes.append([_constant(self.text[start : self.pos])])
        return nodes

    def action(self) -> list[Step]:
        """The steps up to the closing brace."""
        steps: list[Step] = []
        while True:
            rest = self.text[self.pos : self.pos + 3]
            char = rest[:1]
            after_descent, self.recursive = self.recursive, False
            if char == "}":
                self.pos += 1
                return steps
            if rest == "[?(":
                steps.append(self.filter())
            elif rest[:2] == "..":
                if after_descent:
                    raise ValueError("invalid multiple recursive descent")
                steps += self.descent()
            elif char in ("", "\r", "\n"):
                raise ValueError("unclosed action")
            elif char in " @$":
                self.pos += 1
                self.recursive = after_descent
            elif char == "[":
                steps += self.array()
            elif char in "\"'":
                steps.append(_constant(self.quoted(char)))
            elif char == ".":
                self.pos += 1
                steps.append(self.field())
            elif char in "+-" or char.isdecimal():
                steps.append(_repeat(self.number()))
            elif char == "_" or char.isalpha():
                steps.append(self.word())
            else:
                raise ValueError(f"unrecognized character in action: U+{ord(char):04X} '{char}'")

    def descent(self) -> list[Step]:
        self.pos += 2
        char = self.text[self.pos : self.pos + 1]
        if char == "_" or char.isalnum():
            return [_descend, self.field()]
        self.recursive = True
        return [_descend]

    def field(self) -> Step:
        """A field's name, up to a character that ends it and is not escaped."""
        start = self.pos
        while self.pos < len(self.text) and self.text[self.pos] not in _ENDS:
            self.pos += 2 if self.text[self.pos] == "\\" else 1
        self.pos = min(self.pos, len(self.text))
        name = self.text[start : self.pos]
        return _wildcard if name == "*" else _field(name.replace("\\", ""))

    def word(self) -> Step:
        start = self.pos
        while self.pos < len(self.text) and self.text[self.pos] not in _ENDS:
            self.pos += 1
        name = self.text[start : self.pos]
        return _repeat(name == "true") if name in ("true", "false") else _unknown(name)

    def number(self) -> int | float:
        match = _NUMBER.match(self.text, self.pos)
        text = match.group() if match else ""
        self.pos += len(text)
        try:
            return int(text) if "." not in text and len(text) < 20 else float(text)
        except ValueError:
            raise ValueError(f"cannot parse number {text}") from None

    def quoted(self, quote: str) -> str:
        start = self.pos
        while True:
            self.pos += 1
            char = self.text[self.pos : self.pos + 1]
            if char in ("", "\n"):
                raise ValueError("unterminated quoted string")
            if char == quote and self.text[self.pos - 1] != "\\":
                break
        self.pos += 1
        return _unquote(self.text[start : self.pos])

    def array(self) -> list[Step]:
        """What is in brackets: an index, a slice, a key, or several of these."""
        end = next((i for i in range(self.pos, len(self.text)) if self.text[i] in "]\n"), len(self.text))
        if self.text[end : end + 1] != "]":
            raise ValueError("unterminated array")
        text = self.text[self.pos + 1 : end]
        self.pos = end + 1
        text = ":" if text == "*" else text
        parts = text.split(",")
        if len(parts) > 1:
            return [_union([_nested(f"[{part.strip(' ')}]") for part in parts])]
        if key := _KEY.fullmatch(text):
            return _nested(f".{key[1]}")
        return [_array(text)]

    def filter(self) -> Step:
        """A filter: what is compared, the operator, and what with; brackets within quotes do not end it."""
        start = self.pos = self.pos + 3
        quote = ""
        closed = False
        while True:
            char = self.text[self.pos : self.pos + 1]
            self.pos += 1
            if char in ("", "\n"):
                raise ValueError("unterminated filter")
            if char in "\"'":
                if not quote:
                    quote = char
                elif char == quote and self.text[self.pos - 2] != "\\":
                    closed = True
            elif char == ")" and bool(quote) == closed:
                break
        text = self.text[start : self.pos - 1]
        if self.text[self.pos : self.pos + 1] != "]":
            raise ValueError("unclosed array expect ]")
        self.pos += 1
        parts = _FILTER.fullmatch(text)
        if not parts:
            return _existing(_nested(text))
        return _comparing(_nested(parts[1]), parts[2], _nested(parts[3]))


def _nested(text: str) -> list[Step]:
    """The steps of an action's inside."""
    nodes = _Parser(f"{{{text}}}").template()
    return nodes[0]


def _unquote(text: str) -> str:
    inside, quote = text[1:-1], text[0]
    if len(text) < 2:
        raise ValueError(f"unquote string {text} error invalid syntax")
    if "\\" not in inside:
        return inside

    def plain(match: re.Match[str]) -> str:
        *codes, other = match.groups()
        for code, base in zip(codes, (16, 16, 16, 8), strict=True):
            if code is not None and int(code, base) < 0x110000:
                return chr(int(code, base))
        if other not in _ESCAPES or (other in "'\"" and other != quote):
            raise ValueError(f"unquote string {text} error invalid syntax")
        return _ESCAPES[other]

    return _ESCAPE.sub(plain, inside)


def _constant(value: str) -> Step:
    return lambda values: [value]


def _repeat(value: float | bool) -> Step:
    return lambda values: [value] * len(values)


def _unknown(name: str) -> Step:
    def step(values: Values) -> Values:
        raise Fault(f"unrecognized identifier {name}", values)

    return step


def _field(name: str) -> Step:
    return lambda values: [value[name] for value in values if type(value) is dict and name in value]


def _children(value: Any) -> Values:
    if type(value) is dict:
        return list(value.values())
    if type(value) is list:
        return value
    return list(value.encode()) if isinstance(value, str) else []


def _wildcard(values: Values) -> Values:
    return [child for value in values for child in _children(value)]


def _descend(values: Values) -> Values:
    """Everything at and below the values that has something in it, the outer before the inner."""
    found: Values = []
    rest = values[::-1]
    while rest:
        value = rest.pop()
        if children := _children(value):
            found.append(value)
            if not isinstance(value, str):
                rest += reversed(children)
    return found


def _union(parts: list[list[Step]]) -> Step:
    def step(values: Values) -> Values:
        try:
            return [value for part in parts for value in _run(part, values)]
        except Fault as fault:
            raise Fault(str(fault), values) from None

    return step


def _array(text: str) -> Step:
    """An index or slice; the end of a lone index is the one behind it."""
    match = _SLICE.fullmatch(text)
    if not match:
        raise ValueError(f"invalid array index {text}")
    start, stop, stride = (_whole(part.lstrip(":")) if part and part != ":" else None for part in match.groups())
    lone = not match[2]
    stop = (start or 0) + 1 if lone else stop

    def step(values: Values) -> Values:
        found: Values = []
        for value in values:
            if value is None:
                continue
            if type(value) is not list:
                raise Fault("what is indexed is not a list", values)
            count = len(value)
            first = (start or 0) + count * ((start or 0) < 0)
            last = count if stop is None else stop + count * (stop < 0 or (stop == 0 and lone))
            if first == last:
                return found
            if not (0 <= first < count and first <= last <= count) or (stride is not None and stride <= 0):
                raise Fault("the index is out of bounds", values)
            found += islice(value, first, last, stride or 1)
        return found

    return step


def _whole(text: str) -> int:
    if not text.strip("-") or len(text) > 19:
        raise ValueError(f"array index {text} is not a number")
    return int(text)


def _existing(inner: list[Step]) -> Step:
    def holds(value: Any) -> bool:
        try:
            return bool(_run(inner, [value]))
        except Fault as fault:
            return bool(fault.partial)

    return _filtered(holds)


def _comparing(left: list[Step], operator: str, right: list[Step]) -> Step:
    def holds(value: Any) -> bool:
        sides = []
        for steps in (left, right):
            found = _run(steps, [value])
            if not found:
                return False
            if len(found) > 1:
                raise Fault("can only compare one element at a time", [])
            sides.append(found[0])
        if operator not in _COMPARISONS:
            raise Fault(f"unrecognized filter operator {operator}", [])
        return _compare(operator, *sides)

    return _filtered(holds)


def _filtered(holds: Callable[[Any], bool]) -> Step:
    def step(values: Values) -> Values:
        found: Values = []
        for value in values:
            if type(value) is not list:
                raise Fault("what is filtered is not a list", values)
            try:
                found += [item for item in value if holds(item)]
            except Fault as fault:
                raise Fault(str(fault), values) from None
        return found

    return step


_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": lambda one, other: bool(one == other),
    "!=": lambda one, other: bool(one != other),
    "<": lambda one, other: bool(one < other),
    "<=": lambda one, other: bool(one <= other),
    ">": lambda one, other: bool(one > other),
    ">=": lambda one, other: bool(one >= other),
}
_COMPARABLE = {str, int, float, bool}


def _compare(operator: str, one: Any, other: Any) -> bool:
    """Compares values of one type only: no integer is a float, and booleans have no order."""
    kind = type(one)
    if kind is not type(other) or kind not in _COMPARABLE or (kind is bool and operator not in ("==", "!=")):
        raise Fault("incompatible types for comparison", [])
    return _COMPARISONS[operator](one, other)
