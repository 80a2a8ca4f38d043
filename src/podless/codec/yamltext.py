"""Decodes YAML as sigs.k8s.io/yaml does: the YAML 1.1 of go-yaml v2, converted to JSON.

libyaml parses a text to events, which become nodes, then JSON values. Errors are go-yaml's, and merge keys, aliases and
duplicate keys follow its rules. An alias is decoded once and copied at C speed for each further use, but counts in
full. So a text that is mostly aliases costs little before it is rejected.
"""

from __future__ import annotations

import marshal
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import yaml
from yaml._yaml import CParser
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceStartEvent,
)

from podless.codec import jsontext
from podless.codec.jsontext import YAMLError
from podless.codec.yamlscalar import format_gosyntax, format_key, read_scalar, settle_scalar
from podless.runtime.meter import charge
from podless.runtime.sorting import sort_keys

_MAX_CHARACTERS = 1 << 22  # characters of all findings: because of aliases, a long key can be in many of them
_TAGS = "tag:yaml.org,2002:"
_TOO_DEEP = "exceeded max depth of 10000"
_MARSHAL_VERSION = 2  # a version of marshal without references, which it would detect wrongly here


def parse_yaml(raw: bytes, repeated: list[str] | None = None) -> Any:
    """Return the first document's value in JSON. repeated: gets a line for each duplicate key. Raises YAMLError."""
    root = next(compose_nodes(raw), None)
    return None if root is None else YAMLDecoder([] if repeated is None else repeated).decode_document(root)


class YAMLNode:
    """A scalar (value: its text), a sequence (children), a mapping (children: keys and values in turn) or an alias.

    mark: its position, with `line` and `column` from 0. tag: "" for none. alias: the node of an alias.
    """

    __slots__ = ("alias", "children", "kind", "mark", "plain", "tag", "value")

    def __init__(self, kind: str, mark: Any, value: str = "", tag: str = "", plain: bool = True) -> None:
        self.kind = kind
        self.mark = mark
        self.value = value
        self.tag = tag
        self.plain = plain
        self.children: Sequence[YAMLNode] = ()
        self.alias: YAMLNode | None = None

    @property
    def target(self) -> YAMLNode:
        """The node of an alias, for other nodes the node itself."""
        return self if self.alias is None else self.alias

    def list_entries(self) -> Iterator[tuple[YAMLNode, YAMLNode]]:
        """Return the keys and values of a mapping."""
        children = iter(self.children)
        return zip(children, children, strict=True)

    @property
    def is_merge_key(self) -> bool:
        """Whether the value of this key is merged into the mapping."""
        return self.value == "<<" and self.kind == "scalar" and (self.plain or self.tag == "merge")


def compose_nodes(raw: bytes) -> Iterator[YAMLNode]:
    """Yield the root of each document in a text. Raises YAMLError."""
    parser: Any = CParser(raw)
    try:
        parser.get_event()  # skip StreamStartEvent
        while isinstance(start := parser.get_event(), DocumentStartEvent):
            if start.version not in (None, (1, 1)):
                line = start.start_mark.line if start.start_mark else 0
                raise YAMLError(f"yaml: {f'line {line}: ' if line else ''}found incompatible YAML document")
            yield _compose_document(parser)
    except yaml.reader.ReaderError as error:
        raise YAMLError(f"yaml: {error.reason}") from None
    except yaml.MarkedYAMLError as error:
        # libyaml stops at 1,000 levels from 0.2.6 on
        problem = _TOO_DEEP if error.problem == "exceeded maximum nesting depth" else error.problem
        raise YAMLError(f"yaml: {_format_line(error)}{problem}") from None


def _format_line(error: yaml.MarkedYAMLError) -> str:
    """Return the line as go-yaml reports it: scanner errors count from 1, parser errors from 0; line 0 is omitted."""
    line = 0
    if error.problem_mark is not None and error.problem_mark.line:
        line = error.problem_mark.line + isinstance(error, yaml.scanner.ScannerError)
    elif error.context_mark is not None:
        line = error.context_mark.line
    return f"line {line}: " if line else ""


def _compose_document(parser: Any) -> YAMLNode:
    anchors: dict[str, YAMLNode] = {}
    roots: list[YAMLNode] = []
    children = roots
    ancestors: list[list[YAMLNode]] = []
    following = parser.get_event
    while True:
        charge(1)
        event = following()
        kind = event.__class__
        if kind is ScalarEvent:
            tag = event.tag
            node = YAMLNode("scalar", event.start_mark, event.value, _name_tag(tag) if tag else "", event.implicit[0])
            children.append(node)
        elif kind is MappingStartEvent or kind is SequenceStartEvent:
            node = YAMLNode("mapping" if kind is MappingStartEvent else "sequence", event.start_mark)
            children.append(node)
            ancestors.append(children)
            node.children = children = []
            if len(ancestors) >= jsontext.MAX_DEPTH:
                line = node.mark.line
                raise YAMLError(f"yaml: {f'line {line + 1}: ' if line else ''}{_TOO_DEEP}")
        elif kind is AliasEvent:
            if event.anchor not in anchors:
                raise YAMLError(f"yaml: unknown anchor '{event.anchor}' referenced")
            node = YAMLNode("alias", event.start_mark, event.anchor)
            node.alias = anchors[event.anchor]
            children.append(node)
            continue
        elif kind is DocumentEndEvent:
            return roots[0]
        else:
            children = ancestors.pop()
            continue
        if event.anchor:
            anchors[event.anchor] = node


