"""YAML as sigs.k8s.io/yaml reads and prints it: the YAML 1.1 of go-yaml v2, on the way to and from JSON.

libyaml scans (its messages are go-yaml's own); what scalars mean, merge keys, aliases and repeated keys are go-yaml's
rules, written here.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import datetime
import functools
import re
import struct
from collections.abc import Iterator
from typing import Any

import yaml
from yaml import events
from yaml._yaml import CParser

from podless.meta import gotext, jsontext
from podless.meta.jsontext import YAMLError

_TAGS = "tag:yaml.org,2002:"
_WORDS: dict[str, tuple[str, Any]] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), ("bool", True)),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), ("bool", False)),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), ("null", None)),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), ("float", float("nan"))),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), ("float", float("inf"))),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), ("float", float("-inf"))),
    "<<": ("merge", "<<"),
}
_HINTS = frozenset("+-.0123456789yYnNtTfFoO~<")
_RESOLVABLE = {"", "str", "bool", "int", "float", "null", "timestamp"}
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INTEGER = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|([1-9][0-9]*|0))")
_SEXAGESIMAL = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
_DECIMALS = re.compile(r"[0-9]*+")
_TIME = r"([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[.,][0-9]+)?"
_DATE = re.compile(
    rf"([0-9]{{4}})-([0-9]{{1,2}})-([0-9]{{1,2}})(?:[Tt]{_TIME}(?:Z|[-+][0-9]{{2}}:[0-9]{{2}})| {_TIME})?"
)
_MIN_INT, _MAX_INT, _MAX_UINT = -(1 << 63), (1 << 63) - 1, (1 << 64) - 1


def parse(raw: bytes, repeated: list[str] | None = None) -> Any:
    """The first document's value, as JSON has it; a line for every repeated key is appended to `repeated`.

    Raises YAMLError.
    """
    try:
        root = _compose(raw)
    except yaml.reader.ReaderError as error:
        raise YAMLError(f"yaml: {error.reason}") from None
    except yaml.MarkedYAMLError as error:
        raise YAMLError(f"yaml: {_where(error)}{error.problem}") from None
    return None if root is None else _Decoder([] if repeated is None else repeated).value(root)


def _where(error: yaml.MarkedYAMLError) -> str:
    """The line as go-yaml gives it: scanner errors count from one, parser errors from zero, and zero is left out."""
    line = 0
    if error.problem_mark is not None and error.problem_mark.line:
        line = error.problem_mark.line + isinstance(error, yaml.scanner.ScannerError)
    elif error.context_mark is not None:
        line = error.context_mark.line
    return f"line {line}: " if line else ""


class _Node:
    """A scalar (value is its text), a sequence (children), a mapping (keys and values in turn) or an alias."""

    __slots__ = ("alias", "children", "kind", "line", "plain", "tag", "value")

    def __init__(self, kind: str, line: int, value: str = "", tag: str = "", plain: bool = True) -> None:
        self.kind = kind
        self.line = line
        self.value = value
        self.tag = tag
        self.plain = plain
        self.children: list[_Node] = []
        self.alias: _Node | None = None


def _compose(raw: bytes) -> _Node | None:
    """The nodes of the first document; None where there is no document."""
    parser: Any = CParser(raw)
    parser.get_event()  # the stream's start
    if not isinstance(parser.get_event(), events.DocumentStartEvent):
        return None
    anchors: dict[str, _Node] = {}
    root = _Node("document", 0)
    stack = [root]
    while True:
        event = parser.get_event()
        kind = type(event)
        if kind is events.ScalarEvent:
            node = _Node("scalar", event.start_mark.line, event.value, _short(event.tag), event.implicit[0])
        elif kind is events.MappingStartEvent or kind is events.SequenceStartEvent:
            node = _Node("mapping" if kind is events.MappingStartEvent else "sequence", event.start_mark.line)
        elif kind is events.AliasEvent:
            node = _Node("alias", event.start_mark.line, event.anchor)
            if event.anchor not in anchors:
                raise YAMLError(f"yaml: unknown anchor '{event.anchor}' referenced")
            node.alias = anchors[event.anchor]
        elif kind is events.DocumentEndEvent:
            return root.children[0]
        else:
            stack.pop()
            continue
        if event.anchor and kind is not events.AliasEvent:
            anchors[event.anchor] = node
        stack[-1].children.append(node)
        if node.kind in ("mapping", "sequence"):
            stack.append(node)
            if len(stack) > jsontext.MAX_DEPTH:
                raise YAMLError(f"yaml: {f'line {node.line + 1}: ' if node.line else ''}exceeded max depth of 10000")


def _short(tag: str | None) -> str:
    """A tag without the prefix of YAML's own ones; a foreign tag keeps a mark that none of those has."""
    if not tag:
        return ""
    return tag[len(_TAGS) :] if tag.startswith(_TAGS) else f"!{tag}"


