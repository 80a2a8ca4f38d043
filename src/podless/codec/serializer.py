"""Decodes and encodes objects: JSON and YAML with the numbers, strings and errors of a Go server.

Most bodies need only orjson. Cheap tests detect what Go reads differently, for codec/jsontext.py.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any, Generic, TypeVar

import orjson

from podless.codec import gojson, gotext, jsontext
from podless.codec.gotext import MAX_INT64, MIN_INT64
from podless.codec.jsontext import JSONError as JSONError
from podless.codec.jsontext import YAMLError as YAMLError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import charge, each
from podless.runtime.sorting import sort_texts

T = TypeVar("T")
Path = tuple[str | int, ...]
# the path of a number, and the float that was sent
Floats = list[tuple[Path, float]]

# maps digits to 0, characters of floats to a point, others to a blank: each float then contains "0."; strings can, too
_SHAPES = bytes(48 if 48 <= code < 58 else 46 if code in b".eE" else 32 for code in range(256))
# Hot paths look for it and for other texts with `find`: `in` first takes bytes for a number, and drops the exception
# that it gets, which takes 0.3 us.
_INT64_DIGITS = b"0" * 19
_YAML_LINE = re.compile(r"line [0-9]++: key ")
# characters with the same meaning in JSON and YAML, except in numeric escapes and merge keys
_SAME_IN_YAML = bytes((10, 13, *range(32, 127)))
_DIFFERENT_IN_YAML = (b"\\u", b'"<<"')
_SNIPPET = 30
_BEFORE_NUMBER = frozenset(b":,[ \t\r\n")  # bytes before a number
_MINUS, _COLON = b"-:"
_KEYED = (b'"', b" ", b"\t", b"\r", b"\n")
_MAX_CANDIDATES = 50  # possible floats that are examined; for more of them, a complete decode is as cheap
_LARGE_BUFFER = 1 << 17  # bytes; the unused end of a larger buffer takes no memory, because it is never written
_BACKSLASH = ord("\\")
_LARGE_BYTES = 1 << 17  # bytes; larger values are copied in steps
_ITEMS_PER_PIECE = 1 << 10  # items of a long list that are encoded in one go
_CHARACTERS_PER_PIECE = 1 << 16  # characters of a long text that are encoded in one go
_ITEM_BYTES = 512  # approximate bytes of an item of a long list
_KEYS_PER_PIECE = 1 << 14  # keys of a map; larger maps are sorted and encoded in parts
_HOLDERS = frozenset((dict, list))

# True if values are large and other threads need the interpreter meanwhile
in_steps: ContextVar[bool] = ContextVar("in_steps", default=False)


def decode_json(raw: bytes, duplicates: list[str] | None = None, floats: Floats | None = None) -> Any:
    """Decode JSON, with numbers as Go re-encodes them: 1.0 is 1, 1e3 is 1000, integers beyond int64 are floats.

    duplicates: gets a finding for each duplicate key (the last one counts): `duplicate field "spec.a"`. floats: gets
    the floats that became integers, for codec/sentfloats.py. Raises JSONError with Go's words.
    """
    if type(raw) is ParsedJSON:
        parsed = raw.take_value()
        if parsed is None:
            return decode_json(bytes(raw), duplicates, floats)
        value, findings, moved = parsed
        if duplicates is not None:
            duplicates += findings
        if floats is not None:
            floats += moved
        return value
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return _decode_rejected(raw, duplicates, floats)
    if duplicates is not None or raw.count(b"{") + raw.count(b"[") > jsontext.MAX_DEPTH:
        encoded = _try_encode(value)
        if encoded is None:
            raise jsontext.find_json_fault(raw)
        if duplicates is not None and (
            raw.count(b":") != encoded.count(b":") or (_BACKSLASH in raw and b"\\u003" in raw)
        ):
            duplicates += (f"duplicate field {gotext.quote(path)}" for path in jsontext.find_repeats(raw))
    shapes = raw.translate(_SHAPES)
    return _settle_numbers(value, floats) if _may_have_floats(raw, shapes) or shapes.find(_INT64_DIGITS) >= 0 else value


def _decode_rejected(raw: bytes, duplicates: list[str] | None, floats: Floats | None) -> Any:
    """Decode a text that the fast decoder rejects, if Go accepts it."""
    fixed = jsontext.repair_text(raw)
    try:
        orjson.loads(fixed)
    except orjson.JSONDecodeError:
        raise jsontext.find_json_fault(raw) from None
    return decode_json(fixed, duplicates, floats)


def _may_have_floats(raw: bytes, shapes: bytes) -> bool:
    """Return whether the text can contain a float: digits with a point or exponent, where a number can start."""
    offset = shapes.rfind(b"0.")  # from the end, because rfind takes a fifth of find's time
    for _ in range(_MAX_CANDIDATES):
        if offset < 0:
            return False
        before = offset - 1
        while before >= 0 and shapes[before] == 48 and offset - before <= len(_INT64_DIGITS):
            before -= 1
        if before >= 0 and raw[before] == _MINUS:
            before -= 1
        # a colon follows the quote of a key; in a string such as an image's name it does not
        if before < 0 or (
            raw[before] in _BEFORE_NUMBER and (raw[before] != _COLON or raw[before - 1 : before] in _KEYED)
        ):
            return True
        offset = shapes.rfind(b"0.", 0, offset + 1)
    return True


def _try_encode(value: Any) -> bytes | None:
    """Return the value as JSON, None if it is nested too deep.

    This reveals duplicate keys: the result then has fewer colons than the body.
    """
    try:
        return orjson.dumps([[[[value]]]])  # the added levels stand for the lists and events that contain objects
    except TypeError:
        return None


def is_too_deep(value: Any) -> bool:
    """Return whether a value is nested deeper than a body may be."""
    return _try_encode(value) is None and is_deeper(value, jsontext.MAX_DEPTH)


def is_deeper(value: Any, limit: int) -> bool:
    """Return whether a JSON value has more than `limit` objects and lists in each other. Does not recurse."""
    level = [value]
    for _ in range(limit + 1):
        level = [item for item in each(level) if isinstance(item, dict | list)]
        if not level:
            return False
        children = (item.values() if isinstance(item, dict) else item for item in level)
        level = [child for items in children for child in items]
    return True


def decode_own(raw: bytes) -> Any:
    """Decode JSON that this server has encoded. The objects in it may have the maximum depth."""
    return orjson.loads(raw)


def _settle_numbers(value: Any, floats: Floats | None = None) -> Any:
    """Return the value with its numbers as Go re-encodes them. floats: gets those that become integers."""
    top = [value]
    todo: list[tuple[Any, Any]] = [(top, None)]  # containers with their paths, as chains of keys from the last one on
    while todo:
        holder, path = todo.pop()
        charge(len(holder))
        for key, item in holder.items() if type(holder) is dict else enumerate(holder):
            kind = type(item)
            if kind is str:
                continue
            if kind is dict or kind is list:
                todo.append((item, (path, key)))
            elif kind is float or (kind is int and not MIN_INT64 <= item <= MAX_INT64):
                holder[key] = settled = jsontext.settle_number(item)
                if floats is not None and type(settled) is int:
                    floats.append((_unroll_path((path, key))[1:], float(item)))
    return top[0]


def _unroll_path(chain: Any) -> Path:
    keys = []
    while chain is not None:
        chain, key = chain
        keys.append(key)
    return tuple(reversed(keys))


def copy_value(value: Any) -> Any:
    """Return a deep copy of a decoded value, with numbers as Go re-encodes them.

    Large values, and all values if `in_steps` is set, are copied in Python: that is a little slower and lets other
    threads run.
    """
    if in_steps.get():
        return _copy_value(value)
    raw = gojson.dump_value(value, 0)
    return decode_json(raw) if len(raw) < _LARGE_BYTES else _copy_value(value)


def _copy_value(value: Any) -> Any:
    kind = type(value)
    if kind is dict or kind is list:
        charge(len(value))
    if kind is dict:
        return {key: _copy_value(item) for key, item in value.items()}
    if kind is list:
        return [_copy_value(item) for item in value]
    return jsontext.settle_number(value) if kind is float else value


def decode_yaml(raw: bytes, duplicates: list[str] | None = None) -> Any:
    """Decode the first document of a YAML text, as sigs.k8s.io/yaml converts it to JSON.

    duplicates: gets a finding for each duplicate key (the last one counts), such as `line 7: key "num" already set in
    map`. Raises YAMLError.
    """
    from podless.codec import yamltext

    parsed = raw.take_value() if isinstance(raw, ParsedYAML) else None
    if parsed is None:
        return yamltext.parse_yaml(bytes(raw), duplicates)  # plain bytes, because raw can be a ParsedJSON
    value, findings = parsed
    if duplicates is not None:
        duplicates += findings
    return value


def decode_yaml_as_json(raw: bytes) -> Object | None:
    """Return the object in a YAML text that is also JSON with the same meaning; None if it must be decoded as YAML.

    That takes a hundredth of the time.
    """
    if not raw.startswith(b"{") or raw.translate(None, _SAME_IN_YAML) or max(map(raw.find, _DIFFERENT_IN_YAML)) >= 0:
        return None
    repeated: list[str] = []
    try:
        value: Object = decode_json(raw, repeated)
    except JSONError:
        return None
    return None if repeated else value


class _Parsed(bytes, Generic[T]):
    """A text that was parsed in advance, perhaps on another thread. The next decode returns the outcome."""

    outcome: T | Exception | None

    def take_value(self) -> T | None:
        """Return the value, only once, because the caller then owns it. Raises the error of the text."""
        outcome, self.outcome = self.outcome, None
        if isinstance(outcome, Exception):
            try:
                raise outcome
            finally:
                del outcome  # its traceback refers to this frame, which holds the text
        return outcome


class ParsedYAML(_Parsed[tuple[Any, list[str]]]):
    """A YAML text for `decode_yaml`."""

    @classmethod
    def parse(cls, raw: bytes) -> ParsedYAML:
        """Parse a text. Its error is raised when it is decoded."""
        result = cls(raw)
        findings: list[str] = []
        try:
            result.outcome = decode_yaml(raw, findings), findings
        except YAMLError as error:
            result.outcome = error
        return result

    @classmethod
    def parse_as_json(cls, raw: bytes) -> ParsedYAML | None:
        """Parse a text by `decode_yaml_as_json`. Returns None if it must be decoded as YAML."""
        value = decode_yaml_as_json(raw)
        if value is None:
            return None
        result = cls(raw)
        result.outcome = value, []
        return result


class ParsedJSON(_Parsed[tuple[Any, list[str], Floats]]):
    """A JSON text for `decode_json`.

    kept: it is decoded several times, and each time returns a copy. pairs: the result of `repeats.read_pairs`, if keys
    are duplicate.
    """

    kept = False
    pairs: Any = None

    def take_value(self) -> tuple[Any, list[str], Floats] | None:
        """Copy in Python, so that other threads can run meanwhile."""
        result = super().take_value()
        if result is None or not self.kept:
            return result
        self.outcome = result
        return _copy_value(result[0]), result[1], result[2]

    @classmethod
    def parse(cls, raw: bytes) -> ParsedJSON:
        """Parse a text. Its error is raised when it is decoded."""
        result = cls(raw)
        findings: list[str] = []
        floats: Floats = []
        try:
            result.outcome = decode_json(raw, findings, floats), findings, floats
        except JSONError as error:
            result.outcome = error
        return result


def format_strict_error(findings: list[str]) -> str:
    """Return the text of a strict decoding error. Findings about YAML lines become one error."""
    of_yaml = [bool(_YAML_LINE.match(finding)) and finding.endswith(" already set in map") for finding in findings]
    lines = [finding for finding, is_yaml in zip(findings, of_yaml, strict=True) if is_yaml]
    json_findings = [finding for finding, is_yaml in zip(findings, of_yaml, strict=True) if not is_yaml]
    return ", ".join(["yaml: unmarshal errors:\n  " + "\n  ".join(lines), *json_findings] if lines else json_findings)


def encode_json(value: Any) -> bytes:
    """Encode compact JSON as Go does, with keys in their order."""
    return gojson.encode_value(value, 0)


def encode_pretty(value: Any) -> bytes:
    """Encode indented JSON as Go does, with keys in their order."""
    return gojson.encode_value(value, orjson.OPT_INDENT_2)


def encode_unescaped(value: Any) -> str:
    """Encode compact JSON without the escapes that only Go's encoder writes, for people and for YAML."""
    return gojson.dump_value(value, 0).decode()


