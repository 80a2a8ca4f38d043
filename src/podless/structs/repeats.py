"""Decodes JSON with repeated keys into a struct as a Go server does: later values are merged into earlier ones.

Objects of structs merge, items of lists merge by position, and null leaves values that are not maps, lists or pointers.
Repeated and unknown fields are found in the order of the text. Source: sigs.k8s.io/json and encoding/json, as recorded.
"""

from __future__ import annotations

import json
from typing import Any

from podless.codec import gotext, jsontext, serializer
from podless.runtime.meter import charge, each
from podless.structs.gotypes import Bool, Float, GoType, Int, ListOf, MapOf, String
from podless.structs.structs import Field, Struct

_MAX = 100  # maximum findings, as in a real server
_UNCHANGED_BY_NULL = (String, Bool, Int, Float, Struct)  # types whose values null does not change


class _Pairs(list[tuple[str, Any]]):
    """An object's keys and values, in the order of the text."""


def decode_repeats(struct: Struct, raw: bytes, findings: list[str]) -> Any:
    """Return the value of a JSON text for a struct. findings: receives repeated and unknown fields.

    The text must be valid JSON.
    """
    walk = _RepeatWalk()
    value = walk.decode_value(struct, None, read_pairs(raw), "")
    findings += walk.findings
    return value


def find_last(raw: bytes, name: str) -> Any:
    """Return the last value of a top-level key that is not null, None if there is none."""
    pairs = read_pairs(raw)
    values = [item for key, item in pairs if key == name] if isinstance(pairs, _Pairs) else []
    return next((item for item in reversed(values) if item is not None), None)


def read_pairs(raw: bytes) -> Any:
    """Return the value in a valid JSON text; objects become keys and values."""
    if isinstance(raw, serializer.ParsedJSON) and raw.pairs is not None:
        return raw.pairs
    return json.loads(
        jsontext.decode_utf8(raw),
        object_pairs_hook=_Pairs,
        parse_int=jsontext.parse_number,
        parse_float=jsontext.parse_number,
    )


class _RepeatWalk:
    def __init__(self) -> None:
        self.findings: dict[str, None] = {}

    def note_repeated(self, adjective: str, path: str) -> None:
        if len(self.findings) < _MAX:
            self.findings[f"{adjective} field {gotext.quote(path)}"] = None

    def decode_value(self, kind: GoType, old: Any, item: Any, path: str) -> Any:
        if isinstance(item, _Pairs):
            if isinstance(kind, Struct):
                return self.decode_fields(kind, old, item, path)
            if isinstance(kind, MapOf):
                return self.decode_entries(kind, old, item, path)
        elif isinstance(item, list) and isinstance(kind, ListOf):
            charge(len(item))
            old_items = old if isinstance(old, list) else []
            return [
                self.decode_value(
                    kind.item, old_items[index] if index < len(old_items) else None, element, f"{path}[{index}]"
                )
                if element is not None
                else None
                for index, element in enumerate(item)
            ]
        return _decode_plain(item)

    def decode_fields(self, kind: Struct, old: Any, pairs: _Pairs, path: str) -> dict[str, Any]:
        fields = {field.name: field for field in kind}
        result = dict(old) if isinstance(old, dict) else {}
        seen = set()
        for key, item in each(pairs):
            child_path = f"{path}.{key}" if path else key
            field = fields.get(key)
            if field is None:
                self.note_repeated("unknown", child_path)
                continue
            if key in seen:
                self.note_repeated("duplicate", child_path)
            seen.add(key)
            if item is not None:
                result[key] = self.decode_value(field.type, result.get(key), item, child_path)
            elif not _ignores_null(field):
                result.pop(key, None)
        return result

    def decode_entries(self, kind: MapOf, old: Any, pairs: _Pairs, path: str) -> dict[str, Any]:
        result = dict(old) if isinstance(old, dict) else {}
        seen = set()
        for key, item in each(pairs):
            child_path = f"{path}.{key}" if path else key
            if key in seen:
                self.note_repeated("duplicate", child_path)
            seen.add(key)
            result[key] = self.decode_value(kind.item, None, item, child_path)
        return result


def _ignores_null(field: Field) -> bool:
    """Return whether null leaves a field unchanged."""
    return not field.pointer and isinstance(field.type, _UNCHANGED_BY_NULL)


def _decode_plain(item: Any) -> Any:
    """Return a value without a struct: the last value of a key counts."""
    if isinstance(item, list):
        charge(len(item))
    if isinstance(item, _Pairs):
        return {key: _decode_plain(element) for key, element in item}
    return [_decode_plain(element) for element in item] if isinstance(item, list) else item
