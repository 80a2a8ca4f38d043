"""The nodes of YAML texts: libyaml scans and parses them, and errors have go-yaml's messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import yaml
from yaml import events
from yaml._yaml import CParser

from podless.codec import jsontext
from podless.codec.jsontext import YAMLError
from podless.runtime.meter import charge

_TAGS = "tag:yaml.org,2002:"
_TOO_DEEP = "exceeded max depth of 10000"


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


def compose_nodes(raw: bytes) -> Iterator[YAMLNode]:
    """Yield the root of each document in a text. Raises YAMLError."""
    parser: Any = CParser(raw)
    try:
        parser.get_event()  # skip StreamStartEvent
        while isinstance(start := parser.get_event(), events.DocumentStartEvent):
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
    scalar, alias, mapping, sequence, end = _KINDS
    anchors: dict[str, YAMLNode] = {}
    roots: list[YAMLNode] = []
    children = roots
    ancestors: list[list[YAMLNode]] = []
    following = parser.get_event
    while True:
        charge(1)
        event = following()
        kind = event.__class__
        if kind is scalar:
            tag = event.tag
            node = YAMLNode("scalar", event.start_mark, event.value, _tag_name(tag) if tag else "", event.implicit[0])
            children.append(node)
            if event.anchor:
                anchors[event.anchor] = node
        elif kind is mapping or kind is sequence:
            node = YAMLNode("mapping" if kind is mapping else "sequence", event.start_mark)
            children.append(node)
            ancestors.append(children)
            node.children = children = []
            if event.anchor:
                anchors[event.anchor] = node
            if len(ancestors) >= jsontext.MAX_DEPTH:
                line = node.mark.line
                raise YAMLError(f"yaml: {f'line {line + 1}: ' if line else ''}{_TOO_DEEP}")
        elif kind is alias:
            node = YAMLNode("alias", event.start_mark, event.anchor)
            if event.anchor not in anchors:
                raise YAMLError(f"yaml: unknown anchor '{event.anchor}' referenced")
            node.alias = anchors[event.anchor]
            children.append(node)
        elif kind is end:
            return roots[0]
        else:
            children = ancestors.pop()


_KINDS = (
    events.ScalarEvent,
    events.AliasEvent,
    events.MappingStartEvent,
    events.SequenceStartEvent,
    events.DocumentEndEvent,
)


def _tag_name(tag: str) -> str:
    """Return a tag without YAML's own prefix. Other tags get a "!" in front."""
    return tag[len(_TAGS) :] if tag.startswith(_TAGS) else f"!{tag}"
