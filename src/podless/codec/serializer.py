"""Objects from bytes and to bytes: JSON and YAML with the numbers, texts and errors of a Go server.

Ordinary bodies go through orjson alone; what Go sees differently is noticed by cheap tests and read again by
codec/jsontext.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any, Generic, TypeVar

import orjson

from podless.codec import gotext, jsonlarge, jsontext
from podless.codec.jsontext import JSONError, YAMLError
from podless.runtime.meter import charge
from podless.runtime.sorting import in_order

__all__ = [
    "Floats",
    "JSONError",
    "Lazily",
    "YAMLError",
    "decode_json",
    "decode_own",
    "decode_yaml",
    "encode_json",
    "encode_sorted",
    "encode_yaml",
    "fit_bytes",
    "has_nulls",
    "hex_or_text",
    "in_steps",
    "looked_at",
    "strict_text",
    "too_deep",
    "yaml_pieces",
]

T = TypeVar("T")
Path = tuple[str | int, ...]
# where a number stands, and the float that was sent there
Floats = list[tuple[Path, float]]

# Digits as 0, what makes a number a float as a point, all else as a blank: a float is then "0.", in a text or not.
_SHAPES = bytes(48 if 48 <= code < 58 else 46 if code in b".eE" else 32 for code in range(256))
_LONG = b"0" * 19
_YAML_LINE = re.compile(r"line [0-9]++: key ")
_MIN, _MAX = -(1 << 63), (1 << 63) - 1
_SNIPPET = 30
_BEFORE = (b"", b":", b",", b"[", b" ", b"\t", b"\r", b"\n")  # what stands before a number
_KEYED = (b'"', b" ", b"\t", b"\r", b"\n")
_LOOKS = 50  # at digits with a point; in a text with more of them a closer look costs as much
_ROOMY = 1 << 17  # bytes; the room behind longer texts is mapped, and never touched
# or a text that looks like it, though no uid such as ...9e-6a...
_EXPONENT = re.compile(rb"[0-9]e(?:\+[0-9]++|-6)(?![\w\"'./:-])")
_E, _PLUS = b"e+"
_PLUSES = 32  # that are looked at one by one
_LARGE = 1 << 17  # bytes of a value that is not copied in one go
_SMALL = 8192  # bytes that are read token by token where that is needed
_WIDE = 1 << 14  # keys of a map that are sorted and encoded in one go
_HOLDERS = frozenset((dict, list))

# whether values are long, and others want the interpreter meanwhile
in_steps: ContextVar[bool] = ContextVar("in_steps", default=False)


def decode_json(raw: bytes, duplicates: list[str] | None = None, floats: Floats | None = None) -> Any:
    """Decode a JSON text, with numbers as Go re-encodes them: 1.0 is 1, 1e3 is 1000, integers past int64 are floats.

    duplicates: takes a finding for each key given more than once (the last one counts): `duplicate field "spec.a"`.
    floats: takes the floats that became integers, for codec/sentfloats.py. Raises JSONError with Go's words.
    """
    if type(raw) is ParsedJSON:
        known = raw.take_value()
        if known is None:
            return decode_json(bytes(raw), duplicates, floats)
        value, found, moved = known
        if duplicates is not None:
            duplicates += found
        if floats is not None:
            floats += moved
        return value
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return _refused(raw, duplicates, floats)
    if duplicates is None and raw.count(b"{") + raw.count(b"[") <= jsontext.MAX_DEPTH:
        pass
    elif (again := _encoded(value)) is None or (
        duplicates is not None and (raw.count(b":") != again.count(b":") or (b"\\" in raw and b"\\u003" in raw))
    ):
        if len(raw) <= _SMALL:
            _decode_json(raw, duplicates)
        elif again is None:
            raise jsonlarge.find_json_fault(raw)
        elif duplicates is not None:
            duplicates += (f"duplicate field {gotext.quote(path)}" for path in jsonlarge.find_repeats(raw))
    shapes = raw.translate(_SHAPES)
    return _settle(value, floats) if _floats(raw, shapes) or _LONG in shapes else value


def _refused(raw: bytes, duplicates: list[str] | None, floats: Floats | None) -> Any:
    """Return the value of a text that the fast decoder rejects, if Go accepts it."""
    if len(raw) <= _SMALL:
        return _decode_json(raw, duplicates)
    fixed = jsonlarge.repair_text(raw)
    try:
        orjson.loads(fixed)
    except orjson.JSONDecodeError:
        raise jsonlarge.find_json_fault(raw) from None
    return decode_json(fixed, duplicates, floats)


def _decode_json(raw: bytes, duplicates: list[str] | None) -> Any:
    if duplicates is None:
        return jsontext.parse_json(raw)
    repeated: list[str] = []
    value = jsontext.parse_json(raw, repeated)
    duplicates += (f"duplicate field {gotext.quote(path)}" for path in repeated)
    return value


def _floats(raw: bytes, shapes: bytes) -> bool:
    """Return whether the text may contain a float: digits that continue with a point, and start where a number can."""
    place = shapes.find(b"0.")
    for _ in range(_LOOKS):
        if place < 0:
            return False
        first = place
        while first and shapes[first - 1] == 48 and place - first < len(_LONG):
            first -= 1
        if raw[first - 1 : first] == b"-":
            first -= 1
        before = raw[first - 1 : first]
        # a colon stands behind the quote of a key, or in a text such as an image's name
        if before in _BEFORE and (before != b":" or raw[first - 2 : first - 1] in _KEYED):
            return True
        place = shapes.find(b"0.", place + 1)
    return True


def _encoded(value: Any) -> bytes | None:
    """Return the value as JSON, or None where it is nested deeper than can be taken.

    A repeated key shows in this: its text has fewer colons than the body.
    """
    try:
        return orjson.dumps([[[[value]]]])  # room for the lists and events that objects travel in
    except TypeError:
        return None


def too_deep(value: Any) -> bool:
    """Return whether a value is nested deeper than a body may be."""
    if _encoded(value) is not None:
        return False
    level = [value]
    for _ in range(jsontext.MAX_DEPTH + 1):
        charge(len(level))
        held = [item.values() if isinstance(item, dict) else item for item in level if isinstance(item, dict | list)]
        if not held:
            return False
        level = [item for items in held for item in items]
    return True


def decode_own(raw: bytes) -> Any:
    """Return the value in JSON that this server has made, which may have objects as deep as they may be in it."""
    return orjson.loads(raw)


def _settle(value: Any, floats: Floats | None = None) -> Any:
    """Return the value with its numbers as Go re-encodes them; floats: takes those that become integers."""
    top = [value]
    rest: list[tuple[Any, Any]] = [(top, None)]  # with each holder its path, as a chain of keys from the last on
    while rest:
        holder, path = rest.pop()
        charge(len(holder))
        for key, item in holder.items() if type(holder) is dict else enumerate(holder):
            kind = type(item)
            if kind is str:
                continue
            if kind is dict or kind is list:
                rest.append((item, (path, key)))
            elif kind is float or (kind is int and not _MIN <= item <= _MAX):
                holder[key] = settled = jsontext.settle_number(item)
                if floats is not None and type(settled) is int:
                    floats.append((_path((path, key))[1:], float(item)))
    return top[0]


def _path(chain: Any) -> Path:
    keys = []
    while chain is not None:
        chain, key = chain
        keys.append(key)
    return tuple(reversed(keys))


def copy_value(value: Any) -> Any:
    """Return a deep copy of a decoded value, numbers as Go re-encodes them.

    A long one, and any one where `in_steps` says that values are long, is made in Python: that takes a little longer
    and lets other threads go on.
    """
    if in_steps.get():
        return _copied(value)
    raw = encode_json(value)
    return decode_json(raw) if len(raw) < _LARGE else _copied(value)


def _copied(value: Any) -> Any:
    kind = type(value)
    if kind is dict or kind is list:
        charge(len(value))
    if kind is dict:
        return {key: _copied(item) for key, item in value.items()}
    if kind is list:
        return [_copied(item) for item in value]
    return jsontext.settle_number(value) if kind is float else value


def decode_yaml(raw: bytes, duplicates: list[str] | None = None) -> Any:
    """Return the value in the first document of a YAML text, as sigs.k8s.io/yaml makes JSON of it.

    duplicates: takes a finding for each key given more than once (the last one counts), such as `line 7: key "num"
    already set in map`. Raises YAMLError.
    """
    from podless.codec import yamltext

    known = raw.take_value() if isinstance(raw, ParsedYAML) else None
    if known is None:
        return yamltext.parse_yaml(bytes(raw), duplicates)  # which may have been read as JSON
    value, found = known
    if duplicates is not None:
        duplicates += found
    return value


class _Parsed(bytes, Generic[T]):
    """A text that was read beforehand, perhaps on another thread; the next to decode it has the outcome."""

    outcome: T | Exception | None

    def take_value(self) -> T | None:
        """Return the value, once, because the caller then owns it. Raises the error of the text."""
        outcome, self.outcome = self.outcome, None
        if isinstance(outcome, Exception):
            try:
                raise outcome
            finally:
                del outcome  # which knows this frame, and with it the text
        return outcome


class ParsedYAML(_Parsed[tuple[Any, list[str]]]):
    """A YAML text for `decode_yaml`."""

    @classmethod
    def parse(cls, raw: bytes) -> ParsedYAML:
        """Parse a text. Its error is raised when it is decoded."""
        made = cls(raw)
        found: list[str] = []
        try:
            made.outcome = decode_yaml(raw, found), found
        except YAMLError as error:
            made.outcome = error
        return made


class ParsedJSON(_Parsed[tuple[Any, list[str], Floats]]):
    """A JSON text for `decode_json`.

    kept: it is decoded more than once, and each time gives a copy. pairs: what `repeats.read_pairs` gives, where keys
    are repeated.
    """

    kept = False
    pairs: Any = None

    def take_value(self) -> tuple[Any, list[str], Floats] | None:
        """Copy in Python, so that other threads can run meanwhile."""
        found = super().take_value()
        if found is None or not self.kept:
            return found
        self.outcome = found
        return _copied(found[0]), found[1], found[2]

    @classmethod
    def parse(cls, raw: bytes) -> ParsedJSON:
        """Parse a text. Its error is raised when it is decoded."""
        made = cls(raw)
        found: list[str] = []
        floats: Floats = []
        try:
            made.outcome = decode_json(raw, found, floats), found, floats
        except JSONError as error:
            made.outcome = error
        return made


def strict_text(findings: list[str]) -> str:
    """Return the text of a Strict error for some findings: those about YAML lines together, as one error."""
    of_yaml = [bool(_YAML_LINE.match(finding)) and finding.endswith(" already set in map") for finding in findings]
    lines = [finding for finding, found in zip(findings, of_yaml, strict=True) if found]
    rest = [finding for finding, found in zip(findings, of_yaml, strict=True) if not found]
    return ", ".join(["yaml: unmarshal errors:\n  " + "\n  ".join(lines), *rest] if lines else rest)


def encode_json(value: Any) -> bytes:
    """Compact JSON, keys in the order that they have, numbers as Go prints them."""
    return _encode(value, 0)


def fit_bytes(encoded: bytes) -> bytes:
    """Return the same bytes without the encoder's spare room, which is up to eight times the length of short texts."""
    return bytes(memoryview(encoded)) if len(encoded) < _ROOMY else encoded


