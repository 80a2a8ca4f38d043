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
_MAX_REPEATS = 100  # duplicate keys that kube-apiserver reports
_MAX_CHARACTERS = 1 << 22  # characters of all findings, because one key of a large text can be in the paths of many


def repair_text(raw: bytes) -> bytes:
    """Return the text with U+FFFD in place of invalid UTF-8 and unpaired surrogates."""
    try:
        raw.decode()
    except UnicodeDecodeError:
        raw = jsontext.decode_utf8(raw).encode()
    return _replace_surrogates(raw)


def _replace_surrogates(raw: bytes) -> bytes:
    if b"\\ud" not in raw and b"\\uD" not in raw:
        return raw
    return _UP_TO_HALF.sub(lambda match: match[1] + b"\\ufffd" if match[2] else match[1], raw)


def find_json_fault(raw: bytes) -> JSONError:
    """Return the error of Go's scanner for a text that is not JSON, or is nested too deep."""
    # with the same number of bytes, so that offsets are those of the original
    repaired = jsontext.INVALID_BYTES.sub("?", raw.decode("utf-8", "surrogateescape")).encode()
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
            jsontext.parse_json(raw)
        else:
            before = _extract_brackets(raw[: at + 1] if raw[at] in b"]}" else raw[:at])
            jsontext.JSONParser(raw).resume_at(_list_open(before), at)
    except JSONError as error:
        return error
    return JSONError("invalid JSON")  # only reached if jsontext accepts a text that orjson rejects


def _extract_brackets(text: bytes) -> bytes:
    """Return the brackets outside of strings, also without those in an unterminated string."""
    return _STRING.sub(b"", text).translate(None, _NO_BRACKETS)


def _find_too_deep(brackets: bytes) -> str:
    """Return the bracket that exceeds the maximum depth, or ""."""
    if brackets.count(b"[") + brackets.count(b"{") <= jsontext.MAX_DEPTH:
        return ""
    charge(len(brackets))
    depths = accumulate(map(_STEPS.__getitem__, brackets))
    index = next((index for index, depth in enumerate(depths) if depth > jsontext.MAX_DEPTH), -1)
    return chr(brackets[index]) if index >= 0 else ""


def _find_boundary(raw: bytes, end: int) -> int | None:
    """Return the offset of the last bracket, comma or colon before `end` outside of strings."""
    last = deque(_STRING.finditer(raw, 0, end), maxlen=2)
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
    """Return the paths of duplicate keys in the order of the text, as `jsontext.parse_json` does for valid JSON."""
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
