"""What jsontext finds out about a text, for large texts: at the speed of C, so that a hostile body costs little.

The place at which orjson stops is at most a token before the one that Go names, so jsontext has to read only from the
last bracket, comma or colon before it; what that stands in is found from the brackets alone.
"""

from __future__ import annotations

import json
import re
from collections import deque
from itertools import accumulate
from typing import Any

import orjson

from podless.meta import jsontext
from podless.meta.jsontext import JSONError

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_HALF = rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
_PAIR = rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_UP_TO_HALF = re.compile(rb"((?:[^\\]++|" + _PAIR + rb"|(?!" + _HALF + rb")\\.)*+)(" + _HALF + rb")?", re.DOTALL)
_MANY = 100  # findings that a real server remembers


def repaired(raw: bytes) -> bytes:
    """The text with U+FFFD for what Go cannot represent: bytes that are not UTF-8, halves of surrogate pairs."""
    try:
        raw.decode()
    except UnicodeDecodeError:
        raw = jsontext.utf8(raw).encode()
    return _without_halves(raw)


def _without_halves(raw: bytes) -> bytes:
    if b"\\ud" not in raw and b"\\uD" not in raw:
        return raw
    return _UP_TO_HALF.sub(lambda match: match[1] + b"\\ufffd" if match[2] else match[1], raw)


def fault(raw: bytes) -> JSONError:
    """What Go's scanner says of a text that is not JSON, or is nested deeper than can be taken."""
    same = jsontext.NO_TEXT.sub("?", raw.decode("utf-8", "surrogateescape")).encode()  # as many bytes
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
        return _read(raw, "", -1)
    before = _brackets(raw[:at])
    if raw[at] in b"]}":
        before += raw[at : at + 1]
    return _read(raw, _open(before), at)


def _brackets(part: bytes) -> bytes:
    """The brackets outside of strings, those in one that does not end left out, too."""
    return _STRING.sub(b"", part).partition(b'"')[0].translate(None, _NO_BRACKETS)


def _read(raw: bytes, holders: str, at: int) -> JSONError:
    try:
        jsontext.resume(raw, holders, at)
    except JSONError as error:
        return error
    return JSONError("invalid JSON")  # not reached as long as jsontext takes nothing that orjson refuses


def _too_deep(brackets: bytes) -> str:
    """The bracket that opens one level too many, or ""."""
    if brackets.count(b"[") + brackets.count(b"{") <= jsontext.MAX_DEPTH:
        return ""
    depths = accumulate(map(_STEPS.__getitem__, brackets))
    place = next((place for place, depth in enumerate(depths) if depth > jsontext.MAX_DEPTH), -1)
    return chr(brackets[place]) if place >= 0 else ""


def _boundary(raw: bytes, end: int) -> int | None:
    """The place of the last bracket, comma or colon before some place, strings left out."""
    last = deque(_STRING.finditer(raw, 0, end), maxlen=2)
    stop = end
    for string in reversed(last):
        tail = raw[string.end() : stop]
        cut = tail.find(b'"')  # a string that does not end
        found = _structural(tail if cut < 0 else tail[:cut])
        if found >= 0:
            return string.end() + found
        stop = string.start()
    head = raw[: stop if last else end]
    cut = head.find(b'"')
    found = _structural(head if cut < 0 else head[:cut])
    return found if found >= 0 else None


def _structural(part: bytes) -> int:
    return max(part.rfind(sign) for sign in (b"{", b"}", b"[", b"]", b",", b":"))


def _open(brackets: bytes) -> str:
    """The brackets that are open behind some others."""
    found = []
    closed = 0
    for sign in reversed(brackets):
        if sign in b"]}":
            closed += 1
        elif closed:
            closed -= 1
        else:
            found.append(chr(sign))
    return "".join(reversed(found))


def repeats(raw: bytes) -> list[str]:
    """The paths of repeated keys in the order of the text, as `jsontext.parse` finds them in sound JSON."""
    kept: dict[int, tuple[Any, list[tuple[str, Any]]]] = {}

    def pairs(given: list[tuple[str, Any]]) -> Any:
        made = dict(given)
        if len(made) != len(given):
            kept[id(made)] = (made, given)
        return made

    value = json.loads(raw, object_pairs_hook=pairs, parse_int=bool, parse_float=bool)
    return _paths(value, kept) if kept else []


def _paths(value: Any, kept: dict[int, tuple[Any, list[tuple[str, Any]]]]) -> list[str]:
    """Where the kept objects repeat a key."""
    found: dict[str, None] = {}
    steps: list[str] = []
    open_: list[tuple[Any, Any]] = []  # what is left of each open container, and the keys it had, if they repeat

    def enter(item: Any) -> None:
        if item.__class__ is list:
            open_.append((enumerate(item), None))
        elif item.__class__ is dict:
            repeated = kept.get(id(item))
            open_.append((iter(item.items() if repeated is None else repeated[1]), None if repeated is None else set()))
        else:
            return
        steps.append("")

    enter(value)
    while open_ and len(found) < _MANY:
        left, seen = open_[-1]
        entry = next(left, None)
        if entry is None:
            open_.pop()
            steps.pop()
            continue
        key, item = entry
        steps[-1] = f"[{key}]" if key.__class__ is int else f".{key}"
        if seen is not None:
            if key in seen:
                found.setdefault(_joined(steps))
            seen.add(key)
        enter(item)
    return list(found)


def _joined(steps: list[str]) -> str:
    path = ""
    for step in steps:
        path += step if path or step[0] == "[" else step[1:]
    return path