def encode_sorted(value: Any) -> bytes:
    """Compact JSON, keys sorted, as Go prints maps, numbers as well."""
    if not in_steps.get():
        return _encode(value, orjson.OPT_SORT_KEYS)
    try:
        return _encode(_narrow(value), orjson.OPT_SORT_KEYS)
    except TypeError:  # deeper than the encoder takes
        return _encode(value, orjson.OPT_SORT_KEYS)


def _narrow(value: Any) -> Any:
    """Return a value with its large maps encoded in parts; the same value if it has none."""
    made = value
    if value.__class__ in _HOLDERS:
        charge(len(value))
    if value.__class__ is dict:
        if len(value) > _WIDE:
            return orjson.Fragment(_wide(value))
        for key, item in value.items():
            if item.__class__ in _HOLDERS and (new := _narrow(item)) is not item:
                made = {**value} if made is value else made
                made[key] = new
    elif value.__class__ is list:
        for place, item in enumerate(value):
            if item.__class__ in _HOLDERS and (new := _narrow(item)) is not item:
                made = [*value] if made is value else made
                made[place] = new
    return made


def _wide(value: dict[str, Any]) -> bytes:
    keys = in_order(value)
    parts = []
    for start in range(0, len(keys), _WIDE):
        charge(_WIDE)
        part = {key: _narrow(value[key]) for key in keys[start : start + _WIDE]}
        parts.append(_encode(part, orjson.OPT_SORT_KEYS)[1:-1])
    return b"{%b}" % b",".join(parts)