def measure_long(value: Any) -> int:
    """Return the approximate bytes of memory of the long lists and texts in a document."""
    if value.__class__ is dict:
        return sum(map(measure_long, each(value).values()))
    if value.__class__ is list:
        return len(value) * _ITEM_BYTES if len(value) > _ITEMS_PER_PIECE else sum(map(measure_long, each(value)))
    return sys.getsizeof(value) if value.__class__ is str and len(value) > _CHARACTERS_PER_PIECE else 0


def encode_json_pieces(value: Any, indent: bytes | None = None) -> Iterator[bytes]:
    """Yield the result of `encode_json` in pieces, with long lists and texts in parts.

    indent: of the line on which the value begins, for indented JSON.
    """
    option, line = (0, b"") if indent is None else (orjson.OPT_INDENT_2, b"\n" + indent)
    deeper = None if indent is None else indent + b"  "
    item_line = line and line + b"  "
    if not measure_long(value):
        yield gojson.encode_value(value, option).replace(b"\n", line)
    elif value.__class__ is dict:
        mark = b"{"
        for key, item in value.items():
            yield b"%b%b%b:%b" % (mark, item_line, gojson.encode_value(key, 0), b"" if indent is None else b" ")
            yield from encode_json_pieces(item, deeper)
            mark = b","
        yield line + b"}"
    elif value.__class__ is list:
        mark = b"["
        for start in range(0, len(value), _ITEMS_PER_PIECE):
            charge(_ITEMS_PER_PIECE)
            items = value[start : start + _ITEMS_PER_PIECE]
            if measure_long(items):
                for item in items:
                    yield mark + item_line
                    yield from encode_json_pieces(item, deeper)
                    mark = b","
            else:
                yield mark + gojson.encode_value(items, option)[1 : -1 if indent is None else -2].replace(b"\n", line)
                mark = b","
        yield line + b"]"
    else:
        mark = b'"'
        for start in range(0, len(value), _CHARACTERS_PER_PIECE):
            yield mark + gojson.encode_value(value[start : start + _CHARACTERS_PER_PIECE], 0)[1:-1]
            mark = b""
        yield b'"'


