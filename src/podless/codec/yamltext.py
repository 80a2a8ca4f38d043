"""Decodes YAML as sigs.k8s.io/yaml does: the YAML 1.1 of go-yaml v2, converted to JSON.

Merge keys, aliases and duplicate keys follow go-yaml's rules. An alias is decoded once and copied at C speed for each
further use, but counts in full. So a text that is mostly aliases costs little before it is rejected.
"""

from __future__ import annotations

import marshal
import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from podless.codec import jsontext
from podless.codec.jsontext import YAMLError
from podless.codec.yamlnodes import YAMLNode, compose_nodes
from podless.codec.yamlscalar import format_gosyntax, format_key, read_scalar, settle_scalar
from podless.runtime.meter import charge
from podless.runtime.sorting import sort_keys

_MAX_CHARACTERS = 1 << 22  # characters of all findings: because of aliases, a long key can be in many of them
_MARSHAL_VERSION = 2  # a version of marshal without references, which it would detect wrongly here


def parse_yaml(raw: bytes, repeated: list[str] | None = None) -> Any:
    """Return the first document's value in JSON. A line for each duplicate key is appended to `repeated`.

    Raises YAMLError.
    """
    root = next(compose_nodes(raw), None)
    return None if root is None else YAMLDecoder([] if repeated is None else repeated).decode_document(root)


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
            for check in (_check_keys, _check_numbers):
                check(value)
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
                raise YAMLError("yaml: exceeded max depth of 10000")
            self.deepest = self.depth

    def count_nodes(self, nodes: int = 1) -> None:
        """Count nodes, and reject a document that consists mostly of aliases."""
        self.count += nodes
        if not self.open:
            return
        self.from_alias += nodes
        if self.from_alias > 100 and self.count > 1000 and self.from_alias / self.count > _allowed_share(self.count):
            raise YAMLError("yaml: document contains excessive aliasing")

    @contextmanager
    def follow_alias(self, node: YAMLNode) -> Iterator[YAMLNode]:
        """Yield the node of an alias. An alias to the same node inside it is an error."""
        if node.alias is None or any(node is open_node for open_node in self.open):
            raise YAMLError(f"yaml: anchor '{node.value}' value contains itself")
        self.open.append(node)
        yield node.alias
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
        children = iter(node.children)
        for key, item in zip(children, children, strict=True):
            if _is_merge_key(key):
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
            if _is_merge_key(key):
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
        target = node.alias if node.kind == "alias" and node.alias is not None else node
        if target.kind != "scalar":
            text = format_gosyntax(self.decode_value(target))
            raise YAMLError(f"yaml: invalid map key: {text}")
        return read_scalar(target.value, target.tag, target.plain)

    def list_merged_entries(self, node: YAMLNode) -> Iterator[_Entry]:
        """Yield the entries of other mappings that a merge key includes; the first of several wins."""
        for source in reversed(node.children) if node.kind == "sequence" else [node]:
            target = source.alias if source.kind == "alias" and source.alias is not None else source
            if target.kind != "mapping":
                raise YAMLError("yaml: map merge requires map or sequence of maps as the value")
            self.count_nodes()
            self.enter_level()
            yield from self.decode_merged(source, target)
            self.depth -= 1


def _check_keys(value: Any) -> None:
    """Raise YAMLError for a key without a JSON form."""
    if value.__class__ is dict:
        charge(len(value))
        for key, item in value.items():
            if key.__class__ is tuple:
                format_key(key[0], item)
            _check_keys(item)
    elif value.__class__ is list:
        charge(len(value))
        for item in value:
            _check_keys(item)


def _check_numbers(value: Any) -> None:
    """Raise YAMLError for a number without a JSON form."""
    if value.__class__ is dict or value.__class__ is list:
        charge(len(value))
        for item in value.values() if value.__class__ is dict else value:
            _check_numbers(item)
    elif value.__class__ is float:
        settle_scalar(value)


def _is_merge_key(key: YAMLNode) -> bool:
    return key.value == "<<" and key.kind == "scalar" and (key.plain or key.tag == "merge")


def _copy_entry(entry: _Entry) -> _Entry:
    """Return an entry with its own copy of the value."""
    if entry.value.__class__ not in (dict, list):
        return entry
    return entry._replace(value=marshal.loads(marshal.dumps(entry.value, _MARSHAL_VERSION)))


def _allowed_share(count: int) -> float:
    """Return the maximum share of nodes from aliases: 99% for a small document, 10% for a very large one."""
    return 0.99 - 0.89 * min(max(count - 400_000, 0), 3_600_000) / 3_600_000