def looked_at(value: Any) -> bytes:
    """Return JSON for comparing or searching values. Some numbers differ from Go's form."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return encode_json(value)


def has_nulls(value: Any) -> bool:
    """Return whether a field is null somewhere, or a text looks like that: false where surely none is."""
    return b":null" in looked_at(value)


def _encode(value: Any, option: int) -> bytes:
    try:
        made = orjson.dumps(value, option=option)
        # the encoder has exponents from 1e16 on and at 1e-6, where Go has none
        if (b"e-6" in made or (_PLUS in made and _exponent(made))) and _EXPONENT.search(made):
            made = orjson.dumps(_shown(value), option=option)
        return made
    except TypeError:
        pass
    try:
        return orjson.dumps(_shown(value), option=option)
    except TypeError:  # deeper than it takes
        return json.dumps(value, separators=(",", ":"), sort_keys=bool(option)).encode()


def _exponent(made: bytes) -> bool:
    """Return whether there is an exponent with a plus. A single byte is found fifty times as fast as two."""
    place = made.find(b"+")
    for _ in range(_PLUSES):
        if place < 0:
            return False
        if made[place - 1] == _E:
            break
        place = made.find(b"+", place + 1)
    return b"e+" in made


def _shown(value: Any) -> Any:
    """Return a copy with the values replaced that the encoder cannot show as Go does.

    Those are numbers with an exponent, integers past 64 bits, and halves of surrogate pairs.
    """
    if isinstance(value, dict | list):
        charge(len(value))
    if isinstance(value, dict):
        return {_shown(key): _shown(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_shown(item) for item in value]
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, float):
        return orjson.Fragment(gotext.format_number(value))
    if isinstance(value, int) and not _MIN <= value <= _MAX:
        return orjson.Fragment(str(value))
    return value


def encode_yaml(value: Any) -> bytes:
    """Return YAML as sigs.k8s.io/yaml prints it.

    Keys are sorted, lists not indented, texts quoted if needed, and lines folded at 80.
    """
    from podless.codec import yamlwrite

    return yamlwrite.emit_yaml(value)


class Lazily:
    """A list for `yaml_pieces` whose items are JSON, each decoded when it is reached; there has to be one."""

    __slots__ = ("_items",)

    def __init__(self, items: Iterator[bytes]) -> None:
        self._items = items

    def __iter__(self) -> Iterator[Any]:
        return map(decode_own, self._items)


def yaml_pieces(value: Any) -> Iterator[bytes]:
    """Yield the result of `encode_yaml` in pieces of about 8 KiB, made on demand."""
    from podless.codec import yamlwrite

    return yamlwrite.emit_pieces(value)


def hex_or_text(raw: bytes) -> str:
    """Return the part of a body that an error message shows: text if it looks like an object, else hexadecimal."""
    if not raw:
        return "<empty>"
    shown = raw[:_SNIPPET]
    text = jsontext.decode_utf8(shown) if raw[0] == ord("{") else shown.hex()
    return f"{text} ..." if len(raw) > _SNIPPET else text