def fit_bytes(encoded: bytes) -> bytes:
    """Return the same bytes without the encoder's spare room, which can be eight times the length of a short text."""
    return bytes(memoryview(encoded)) if len(encoded) < _LARGE_BUFFER else encoded


def encode_sorted(value: Any) -> bytes:
    """Encode compact JSON with sorted keys, as Go encodes maps."""
    if not in_steps.get():
        return gojson.encode_value(value, orjson.OPT_SORT_KEYS)
    try:
        return gojson.encode_value(_split_wide(value), orjson.OPT_SORT_KEYS)
    except TypeError:  # too deep for the encoder
        return gojson.encode_value(value, orjson.OPT_SORT_KEYS)


def _split_wide(value: Any) -> Any:
    """Return a value with its large maps encoded in parts; the same value if it has none."""
    result = value
    if value.__class__ in _HOLDERS:
        charge(len(value))
    if value.__class__ is dict:
        if len(value) > _KEYS_PER_PIECE:
            return orjson.Fragment(_encode_wide(value))
        for key, item in value.items():
            if item.__class__ in _HOLDERS and (new := _split_wide(item)) is not item:
                result = {**value} if result is value else result
                result[key] = new
    elif value.__class__ is list:
        for index, item in enumerate(value):
            if item.__class__ in _HOLDERS and (new := _split_wide(item)) is not item:
                result = [*value] if result is value else result
                result[index] = new
    return result


