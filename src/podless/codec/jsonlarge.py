"""The findings of jsontext for large texts, at the speed of C, so that a hostile body costs little.

orjson stops at most one token before the position that Go reports. So jsontext must parse only from the last bracket,
comma or colon before it; the open containers are found from the brackets alone.
"""

from __future__ import annotations

import json
import re
from collections import deque
from itertools import accumulate
from typing import Any

import orjson

from podless.codec import jsontext
from podless.codec.jsontext import JSONError
from podless.runtime.lazy import compile_late
from podless.runtime.meter import charge

# a string, or an unterminated one up to the end of the text: no position is read twice
_STRING = compile_late(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_HALF = rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
_PAIR = rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_UP_TO_HALF = compile_late(rb"((?:[^\\]++|" + _PAIR + rb"|(?!" + _HALF + rb")\\.)*+)(" + _HALF + rb")?", re.DOTALL)
_MANY = 100  # duplicate keys that kube-apiserver reports
_ROOM = 1 << 22  # characters of all findings, because one key of a large text can be in the paths of many


def repair_text(raw: bytes) -> bytes:
    """Return the text with U+FFFD in place of invalid UTF-8 and unpaired surrogates."""
    try:
        raw.decode()
    except UnicodeDecodeError:
        raw = jsontext.decode_utf8(raw).encode()
    return _without_halves(raw)


def _without_halves(raw: bytes) -> bytes:
    if b"\\ud" not in raw and b"\\uD" not in raw:
        return raw
    return _UP_TO_HALF.sub(lambda match: match[1] + b"\\ufffd" if match[2] else match[1], raw)


def find_json_fault(raw: bytes) -> JSONError:
    """Return the error of Go's scanner for a text that is not JSON, or is nested too deep."""
    same = jsontext.NO_TEXT.sub("?", raw.decode("utf-8", "surrogateescape")).encode()  # the same number of bytes
    try:
        orjson.loads(_without_halves(same))
        end = len(raw)
    except orjson.JSONDecodeError as error:
        end = len(error.doc[: error.pos].encode())
    deep = _too_deep(_brackets(raw[:end]))
    if deep:
        return JSONError(f"invalid character '{deep}' exceeded max depth")
    at = _boundary(raw, end)
    if at is None:
        return _read_error(raw, "", -1)
    before = _brackets(raw[:at])
    if raw[at] in b"]}":
        before += raw[at : at + 1]
    return _read_error(raw, _open(before), at)


def _brackets(part: bytes) -> bytes:
    """Return the brackets outside of strings, also without those in an unterminated string."""
    return _STRING.sub(b"", part).translate(None, _NO_BRACKETS)


def _read_error(raw: bytes, holders: str, at: int) -> JSONError:
    try:
        jsontext.resume_parse(raw, holders, at)
    except JSONError as error:
        return error
    return JSONError("invalid JSON")  # only reached if jsontext accepts a text that orjson rejects


def _too_deep(brackets: bytes) -> str:
    """Return the bracket that exceeds the maximum depth, or ""."""
    if brackets.count(b"[") + brackets.count(b"{") <= jsontext.MAX_DEPTH:
        return ""
    charge(len(brackets))
    depths = accumulate(map(_STEPS.__getitem__, brackets))
    place = next((place for place, depth in enumerate(depths) if depth > jsontext.MAX_DEPTH), -1)
    return chr(brackets[place]) if place >= 0 else ""


def _boundary(raw: bytes, end: int) -> int | None:
    """Return the offset of the last bracket, comma or colon before `end` outside of strings."""
    last = deque(_STRING.finditer(raw, 0, end), maxlen=2)
    stop = end
    for string in reversed(last):
        found = _structural(raw[string.end() : stop])
        if found >= 0:
            return string.end() + found
        stop = string.start()
    found = _structural(raw[:stop])
    return found if found >= 0 else None


def _structural(part: bytes) -> int:
    return max(part.rfind(sign) for sign in (b"{", b"}", b"[", b"]", b",", b":"))


def _open(brackets: bytes) -> str:
    """Return the brackets that are still open after some brackets."""
    found = []
    closed = 0
    charge(len(brackets))
    for sign in reversed(brackets):
        if sign in b"]}":
            closed += 1
        elif closed:
            closed -= 1
        else:
            found.append(chr(sign))
    return "".join(reversed(found))


def find_repeats(raw: bytes) -> list[str]:
    """Return the paths of duplicate keys in the order of the text, as `jsontext.parse_json` does for valid JSON."""
    kept: dict[int, tuple[Any, list[tuple[str, Any]]]] = {}

    def pairs(given: list[tuple[str, Any]]) -> Any:
        made = dict(given)
        charge(1 + len(given))
        if len(made) != len(given):
            kept[id(made)] = (made, given)
        return made

    value = json.loads(raw, object_pairs_hook=pairs, parse_int=bool, parse_float=bool)
    return _paths(value, kept) if kept else []


def _paths(value: Any, kept: dict[int, tuple[Any, list[tuple[str, Any]]]]) -> list[str]:
    """Return the paths of duplicate keys in the kept objects. A path is built only if it is reported."""
    results: list[str] = []
    room = _ROOM
    places: dict[tuple[int, str | int], int] = {}
    above: list[tuple[int, str | int]] = [(-1, "")]  # the parent's place and the step, by place
    told: set[tuple[int, str]] = set()
    # the remaining items of each open container, and its keys if some are duplicate
    left: list[tuple[int, Any, Any]] = []

    def enter(item: Any, place: int) -> None:
        if item.__class__ is list:
            left.append((place, enumerate(item), None))
        elif item.__class__ is dict:
            repeated = kept.get(id(item))
            items = item.items() if repeated is None else repeated[1]
            left.append((place, iter(items), None if repeated is None else set()))

    enter(value, 0)
    while left and len(results) < _MANY and room > 0:
        place, rest, seen = left[-1]
        charge(1)
        entry = next(rest, None)
        if entry is None:
            left.pop()
            continue
        key, item = entry
        if seen is not None:
            if key in seen and (place, key) not in told:
                told.add((place, key))
                results.append(_path(above, place, key))
                room -= len(results[-1])
            seen.add(key)
        if item.__class__ is list or item.__class__ is dict:
            inner = places.get((place, key))
            if inner is None:
                inner = places[place, key] = len(above)
                above.append((place, key))
            enter(item, inner)
    return results


def _path(above: list[tuple[int, str | int]], index: int, key: str) -> str:
    steps: list[str | int] = [key]
    while index:
        index, step = above[index]
        steps.append(step)
    while len(steps) > 1 and steps[-1] == "":  # no dot before the first name
        steps.pop()
    return "".join(f"[{step}]" if step.__class__ is int else f".{step}" for step in reversed(steps)).removeprefix(".")
