"""JSON texts as Go's encoding/json reads them: the errors of its scanner, duplicate keys, repaired bytes.

The codec comes here only if orjson rejects a body or duplicate keys are suspected. Most work is done at the speed of C,
so that a hostile body costs little. orjson stops at most one token before the position that Go reports. So the scanner
begins at the last bracket, comma or colon before it; the open containers are found from the brackets alone.
"""

from __future__ import annotations

import json
import math
import re
from collections import deque
from itertools import accumulate
from typing import Any, NoReturn

import orjson

from podless.codec import gotext
from podless.codec.gotext import MAX_INT64, MIN_INT64
from podless.runtime.lazy import compile_late
from podless.runtime.meter import charge

# Go allows 10000 levels; podless could not encode deeper values than these again.
MAX_DEPTH = 250
_MAX_REPEATS = 100  # duplicate keys that kube-apiserver reports
_MAX_CHARACTERS = 1 << 22  # characters of all findings, because one key of a large text can be in the paths of many

INVALID_BYTES = compile_late("[\udc80-\udcff]")  # invalid UTF-8, as surrogateescape decodes it
BLANKS = compile_late(r"[ \t\r\n]*+")
_STRING = compile_late(r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"')
_STRING_PART = compile_late(r'(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+')
_NUMBER = compile_late(r"-?(?:0|[1-9][0-9]*+)(\.[0-9]++)?([eE][+-]?[0-9]++)?")
_LITERALS = {"t": "true", "f": "false", "n": "null"}
_AFTER_VALUE = {"[": ("]", "after array element"), "{": ("}", "after object key:value pair")}
# any string, or an unterminated one up to the end of the text: no position is read twice
_ANY_STRING = compile_late(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_HALF = rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
_PAIR = rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_UP_TO_HALF = compile_late(rb"((?:[^\\]++|" + _PAIR + rb"|(?!" + _HALF + rb")\\.)*+)(" + _HALF + rb")?", re.DOTALL)


class JSONError(ValueError):
    """A text is not JSON. message: the error of Go's decoder."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class OutOfRange(JSONError):
    """A number in JSON that does not fit a float64."""


class YAMLError(JSONError):
    """A text is not YAML, or has no JSON form. The text is the error of a Go server."""


def decode_utf8(raw: bytes) -> str:
    """Decode bytes with one U+FFFD for each byte of invalid UTF-8, as Go's strings print.

    Python's "replace" would write one for a whole sequence.
    """
    text = raw.decode("utf-8", "surrogateescape")
    return text if text.isascii() else INVALID_BYTES.sub("\ufffd", text)


def settle_number(value: float) -> int | float:
    """Return a float64 as it is after Go has encoded and decoded it.

    Go writes floats below 1e21 without an exponent, so whole ones come back as integers: 1.0 is 1, and 2**63 is
    9223372036854776000, its shortest digits padded with zeros.
    """
    number = float(value)
    if not number.is_integer() or abs(number) >= 1e21:
        return number
    return int(gotext.shortest_decimal(number))


def parse_number(text: str) -> int | float:
    """Return the value of a number token, by Go's rules. Raises OutOfRange beyond a float64."""
    if not text.strip("-0123456789") and len(text) <= 20:
        integer = int(text)
        if MIN_INT64 <= integer <= MAX_INT64:
            return integer
    number = float(text)
    if math.isinf(number):
        raise _make_out_of_range(text)
    return settle_number(number)


def _make_out_of_range(text: str) -> OutOfRange:
    return OutOfRange(f"json: cannot unmarshal number {text} into Go value of type float64")


def repair_text(raw: bytes) -> bytes:
    """Return the text with U+FFFD in place of invalid UTF-8 and unpaired surrogates."""
    try:
        raw.decode()
    except UnicodeDecodeError:
        raw = decode_utf8(raw).encode()
    return _replace_surrogates(raw)


def _replace_surrogates(raw: bytes) -> bytes:
    if b"\\ud" not in raw and b"\\uD" not in raw:
        return raw
    return _UP_TO_HALF.sub(lambda match: match[1] + b"\\ufffd" if match[2] else match[1], raw)


def find_json_fault(raw: bytes) -> JSONError:
    """Return the error of Go's scanner for a text that is not JSON, or is nested too deep."""
    # with the same number of bytes, so that offsets are those of the original
    repaired = INVALID_BYTES.sub("?", raw.decode("utf-8", "surrogateescape")).encode()
    try:
        orjson.loads(_replace_surrogates(repaired))
        end = len(raw)
    except orjson.JSONDecodeError as error:
        end = len(error.doc[: error.pos].encode())
    deep = _find_too_deep(_extract_brackets(raw[:end]))
    if deep:
        return JSONError(f"invalid character '{deep}' exceeded max depth")
    at = _find_boundary(raw, end)
    try:
        if at is None:
            _Scanner(raw, "").scan_text()
        else:
            before = _extract_brackets(raw[: at + 1] if raw[at] in b"]}" else raw[:at])
            _Scanner(raw, _list_open(before)).scan_from(at)
    except JSONError as error:
        return error
    return JSONError("invalid JSON")  # only reached if the scanner accepts a text that orjson rejects


def _extract_brackets(text: bytes) -> bytes:
    """Return the brackets outside of strings, also without those in an unterminated string."""
    return _ANY_STRING.sub(b"", text).translate(None, _NO_BRACKETS)


def _find_too_deep(brackets: bytes) -> str:
    """Return the bracket that exceeds the maximum depth, or ""."""
    if brackets.count(b"[") + brackets.count(b"{") <= MAX_DEPTH:
        return ""
    charge(len(brackets))
    depths = accumulate(map(_STEPS.__getitem__, brackets))
    index = next((index for index, depth in enumerate(depths) if depth > MAX_DEPTH), -1)
    return chr(brackets[index]) if index >= 0 else ""


def _find_boundary(raw: bytes, end: int) -> int | None:
    """Return the offset of the last bracket, comma or colon before `end` outside of strings."""
    last = deque(_ANY_STRING.finditer(raw, 0, end), maxlen=2)
    gap_ends = [end, *(string.start() for string in reversed(last))]
    gap_starts = [*(string.end() for string in reversed(last)), 0]
    for start, stop in zip(gap_starts, gap_ends, strict=True):
        offset = max(raw.rfind(sign, start, stop) for sign in (b"{", b"}", b"[", b"]", b",", b":"))
        if offset >= 0:
            return offset
    return None


def _list_open(brackets: bytes) -> str:
    """Return the brackets that are still open after some brackets."""
    still_open = []
    closed = 0
    charge(len(brackets))
    for sign in reversed(brackets):
        if sign in b"]}":
            closed += 1
        elif closed:
            closed -= 1
        else:
            still_open.append(chr(sign))
    return "".join(reversed(still_open))


def find_repeats(raw: bytes) -> list[str]:
    """Return the paths of duplicate keys in a valid JSON text, in its order."""
    repeated: dict[int, tuple[Any, list[tuple[str, Any]]]] = {}

    def collect_pairs(entries: list[tuple[str, Any]]) -> Any:
        obj = dict(entries)
        charge(1 + len(entries))
        if len(obj) != len(entries):
            repeated[id(obj)] = (obj, entries)
        return obj

    value = json.loads(raw, object_pairs_hook=collect_pairs, parse_int=bool, parse_float=bool)
    return _describe_repeats(value, repeated) if repeated else []


def _describe_repeats(value: Any, objects_with_repeats: dict[int, tuple[Any, list[tuple[str, Any]]]]) -> list[str]:
    """Return the paths of duplicate keys in objects. A path is built only if it is reported."""
    results: list[str] = []
    room = _MAX_CHARACTERS
    indexes: dict[tuple[int, str | int], int] = {}
    # by index of a container: the index of its parent, and the step from there
    parents: list[tuple[int, str | int]] = [(-1, "")]
    reported: set[tuple[int, str]] = set()
    # of each open container: its index, its remaining entries, and the keys so far if some are duplicate
    open_containers: list[tuple[int, Any, Any]] = []

    def enter_container(item: Any, index: int) -> None:
        if item.__class__ is list:
            open_containers.append((index, enumerate(item), None))
        elif item.__class__ is dict:
            repeated = objects_with_repeats.get(id(item))
            items = item.items() if repeated is None else repeated[1]
            open_containers.append((index, iter(items), None if repeated is None else set()))

    enter_container(value, 0)
    while open_containers and len(results) < _MAX_REPEATS and room > 0:
        index, entries, seen = open_containers[-1]
        charge(1)
        entry = next(entries, None)
        if entry is None:
            open_containers.pop()
            continue
        key, item = entry
        if seen is not None:
            if key in seen and (index, key) not in reported:
                reported.add((index, key))
                results.append(_format_path(parents, index, key))
                room -= len(results[-1])
            seen.add(key)
        if item.__class__ is list or item.__class__ is dict:
            child_index = indexes.get((index, key))
            if child_index is None:
                child_index = indexes[index, key] = len(parents)
                parents.append((index, key))
            enter_container(item, child_index)
    return results


def _format_path(parents: list[tuple[int, str | int]], index: int, key: str) -> str:
    steps: list[str | int] = [key]
    while index:
        index, step = parents[index]
        steps.append(step)
    while len(steps) > 1 and steps[-1] == "":  # no dot before the first name
        steps.pop()
    return "".join(f"[{step}]" if step.__class__ is int else f".{step}" for step in reversed(steps)).removeprefix(".")


class _Scanner:
    """Scans a text for the error of Go's scanner. holders: the brackets that are open where the scan begins.

    The text is Latin-1, because Go's errors name the byte at which it stops. A space is added, as Go feeds one to its
    scanner to see whether a number or literal is complete.
    """

    def __init__(self, raw: bytes, holders: str) -> None:
        self.text = raw.decode("latin-1") + " "
        self.end = len(raw)
        self.too_large = ""  # the first number out of range, reported last: Go scans the whole text first
        self.stack = [*holders]

    def scan_text(self) -> None:
        self.scan_rest(*self.scan_value(self.skip_blanks(0)))

    def scan_from(self, at: int) -> None:
        """Scan from a bracket, comma or colon on."""
        sign = self.text[at]
        if sign in "{[":
            self.scan_rest(*self.open_container(sign, at))
        elif sign in "}]":
            self.scan_rest(True, at + 1)
        else:
            pos = self.skip_blanks(at + 1)
            self.scan_rest(False, self.scan_key(pos) if sign == "," and self.stack[-1] == "{" else pos)

    def scan_rest(self, complete: bool, pos: int) -> None:
        """Scan what follows a complete value, or the first value of a container."""
        while True:
            charge(1)
            while complete:
                if not self.stack:
                    pos = self.skip_blanks(pos)
                    if pos < self.end:
                        self.fail(pos, "after top-level value")
                    if self.too_large:
                        raise _make_out_of_range(self.too_large)
                    return
                charge(1)
                complete, pos = self.scan_after_value(self.skip_blanks(pos))
            complete, pos = self.scan_value(pos)

    def scan_value(self, pos: int) -> tuple[bool, int]:
        """Return whether the value is complete, and the next position: a container's first value otherwise."""
        char = self.text[pos]
        if char in "{[":
            return self.open_container(char, pos)
        if char == '"':
            return True, self.scan_string(pos)
        if char in _LITERALS:
            return True, self.scan_literal(pos)
        if char != "-" and not char.isdecimal():
            self.fail(pos, "looking for beginning of value")
        return True, self.scan_number(pos)

    def open_container(self, char: str, pos: int) -> tuple[bool, int]:
        if len(self.stack) >= MAX_DEPTH:
            self.fail(pos, "exceeded max depth")
        inside = self.skip_blanks(pos + 1)
        if self.text[inside] == _AFTER_VALUE[char][0]:
            return True, inside + 1
        self.stack.append(char)
        return False, self.scan_key(inside) if char == "{" else inside

    def scan_after_value(self, pos: int) -> tuple[bool, int]:
        """Scan a comma or closing bracket. Returns as `scan_value` does, for the container or its next value."""
        holder, char = self.stack[-1], self.text[pos]
        if char == ",":
            pos = self.skip_blanks(pos + 1)
            return False, self.scan_key(pos) if holder == "{" else pos
        closing, context = _AFTER_VALUE[holder]
        if char != closing:
            self.fail(pos, context)
        self.stack.pop()
        return True, pos + 1

    def scan_key(self, pos: int) -> int:
        """Scan a key and its colon, and return the position of the value."""
        if self.text[pos] != '"':
            self.fail(pos, "looking for beginning of object key string")
        pos = self.skip_blanks(self.scan_string(pos))
        if self.text[pos] != ":":
            self.fail(pos, "after object key")
        return self.skip_blanks(pos + 1)

    def scan_string(self, pos: int) -> int:
        match = _STRING.match(self.text, pos, self.end)
        if not match:
            self.fail_string(pos + 1)
        return match.end()

    def fail_string(self, pos: int) -> NoReturn:
        part = _STRING_PART.match(self.text, pos, self.end)
        pos = part.end() if part else pos
        if self.text[pos] != "\\":
            self.fail(pos, "in string literal")
        pos += 1
        if self.text[pos] != "u":
            self.fail(pos, "in string escape code", at_end=True)
        while self.text[pos + 1] in "0123456789abcdefABCDEF":
            pos += 1
        self.fail(pos + 1, "in \\u hexadecimal character escape", at_end=True)

    def scan_literal(self, pos: int) -> int:
        word = _LITERALS[self.text[pos]]
        for offset, expected in enumerate(word):
            if self.text[pos + offset] != expected:
                self.fail(pos + offset, f"in literal {word} (expecting '{expected}')", at_end=True)
        return pos + len(word)

    def scan_number(self, pos: int) -> int:
        match = _NUMBER.match(self.text, pos)
        if not match:
            self.fail(pos + 1, "in numeric literal", at_end=True)
        after = match.end()
        if self.text[after] == "." and not match[1] and not match[2]:
            self.fail(after + 1, "after decimal point in numeric literal", at_end=True)
        if self.text[after] in "eE" and not match[2]:
            signed = self.text[after + 1] in "+-"
            self.fail(after + 1 + signed, "in exponent of numeric literal", at_end=True)
        if not self.too_large and math.isinf(float(match[0])):
            self.too_large = match[0]
        return after

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