def _encode_wide(value: dict[str, Any]) -> bytes:
    keys = sort_texts(value)
    encoded_parts = []
    for start in range(0, len(keys), _KEYS_PER_PIECE):
        charge(_KEYS_PER_PIECE)
        entries = {key: _split_wide(value[key]) for key in keys[start : start + _KEYS_PER_PIECE]}
        encoded_parts.append(gojson.encode_value(entries, orjson.OPT_SORT_KEYS)[1:-1])
    return b"{%b}" % b",".join(encoded_parts)


def encode_for_comparison(value: Any) -> bytes:
    """Encode JSON for comparing or searching values. Some numbers differ from Go's form."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return encode_json(value)


def has_nulls(value: Any) -> bool:
    """Return whether a field may be null. Strings can cause a false True, never a false False."""
    return encode_for_comparison(value).find(b":null") >= 0


def encode_yaml(value: Any) -> bytes:
    """Encode YAML as sigs.k8s.io/yaml: keys sorted, lists not indented, strings quoted if needed, folded at 80."""
    from podless.codec import yamlwrite

    return yamlwrite.emit_yaml(value)


class LazyItems:
    """A list for `encode_yaml_pieces`, not empty, whose items are JSON; each is decoded when it is reached."""

    __slots__ = ("_items",)

    def __init__(self, items: Iterator[bytes]) -> None:
        self._items = items

    def __iter__(self) -> Iterator[Any]:
        return map(decode_own, self._items)


def encode_yaml_pieces(value: Any) -> Iterator[bytes]:
    """Yield the result of `encode_yaml` in pieces of about 8 KiB, encoded on demand."""
    from podless.codec import yamlwrite

    return yamlwrite.emit_pieces(value)


def format_snippet(raw: bytes) -> str:
    """Return the part of a body for an error message: as text if it looks like an object, else hexadecimal."""
    if not raw:
        return "<empty>"
    snippet = raw[:_SNIPPET]
    text = jsontext.decode_utf8(snippet) if raw[0] == ord("{") else snippet.hex()
    return f"{text} ..." if len(raw) > _SNIPPET else text