class _Decoder:
    """Makes JSON values of nodes, with go-yaml's bounds on what aliases may blow up."""

    def __init__(self, repeated: list[str]) -> None:
        self.repeated = repeated
        self.count = 0
        self.from_alias = 0
        self.open: list[_Node] = []  # the aliases that are being followed
        self.depth = 0

    def value(self, node: _Node) -> Any:
        self.visit()
        if node.kind == "scalar":
            return _json(_scalar(node))
        self.depth += 1
        if self.depth > jsontext.MAX_DEPTH:
            raise YAMLError("yaml: exceeded max depth of 10000")
        if node.kind == "sequence":
            made: Any = [self.value(child) for child in node.children]
        elif node.kind == "mapping":
            keys: dict[Any, str] = {}
            made = {}
            self.fill(node, made, keys)
        else:
            with self.followed(node) as target:
                made = self.value(target)
        self.depth -= 1
        return made

    def visit(self) -> None:
        """Counts a node, and refuses a document that is nearly all made of aliases."""
        self.count += 1
        if not self.open:
            return
        self.from_alias += 1
        if self.from_alias > 100 and self.count > 1000 and self.from_alias / self.count > _allowed(self.count):
            raise YAMLError("yaml: document contains excessive aliasing")

    @contextlib.contextmanager
    def followed(self, node: _Node) -> Iterator[_Node]:
        """What an alias stands for; while it is followed the alias must not be met again."""
        if node.alias is None or any(node is other for other in self.open):
            raise YAMLError(f"yaml: anchor '{node.value}' value contains itself")
        self.open.append(node)
        yield node.alias
        self.open.pop()

    def fill(self, node: _Node, made: dict[str, Any], keys: dict[Any, str]) -> None:
        """Puts a mapping's entries into `made`; keys has those of YAML, where 1 and "1" are two."""
        children = iter(node.children)
        for key, item in zip(children, children, strict=True):
            if key.kind == "scalar" and key.value == "<<" and (key.plain or key.tag == "merge"):
                self.merge(item, made, keys)
                continue
            typed = self.key(key)
            value = self.value(item)
            identity = (type(typed), typed)
            if identity in keys:
                self.repeated.append(f"line {item.line + 1}: key {_gosyntax(typed)} already set in map")
            else:
                keys[identity] = _key_text(typed, value)
            made[keys[identity]] = value

    def key(self, node: _Node) -> Any:
        self.visit()
        target = node.alias if node.kind == "alias" and node.alias is not None else node
        if target.kind != "scalar":
            shown = _gosyntax(self.value(target))
            raise YAMLError(f"yaml: invalid map key: {shown}")
        return _scalar(target)

    def merge(self, node: _Node, made: dict[str, Any], keys: dict[Any, str]) -> None:
        """Takes over the entries of other mappings; of several, the earlier ones win."""
        several = reversed(node.children) if node.kind == "sequence" else [node]
        for source in several:
            target = source.alias if source.kind == "alias" and source.alias is not None else source
            if target.kind != "mapping":
                raise YAMLError("yaml: map merge requires map or sequence of maps as the value")
            self.visit()
            self.depth += 1
            if self.depth > jsontext.MAX_DEPTH:
                raise YAMLError("yaml: exceeded max depth of 10000")
            if source.kind == "alias":
                with self.followed(source) as followed:
                    self.visit()
                    self.fill(followed, made, keys)
            else:
                self.fill(target, made, keys)
            self.depth -= 1


