"""JSONPath of additionalPrinterColumns, compiled into closures.

Source: k8s.io/client-go util/jsonpath and the recorded tables: fields with escaped dots, ['keys'], indices, slices with
steps, [*], unions, filters with one comparison or none, recursive descent. Some errors show only on an object, such as
an index into a value that is not a list; the path then finds nothing.
"""

from __future__ import annotations

import re
from typing import Any

from podless.meta.jsonpath.steps import (
    FieldStep,
    PathFault,
    Step,
    Values,
    descend_values,
    make_comparison,
    make_constant,
    make_existence_filter,
    make_union,
    parse_array,
    refuse_word,
    repeat_literal,
    run_steps,
    take_items,
)
from podless.runtime.bounded import bounded_cache
from podless.runtime.lazy import compile_late
from podless.runtime.meter import charge, each

_CACHED = 4096
_CHARGE_INTERVAL = 512  # values examined between two charges
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


class Searched:
    """An object that several paths search. The values at and below it are collected once for all of them."""

    __slots__ = ("_collected", "_named", "obj")

    def __init__(self, obj: Any) -> None:
        self.obj = obj
        self._collected: Values | None = None
        self._named: dict[str, Values] | None = None

    def follow_steps(self, steps: list[Step]) -> Values:
        """Return the values that the steps of a path lead to. Raises PathFault."""
        if not steps or steps[0] is not descend_values:
            return run_steps(steps, [self.obj])
        if self._collected is None:
            self._collected = descend_values([self.obj])
        if len(steps) < 2 or not isinstance(steps[1], FieldStep):
            return run_steps(steps[1:], self._collected)
        if self._named is None:
            self._named = _group_by_name(self._collected)
        return run_steps(steps[2:], self._named.get(steps[1].name, []))


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
        self.descends = any(steps and steps[0] is descend_values for steps in nodes)

    def find(self, obj: Any) -> Values:
        """Return the values of the path, in order; none if it cannot be followed.

        obj: may be a Searched.
        """
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
        except PathFault:
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
                nodes.append([make_constant(self.take_match(_TEXT)[0])])
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
                steps.append(make_constant(_unquote(self.take_match(_STRING, "unterminated quoted string")[0])))
            elif char == ".":
                self.pos += 1
                steps.append(self.parse_field())
            elif char in "+-" or char.isdecimal():
                steps.append(repeat_literal(self.parse_number()))
            elif char == "_" or char.isalpha():
                steps.append(self.parse_word())
            else:
                raise ValueError(f"unrecognized character in action: U+{ord(char):04X} '{char}'")

    def parse_descent(self) -> list[Step]:
        """Parse two dots, and the field after them, if there is one."""
        self.pos += 2
        char = self.text[self.pos : self.pos + 1]
        if char == "_" or char.isalnum():
            return [descend_values, self.parse_field()]
        self.recursive = True
        return [descend_values]

    def parse_field(self) -> Step:
        """Parse a field's name, up to an unescaped character that ends it."""
        name = self.take_match(_NAME)[0]
        return take_items if name == "*" else FieldStep(name.replace("\\", ""))

    def parse_word(self) -> Step:
        """Parse a word without quotes. Only true and false have a meaning."""
        name = self.take_match(_WORD)[0]
        return repeat_literal(name == "true") if name in ("true", "false") else refuse_word(name)

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
            return [make_union([_parse_nested(f"[{piece.strip(' ')}]") for piece in pieces])]
        if key := _KEY.fullmatch(text):
            return _parse_nested(f".{key[1]}")
        return [parse_array(text)]

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
                return make_comparison(_parse_nested(left_path), operator, _parse_nested(right))
        return make_existence_filter(_parse_nested(text))


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
