"""Parses a path into steps. As client-go does, it accepts unknown syntax where possible."""

from __future__ import annotations

import re

from podless.meta.jsonpath.steps import (
    FieldStep,
    Step,
    descend_values,
    make_comparison,
    make_constant,
    make_existence_filter,
    make_union,
    parse_array,
    refuse_word,
    repeat_literal,
    take_items,
)
from podless.runtime.lazy import compile_late
from podless.runtime.meter import each

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


class TemplateParser:
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
        """Parse a number."""
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
    """Return the steps inside an action."""
    return TemplateParser(f"{{{text}}}").parse_template()[0]


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