def _allowed(count: int) -> float:
    """The share of a document that may come from aliases: 99% of a small one, falling to 10% of a very large one."""
    return 0.99 - 0.89 * min(max(count - 400_000, 0), 3_600_000) / 3_600_000


def _scalar(node: _Node) -> Any:
    """What a scalar means."""
    if not node.tag and not node.plain:
        return node.value
    if node.tag == "binary":
        try:
            return jsontext.utf8(base64.b64decode(node.value.replace("\n", "").replace("\r", ""), validate=True))
        except (binascii.Error, ValueError):
            raise YAMLError("yaml: !!binary value contains invalid base64 data") from None
    if node.tag not in _RESOLVABLE or node.tag == "str":
        return node.value
    kind, value = resolve(node.value, node.tag)
    if node.tag == "float" and kind == "int":
        return float(value)
    if node.tag and kind != node.tag:
        raise YAMLError(f"yaml: cannot decode !!{kind} `{node.value}` as a !!{node.tag}")
    return value


def resolve(text: str, tag: str = "") -> tuple[str, Any]:
    """The kind and value of a plain scalar; what looks like a date has its own kind and stays text."""
    if text and text[0] not in _HINTS:
        return "str", text
    word = _WORDS.get(text)
    if word is not None:
        return word
    if text[0] == ".":
        return _float(text) or ("str", text)
    if text[0] in "+-0123456789":
        if tag in ("", "timestamp") and _is_date(text):
            return "timestamp", text
        digits = text.replace("_", "")
        return _integer(digits) or _float(digits) or ("str", text)
    return "str", text


def _integer(text: str) -> tuple[str, Any] | None:
    match = _INTEGER.fullmatch(text)
    if not match or len(text) > 70:
        return None
    sign, *digits = match.groups()
    value = next(int(found, base) for found, base in zip(digits, (16, 2, 8, 10), strict=True) if found is not None)
    if sign:
        return ("int", int(f"{sign}{value}")) if _MIN_INT <= int(f"{sign}{value}") <= _MAX_INT else None
    return ("int", value) if value <= _MAX_UINT else None


def _float(text: str) -> tuple[str, Any] | None:
    if not _FLOAT.fullmatch(text):
        return None
    value = float(text)
    return None if value in (float("inf"), float("-inf")) else ("float", value)


def _is_date(text: str) -> bool:
    """Whether go-yaml takes a text for a date: YYYY-M-D, with a time behind a blank, or behind a T with a zone."""
    if text[4:5] != "-" or not (match := _DATE.fullmatch(text)):
        return False
    year, month, day, hour, minute, second = (*(int(found) for found in match.groups() if found), 0, 0, 0)[:6]
    try:
        datetime.datetime(year or 4, month, day, hour, minute, second)  # Python has no year 0; like 4 it is a leap year
    except ValueError:
        return False
    return True


def _json(value: Any) -> Any:
    """A scalar as it is after the way through JSON."""
    if type(value) is float:
        if value != value or value in (float("inf"), float("-inf")):
            shown = "NaN" if value != value else "+Inf" if value > 0 else "-Inf"
            raise YAMLError(f"json: unsupported value: {shown}")
        return jsontext.settle(value)
    if type(value) is int and not _MIN_INT <= value <= _MAX_INT:
        return jsontext.settle(value)
    return value


def _key_text(key: Any, value: Any) -> str:
    """A key as JSON has it: a string, numbers and booleans in their plain form."""
    if isinstance(key, str):
        return key
    if isinstance(key, bool):
        return "true" if key else "false"
    if isinstance(key, int) and key <= _MAX_INT:
        return str(key)
    if isinstance(key, float):
        return {"inf": ".inf", "-inf": "-.inf", "nan": ".nan"}.get(str(key)) or gotext.general(_single(key))
    kind = "%!s(<nil>)" if key is None else "uint64"
    raise YAMLError(f"unsupported map key of type: {kind}, key: {_gosyntax(key)}, value: {_gosyntax(value)}")