def _name_tag(tag: str) -> str:
    """Return a tag without YAML's own prefix. Other tags get a "!" in front."""
    return tag[len(_TAGS) :] if tag.startswith(_TAGS) else f"!{tag}"


class _AnchorResult(NamedTuple):
    """The result of an anchored node. nodes: visited. height: levels. content: packed value, or a mapping's entries."""

    nodes: int
    height: int
    repeated: list[str]
    content: Any


class _Entry(NamedTuple):
    """An entry of a mapping. typed: its key in YAML, where 1 and "1" differ. line: of its value, from 0."""

    typed: Any
    line: int
    value: Any

    @property
    def finding(self) -> str:
        """Return the finding for this key, if it is a duplicate."""
        return f"line {self.line + 1}: key {format_gosyntax(self.typed)} already set in map"


class YAMLDecoder:
    """Converts nodes to JSON values, with go-yaml's limits for aliases. repeated: gets findings."""

    def __init__(self, repeated: list[str]) -> None:
        self.repeated = repeated
        self.room = _MAX_CHARACTERS
        self.count = 0
        self.from_alias = 0
        self.open: list[YAMLNode] = []  # the aliases that are being resolved
        self.depth = self.deepest = 0
        self.values: dict[YAMLNode, _AnchorResult] = {}
        self.merges: dict[YAMLNode, _AnchorResult] = {}
        self.has_unprintable = False  # True if a key or number without a JSON form was found

    def decode_document(self, root: YAMLNode) -> Any:
        """Return the value of a document. Raises YAMLError, also if the value has no JSON form."""
        value = self.decode_value(root)
        if self.has_unprintable:
            entries = list(_walk_entries("", value))
            for key, item in entries:
                if key.__class__ is tuple:
                    format_key(key[0], item)
            for _, item in entries:
                settle_scalar(item)
        return value

    def decode_value(self, node: YAMLNode) -> Any:
        """Return the value of a node. Raises YAMLError."""
        self.count_nodes()
        kind = node.kind
        if kind == "scalar":
            scalar = read_scalar(node.value, node.tag, node.plain)
            if scalar.__class__ is float and not math.isfinite(scalar):
                self.has_unprintable = True
                return scalar
            return settle_scalar(scalar)
        self.enter_level()
        if kind == "sequence":
            charge(len(node.children))
            result: Any = [self.decode_value(child) for child in node.children]
        elif kind == "mapping":
            result = self.decode_mapping(node)
        else:
            result = self.decode_alias(node)
        self.depth -= 1
        return result

    def enter_level(self) -> None:
        """Go one level down. Raises YAMLError if there are too many."""
        self.depth += 1
        if self.depth > self.deepest:
            if self.depth > jsontext.MAX_DEPTH:
                raise YAMLError(f"yaml: {_TOO_DEEP}")
            self.deepest = self.depth

    def count_nodes(self, nodes: int = 1) -> None:
        """Count nodes, and reject a document that consists mostly of aliases."""
        self.count += nodes
        if not self.open:
            return
        self.from_alias += nodes
        if self.from_alias > 100 and self.count > 1000 and self.from_alias / self.count > _limit_share(self.count):
            raise YAMLError("yaml: document contains excessive aliasing")

    @contextmanager
    def follow_alias(self, node: YAMLNode) -> Iterator[YAMLNode]:
        """Yield the node of an alias. An alias to the same node inside it is an error."""
        if any(node is open_node for open_node in self.open):
            raise YAMLError(f"yaml: anchor '{node.value}' value contains itself")
        self.open.append(node)
        yield node.target
        self.open.pop()

    def decode_alias(self, node: YAMLNode) -> Any:
        """Return the value of an alias."""
        with self.follow_alias(node) as target:
            cached = self.values.get(target)
            if cached is None or not self.replay_anchor(cached):
                result, nodes, height, findings = self.measure_work(lambda: self.decode_value(target))
                self.values[target] = _AnchorResult(nodes, height, findings, marshal.dumps(result, _MARSHAL_VERSION))
                return result
        return marshal.loads(cached.content)

    def decode_merged(self, source: YAMLNode, target: YAMLNode) -> Iterable[_Entry]:
        """Return the entries of a mapping that is merged into another one, including those that it merges itself."""
        if source is target:
            return list(self.decode_entries(target))
        with self.follow_alias(source):
            self.count_nodes()
            cached = self.merges.get(target)
            if cached is not None and self.replay_anchor(cached):
                return map(_copy_entry, cached.content)
            entries: list[_Entry]
            entries, nodes, height, findings = self.measure_work(lambda: list(self.decode_entries(target)))
            self.merges[target] = _AnchorResult(nodes, height, findings, list(map(_copy_entry, entries)))
        return entries

    def measure_work(self, work: Any) -> tuple[Any, int, int, list[str]]:
        """Return the result of `work`, the number of nodes visited, the levels, and the findings."""
        count, start, deepest = self.count, len(self.repeated), self.deepest
        self.deepest = self.depth
        result = work()
        height = self.deepest - self.depth
        self.deepest = max(deepest, self.deepest)
        return result, self.count - count, height, self.repeated[start:]

    def replay_anchor(self, cached: _AnchorResult) -> bool:
        """Count a cached node again. Returns False if it is too deep here, and must be visited again for the error."""
        if self.depth + cached.height > jsontext.MAX_DEPTH:
            return False
        self.count_nodes(cached.nodes)
        for finding in cached.repeated:
            self.note_repeated(finding)
        return True

    def note_repeated(self, finding: str) -> None:
        """Record a duplicate key."""
        if self.room > 0:
            self.room -= len(finding)
            self.repeated.append(finding)

    def decode_entries(self, node: YAMLNode) -> Iterator[_Entry]:
        """Yield the entries of a mapping, including merged ones."""
        charge(len(node.children))
        for key, item in node.list_entries():
            if key.is_merge_key:
                yield from self.list_merged_entries(item)
            else:
                yield _Entry(self.decode_key(key), item.mark.line, self.decode_value(item))

    def decode_mapping(self, node: YAMLNode) -> dict[str, Any]:
        """Return the value of a mapping, sorted by keys. The last value of a duplicate key counts; it is recorded."""
        result: dict[str, Any] = {}
        keys: dict[Any, Any] = {}
        charge(len(node.children))
        children = iter(node.children)
        for key, item in zip(children, children, strict=True):
            if key.value == "<<" and key.is_merge_key:  # nearly never, so without a call for most keys
                for entry in self.list_merged_entries(item):
                    self.put_entry(entry, result, keys)
                continue
            typed = self.decode_key(key)
            value = self.decode_value(item)
            if typed.__class__ is str and typed not in keys:
                result[typed] = value
                keys[typed] = typed
            else:
                self.put_entry(_Entry(typed, item.mark.line, value), result, keys)
        return result if self.has_unprintable else sort_keys(result)  # keys without a JSON form have no order

    def format_key(self, typed: Any, value: Any) -> Any:
        """Return a key in JSON; in a tuple if it has no JSON form, which is reported at the end."""
        try:
            return format_key(typed, value)
        except YAMLError:
            self.has_unprintable = True
            return (typed,)

    def put_entry(self, entry: _Entry, mapping: dict[Any, Any], keys: dict[Any, Any]) -> None:
        """Add an entry to a mapping. keys: the JSON form of its keys."""
        typed, _, value = entry
        identity = typed if typed.__class__ is str else (typed.__class__, typed)
        text = keys.get(identity)
        if text is None:
            text = keys[identity] = self.format_key(typed, value)
        elif self.room > 0:
            self.note_repeated(entry.finding)
        mapping[text] = value

    def decode_key(self, node: YAMLNode) -> Any:
        """Return the value of a key in YAML."""
        self.count_nodes()
        target = node if node.alias is None else node.alias  # for each key, so without a call
        if target.kind != "scalar":
            text = format_gosyntax(self.decode_value(target))
            raise YAMLError(f"yaml: invalid map key: {text}")
        return read_scalar(target.value, target.tag, target.plain)

    def list_merged_entries(self, node: YAMLNode) -> Iterator[_Entry]:
        """Yield the entries of other mappings that a merge key includes; the first of several wins."""
        for source in reversed(node.children) if node.kind == "sequence" else [node]:
            target = source.target
            if target.kind != "mapping":
                raise YAMLError("yaml: map merge requires map or sequence of maps as the value")
            self.count_nodes()
            self.enter_level()
            yield from self.decode_merged(source, target)
            self.depth -= 1


def _walk_entries(key: Any, value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield a value and all values in it with their keys or indexes."""
    charge(1)
    yield key, value
    if value.__class__ is dict or value.__class__ is list:
        for name, item in value.items() if value.__class__ is dict else enumerate(value):
            yield from _walk_entries(name, item)


def _copy_entry(entry: _Entry) -> _Entry:
    if entry.value.__class__ not in (dict, list):
        return entry
    return entry._replace(value=marshal.loads(marshal.dumps(entry.value, _MARSHAL_VERSION)))


def _limit_share(count: int) -> float:
    """Return the maximum share of nodes from aliases: 99% for a small document, 10% for a very large one."""
    return 0.99 - 0.89 * min(max(count - 400_000, 0), 3_600_000) / 3_600_000
