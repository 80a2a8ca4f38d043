"""A parser of JSON text that works token by token as Go's encoding/json does: what the codec is compared with."""

from __future__ import annotations

import re
from typing import Any, NoReturn

from podless.codec import gotext
from podless.codec.jsontext import BLANKS, MAX_DEPTH, JSONError, OutOfRange, decode_utf8, parse_number
from podless.runtime.lazy import compile_late

_MAX_REPEATS = 100  # as many as kube-apiserver reports
_STRING = compile_late(r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"')
_STRING_PART = compile_late(r'(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+')
_NUMBER = compile_late(r"-?(?:0|[1-9][0-9]*+)(\.[0-9]++)?([eE][+-]?[0-9]++)?")
_PAIR = r"\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})"
_ESCAPE = compile_late(_PAIR + r"|\\u([0-9a-f]{4})|\\(.)", re.IGNORECASE)
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_LITERALS: dict[str, tuple[str, Any]] = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}


def parse_json(raw: bytes, repeated: list[str] | None = None) -> Any:
    """Return the value of a text. repeated: the paths of duplicate keys are added to it.

    Raises JSONError with the words of Go's scanner.
    """
    return JSONParser(raw, repeated).parse_text()


class JSONParser:
    """One parse of a text, as Latin-1, because Go's errors name the byte at which it stops.

    The parser adds a space to the text, as Go feeds one to its scanner to see whether a number or literal is complete.
    """

    def __init__(self, raw: bytes, repeated: list[str] | None = None) -> None:
        self.text = raw.decode("latin-1") + " "
        self.end = len(raw)
        self.repeated = repeated
        self.large: JSONError | None = None  # the first too large number, reported last: Go scans the whole text first
        self.stack: list[Any] = []
        self.keys: list[str] = []  # the current key of every open container; "" for lists

    def parse_text(self) -> Any:
        """Return the value of the whole text."""
        return self.parse_rest(*self.parse_value(self.skip_blanks(0)))

    def parse_rest(self, value: Any, pos: int) -> Any:
        """Return the value of the text, of which `value` has been parsed. _OPEN: a container starts."""
        while True:
            while value is not _OPEN:
                if not self.stack:
                    pos = self.skip_blanks(pos)
                    if pos < self.end:
                        self.fail(pos, "after top-level value")
                    large, self.large = self.large, None
                    if large is None:
                        return value
                    try:
                        raise large
                    finally:
                        del large  # its traceback refers to this frame, which holds the text
                value, pos = self.add_value(value, self.skip_blanks(pos))
            value, pos = self.parse_value(pos)

    def resume_at(self, holders: str, at: int) -> Any:
        """Parse on from a bracket, comma or colon. holders: the brackets that are open there."""
        self.stack += ({} if holder == "{" else [] for holder in holders)
        self.keys += holders
        sign = self.text[at]
        if sign in "{[":
            return self.parse_rest(*self.open_container(sign, at))
        if sign in "}]":
            return self.parse_rest(None, at + 1)
        pos = self.skip_blanks(at + 1)
        return self.parse_rest(_OPEN, self.parse_key(pos) if sign == "," and holders[-1] == "{" else pos)

    def parse_value(self, pos: int) -> tuple[Any, int]:
        """Return the value at pos, or _OPEN if a container starts there."""
        char = self.text[pos]
        if char == '"':
            return self.parse_string(pos)
        if char in "{[":
            return self.open_container(char, pos)
        if char in _LITERALS:
            return self.parse_literal(pos)
        if char != "-" and not char.isdecimal():
            self.fail(pos, "looking for beginning of value")
        return self.parse_number(pos)

    def open_container(self, char: str, pos: int) -> tuple[Any, int]:
        if len(self.stack) >= MAX_DEPTH:
            self.fail(pos, "exceeded max depth")
        inside = self.skip_blanks(pos + 1)
        if self.text[inside] == ("}" if char == "{" else "]"):
            return ({} if char == "{" else []), inside + 1
        self.keys.append("")
        if char == "[":
            self.stack.append([])
            return _OPEN, inside
        self.stack.append({})
        return _OPEN, self.parse_key(inside)

    def add_value(self, value: Any, pos: int) -> tuple[Any, int]:
        """Add a value to its container. Returns the container if it ends here, else _OPEN."""
        holder = self.stack[-1]
        char = self.text[pos]
        if isinstance(holder, list):
            holder.append(value)
            if char == ",":
                return _OPEN, self.skip_blanks(pos + 1)
            closing, context = "]", "after array element"
        else:
            holder[self.keys[-1]] = value
            if char == ",":
                return _OPEN, self.parse_key(self.skip_blanks(pos + 1))
            closing, context = "}", "after object key:value pair"
        if char != closing:
            self.fail(pos, context)
        self.keys.pop()
        return self.stack.pop(), pos + 1

    def parse_key(self, pos: int) -> int:
        """Parse a key and its colon, and return the position of the value."""
        if self.text[pos] != '"':
            self.fail(pos, "looking for beginning of object key string")
        key, pos = self.parse_string(pos)
        pos = self.skip_blanks(pos)
        if self.text[pos] != ":":
            self.fail(pos, "after object key")
        self.keys[-1] = key
        if self.repeated is not None and key in self.stack[-1]:
            self.note_repeated(self.repeated)
        return self.skip_blanks(pos + 1)

    def note_repeated(self, repeated: list[str]) -> None:
        path = ""
        for holder, key in zip(self.stack, self.keys, strict=True):
            path += f"[{len(holder)}]" if isinstance(holder, list) else f".{key}" if path else key
        if len(repeated) < _MAX_REPEATS and path not in repeated:
            repeated.append(path)

    def parse_string(self, pos: int) -> tuple[str, int]:
        match = _STRING.match(self.text, pos, self.end)
        if not match:
            self.fail_string(pos + 1)
        text = decode_utf8(match.group()[1:-1].encode("latin-1"))
        return (_ESCAPE.sub(_unescape_match, text) if "\\" in text else text), match.end()

    def fail_string(self, pos: int) -> NoReturn:
        match = _STRING_PART.match(self.text, pos, self.end)
        pos = match.end() if match else pos
        if self.text[pos] != "\\":
            self.fail(pos, "in string literal")
        pos += 1
        if self.text[pos] != "u":
            self.fail(pos, "in string escape code", at_end=True)
        while self.text[pos + 1] in "0123456789abcdefABCDEF":
            pos += 1
        self.fail(pos + 1, "in \\u hexadecimal character escape", at_end=True)

    def parse_literal(self, pos: int) -> tuple[Any, int]:
        word, value = _LITERALS[self.text[pos]]
        for offset, expected in enumerate(word):
            if self.text[pos + offset] != expected:
                self.fail(pos + offset, f"in literal {word} (expecting '{expected}')", at_end=True)
        return value, pos + len(word)

    def parse_number(self, pos: int) -> tuple[Any, int]:
        match = _NUMBER.match(self.text, pos)
        if not match:
            self.fail(pos + 1, "in numeric literal", at_end=True)
        after = match.end()
        if self.text[after] == "." and not match[1] and not match[2]:
            self.fail(after + 1, "after decimal point in numeric literal", at_end=True)
        if self.text[after] in "eE" and not match[2]:
            signed = self.text[after + 1] in "+-"
            self.fail(after + 1 + signed, "in exponent of numeric literal", at_end=True)
        try:
            return parse_number(match.group()), after
        except OutOfRange as error:
            self.large = self.large or error
            return 0, after

    def skip_blanks(self, pos: int) -> int:
        """Return the next position that is not white space, or the end of the text."""
        match = BLANKS.match(self.text, pos, self.end)
        return match.end() if match else pos

    def fail(self, pos: int, context: str, *, at_end: bool = False) -> NoReturn:
        """Raise the error. at_end: Go reports the space that it adds to the text."""
        if pos >= self.end and not at_end:
            raise JSONError("unexpected end of JSON input")
        char = self.text[pos]
        quoted_char = "\\'" if char == "'" else '"' if char == '"' else gotext.quote(char)[1:-1]
        raise JSONError(f"invalid character '{quoted_char}' {context}")


_OPEN = object()


def _unescape_match(match: re.Match[str]) -> str:
    high, low, single, simple = match.groups()
    if high:
        return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00)
    if single:
        code = int(single, 16)
        return "\ufffd" if 0xD800 <= code < 0xE000 else chr(code)
    return _ESCAPED.get(simple, simple)