def _single(value: float) -> float:
    """The shortest decimal that is the same 32-bit float."""
    try:
        wanted = struct.pack("f", value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    short = (float(f"{value:.{digits}g}") for digits in range(1, 10))
    return next((found for found in short if struct.pack("f", found) == wanted), value)


def _gosyntax(value: Any) -> str:
    """A value as Go's %#v prints it."""
    if value is None:
        return "<nil>"
    if isinstance(value, str):
        return gotext.quote(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if value <= _MAX_INT else hex(value)
    if isinstance(value, float):
        return gotext.general(value)
    if isinstance(value, list):
        return "[]interface {}{" + ", ".join(map(_gosyntax, value)) + "}"
    pairs = (f"{_gosyntax(key)}:{_gosyntax(item)}" for key, item in sorted(value.items()))
    return "map[interface {}]interface {}{" + ", ".join(pairs) + "}"


def emit(value: Any) -> bytes:
    """A JSON value as YAML: block style, keys in go-yaml's order, lists as far in as their key, lines folded at 80."""
    text = yaml.emit(_stream(value), Dumper=yaml.CSafeDumper, width=80, allow_unicode=True)
    return str(text).removesuffix("...\n").encode()


def _stream(value: Any) -> Iterator[events.Event]:
    yield events.StreamStartEvent()
    yield events.DocumentStartEvent(explicit=False)
    yield from _value_events(value)
    yield events.DocumentEndEvent(explicit=False)
    yield events.StreamEndEvent()


def _value_events(value: Any) -> Iterator[events.Event]:
    if isinstance(value, dict):
        yield _MAPPING
        for key in _in_order(value):
            yield _text_event(key)
            yield from _value_events(value[key])
        yield _MAPPING_END
    elif isinstance(value, list):
        yield _SEQUENCE
        for item in value:
            yield from _value_events(item)
        yield _SEQUENCE_END
    elif isinstance(value, str):
        yield _text_event(value)
    else:
        yield _scalar_event(_plain_text(value), "")


_MAPPING = events.MappingStartEvent(None, None, True, flow_style=False)
_MAPPING_END = events.MappingEndEvent()
_SEQUENCE = events.SequenceStartEvent(None, None, True, flow_style=False)
_SEQUENCE_END = events.SequenceEndEvent()


def _scalar_event(text: str, style: str) -> events.Event:
    return events.ScalarEvent(None, None, (True, True), text, style=style)


def _text_event(text: str) -> events.Event:
    """A string: literal where it has lines, quoted where it would mean something else, else as plain as can be."""
    if "\n" in text:
        return _scalar_event(text, "|")
    plain = resolve(text)[0] == "str" and not (":" in text and _SEXAGESIMAL.fullmatch(text))
    return _scalar_event(text, "" if plain else '"')


def _plain_text(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and _MIN_INT <= value <= _MAX_UINT:
        return str(value)
    return gotext.general(float(value))


def _in_order(mapping: dict[str, Any]) -> list[str]:
    """Keys as go-yaml sorts them: letters behind all else, numbers by their value."""
    if all(key.isalpha() for key in mapping):
        return sorted(mapping)
    return sorted(mapping, key=functools.cmp_to_key(_compare))


def _compare(left: str, right: str) -> int:
    if left == right:
        return 0
    start = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), None)
    if start is None:
        return len(left) - len(right)
    a, b = left[start], right[start]
    if a.isalpha() or b.isalpha():
        less = a < b if a.isalpha() and b.isalpha() else b.isalpha()
        return -1 if less else 1
    seed = 0
    if "0" in (a, b):  # in the middle of one number the digits before count, unless all of them are zeros
        seed = int(left[:start][len(left[:start].rstrip("0123456789")) :].strip("0") != "")
    one, two = _digits(left, start), _digits(right, start)
    ranks = [(_number(seed, one), len(one), a), (_number(seed, two), len(two), b)]
    return -1 if ranks[0] < ranks[1] else 1


def _digits(text: str, start: int) -> str:
    match = _DECIMALS.match(text, start)
    return match.group() if match else ""


def _number(seed: int, digits: str) -> int:
    return int(f"{seed}{digits}") if len(digits) < 4000 else 10**4000
