"""The verdict on the rules of one schema node: types, costs and errors, cached.

A definition is validated at every write, and its versions and other definitions often share rules. A verdict follows
from the visible part of the node: what its rules can refer to. It is cached by the digest of that part; compiled
programs are not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

from podless.cel import library
from podless.cel.parser import MAX_SIZE
from podless.cel.rules.rule import RULES, ValidationRule, compile_rule
from podless.cel.schematypes import SchemaTypes, unescape_field
from podless.codec import serializer
from podless.runtime.jsonobject import Schema
from podless.runtime.lazy import compile_late
from podless.runtime.meter import charge, each, each_part
from podless.runtime.release import ALL_ON, Release, has

# features of the served release that change estimates, also for stored rules
_COST_FEATURES = ("CELCostOfOpaqueEquality", "CELIntOrStringLengths", "CELPlainKeywords", "CELSizesOfConversions")
# what a verdict depends on: texts of rules, and the keywords that cel/schematypes.py reads
_RULE_TEXTS = ("rule", "messageExpression", "optionalOldSelf")
_KEYWORDS = (
    *("type", "format", "maxLength", "maxItems", "maxProperties", "enum", "required"),
    *("x-kubernetes-int-or-string", "x-kubernetes-embedded-resource"),
)
_RESOURCE_NAMES = frozenset(("kind", "apiVersion", "metadata", "name", "generateName"))
_IDENTIFIER = compile_late("[A-Za-z_][A-Za-z0-9_]*")
_CACHE_SIZE = 1024  # verdicts in the cache
_MAX_ERROR_TEXT = 4096  # maximum characters of errors in a cached verdict


class RuleVerdict(NamedTuple):
    """The verdict on one rule. cost: maximum of one evaluation. error, message_error: why it does not compile.

    message_cost: None without a messageExpression. uses_old_self: the rule uses oldSelf.
    """

    cost: int
    error: str
    uses_old_self: bool
    message_cost: int | None
    message_error: str


class NodeVerdict(NamedTuple):
    """All rules of a node. has_type: rules can use the type of values. min_bytes: minimum bytes of a value."""

    has_type: bool
    min_bytes: int
    rules: tuple[RuleVerdict, ...]


class _LongVerdict(Exception):
    """A verdict that is too long to be cached."""

    def __init__(self, verdict: NodeVerdict) -> None:
        super().__init__()
        self.verdict = verdict


class _VerdictKey:
    """The visible part of a node as a cache key. Keys of equal ones are equal."""

    __slots__ = ("digest", "new", "node", "resource", "stored")

    def __init__(self, node: Schema, resource: bool, new: Release, stored: frozenset[str]) -> None:
        rules = node.get(RULES) or ()
        sources = {rule.get(name) or "" for rule in rules for name in ("rule", "messageExpression")}
        estimated = [name for name in _COST_FEATURES if not has(name)] if rules else []
        self.node: Schema | None = _reduce_node(node, _list_names(sources))
        self.node[RULES] = [{name: rule.get(name) for name in _RULE_TEXTS} for rule in rules]
        self.digest = sha256(
            serializer.encode_for_comparison(
                [self.node, resource, sorted(new.without), estimated, sorted(sources & stored)]
            )
        ).digest()
        self.resource = resource
        self.new = new
        self.stored = stored

    def __hash__(self) -> int:
        return hash(self.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _VerdictKey) and self.digest == other.digest


def _list_names(sources: Iterable[str]) -> set[str]:
    """Return all names of properties that expressions can refer to, and possibly more."""
    names = set(_RESOURCE_NAMES)
    for source in sources:
        if len(source) <= MAX_SIZE:  # else it does not compile
            for part in each_part([*_IDENTIFIER.findall(source), *source.split("`")]):
                names.update(map(unescape_field, part))
    return names


def _reduce_node(node: Schema, names: set[str]) -> Schema:
    """Return the part of a node that expressions with some names can see, and that gives the size of its values."""
    reduced: Schema = {key: node[key] for key in _KEYWORDS if key in node}
    if node.get("default") is not None:
        reduced["default"] = True
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            reduced[key] = _reduce_node(node[key], names)
    if properties := node.get("properties"):
        visible = properties.keys() & names
        visible.update(name for name in each(node.get("required") or ()) if name in properties)
        charge(len(visible) + 1)
        reduced["properties"] = {
            name: None if properties[name] is None else _reduce_node(properties[name], names)
            for name in sorted(visible)
        }
    return reduced


def judge_node(
    node: Schema, *, resource: bool, new: Release = ALL_ON, stored: frozenset[str] = frozenset()
) -> NodeVerdict:
    """Return the verdict on a node of a valid schema. resource: it is the root or an embedded resource.

    new: the release whose CEL library new rules may use; rules in `stored` may use more. Schemas that compile with the
    library of the oldest release share one verdict for all releases.
    """
    if new.without:
        verdict = _find_verdict(node, resource, library.oldest_release(), stored)
        if not any(rule.error or rule.message_error for rule in verdict.rules):
            return verdict
    return _find_verdict(node, resource, library.reduce_release(new), stored)


def _find_verdict(node: Schema, resource: bool, new: Release, stored: frozenset[str]) -> NodeVerdict:
    key = _VerdictKey(node, resource, new, stored)
    try:
        verdict = _compute_cached(key)
    except _LongVerdict as long:
        return long.verdict
    key.node = None  # the cache keeps the key, which must not keep the schema alive
    return verdict


def _compute_verdict(key: _VerdictKey) -> NodeVerdict:
    node = key.node
    assert node is not None
    declared = SchemaTypes(node, resource=key.resource)
    if declared.root is None:
        return NodeVerdict(False, 0, ())
    new, stored = key.new, key.stored
    rules = tuple(
        _judge_rule(compile_rule(spec, declared, ALL_ON if spec.get("rule") in stored else new))
        for spec in node.get(RULES) or ()
    )
    verdict = NodeVerdict(True, declared.root.min_bytes, rules)
    if sum(len(rule.error) + len(rule.message_error) + 100 for rule in rules) > _MAX_ERROR_TEXT:
        raise _LongVerdict(verdict)
    return verdict


_compute_cached: Callable[[_VerdictKey], NodeVerdict] = lru_cache(maxsize=_CACHE_SIZE)(_compute_verdict)


def _judge_rule(rule: ValidationRule) -> RuleVerdict:
    cost = rule.program.estimate().high if rule.program is not None else 0
    message_cost = rule.message.estimate().high if rule.message is not None else None
    return RuleVerdict(cost, rule.error, rule.uses_old_self, message_cost, rule.message_error)
