"""Validates the rules of a written definition: compilation, use of oldSelf, and estimated cost by node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from podless.cel.rules.objects import NodeRules
from podless.cel.rules.rule import RULES, RuleError, format_rule
from podless.cel.rules.verdict import NodeVerdict, RuleVerdict, judge_node
from podless.cel.schematypes import MAX_REQUEST
from podless.meta import field
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Schema
from podless.runtime.meter import charge
from podless.runtime.release import CURRENT

Steps = tuple[str, ...]
RULE_LIMIT = 10_000_000
TOTAL_LIMIT = 100_000_000
_MAX_COST = (1 << 64) - 1
_CONTRIBUTED = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
_TOTAL = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
_UNTYPED = (
    "internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert"
    " structural schema to CEL declarations"
)


class DefinitionRules:
    """Validates the rules of a definition: podless.schema's Expressions.

    One is created for each write of a definition. old: the schemas of the stored definition on update; rules of an
    unchanged schema have no cost limit.
    """

    def __init__(self, old: Iterable[Schema] = ()) -> None:
        self._old = tuple(old)
        self._root: Schema | None = None
        self._costs: list[tuple[str, int]] = []
        self._unchanged = False
        self._verdicts: dict[int, tuple[Schema, NodeVerdict]] = {}
        self._stored = frozenset(_list_rules(self._old)) if CURRENT.get().without else frozenset[str]()

    def declared(self, schema: Schema, path: str, ancestors: tuple[Schema, ...]) -> list[FieldError]:
        """Return the errors of the rules of one node. ancestors: its ancestors, starting with the root."""
        self._begin_definition(ancestors[0] if ancestors else schema)
        rules_path = f"{path}.{RULES}"
        verdict = self._judge_typed(schema, ancestors)
        if not verdict.has_type:
            return [field.internal(rules_path, _UNTYPED)]
        times = estimate_cardinality(ancestors, verdict.min_bytes)
        uncorrelatable = _find_uncorrelatable(schema, path, ancestors)
        errors: list[FieldError] = []
        for index, (rule, judged) in enumerate(zip(schema[RULES], verdict.rules, strict=True)):
            errors += self._check_rule(rule, judged, f"{rules_path}[{index}]", times, uncorrelatable)
        return errors

    def default(self, schema: Schema, path: str, value: Any) -> list[FieldError]:
        """Return the errors of rules that a default value violates, as an unchanged value and as a new one."""
        rules = NodeRules.compile(schema, resource=bool(schema.get("x-kubernetes-embedded-resource")))
        return rules.validate(value, value, path=path) or rules.validate(value, None, path=path)

    def total(self, schema: Schema, path: str) -> list[FieldError]:
        """Return the errors about the cost of all rules of the schema together."""
        self._begin_definition(schema)
        costs, self._root = self._costs, None
        total = min(sum(cost for _, cost in costs), _MAX_COST)
        self._costs, self._verdicts = [], {}
        if total <= TOTAL_LIMIT:
            return []
        greatest = sorted((entry for entry in costs if entry[1] >= TOTAL_LIMIT // 100), key=lambda entry: -entry[1])[:4]
        errors = [field.forbidden(at, _CONTRIBUTED) for at, _ in greatest]
        return [*errors, field.forbidden(path, _format_excess(_TOTAL, total, TOTAL_LIMIT))]

    def _begin_definition(self, root: Schema) -> None:
        if self._root is not root:
            self._root, self._costs, self._verdicts = root, [], {}
            self._unchanged = any(root == old for old in self._old)

    def _judge_typed(self, schema: Schema, ancestors: tuple[Schema, ...]) -> NodeVerdict:
        """Return the verdict on a node, or on its topmost ancestor with rules whose values have no type."""
        nodes = (*ancestors, schema)
        for index, node in enumerate(nodes[:-1]):
            if node.get(RULES) and not (verdict := self._get_verdict(node, index == 0)).has_type:
                return verdict
        return self._get_verdict(schema, not ancestors)

    def _get_verdict(self, node: Schema, root: bool) -> NodeVerdict:
        entry = self._verdicts.get(id(node))
        if entry is None:
            resource = root or bool(node.get("x-kubernetes-embedded-resource"))
            entry = self._verdicts[id(node)] = (
                node,
                judge_node(node, resource=resource, new=CURRENT.get(), stored=self._stored),
            )
        return entry[1]

    def _check_rule(
        self, schema: Schema, rule: RuleVerdict, rule_path: str, times: int, uncorrelatable: str
    ) -> list[FieldError]:
        errors = self._check_cost(f"{rule_path}.rule", "estimated rule cost", min(rule.cost * times, _MAX_COST))
        if rule.error:
            errors.append(RuleError("FieldValueInvalid", f"{rule_path}.rule", format_rule(schema), rule.error))
        errors += self._check_message(schema, rule, f"{rule_path}.messageExpression")
        if rule.uses_old_self and uncorrelatable:
            text = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {uncorrelatable}"
            errors.append(field.invalid(f"{rule_path}.rule", schema["rule"], text))
        elif not rule.uses_old_self and schema.get("optionalOldSelf") is not None:
            text = "may not be set if oldSelf is not used in rule"
            errors.append(field.invalid(f"{rule_path}.optionalOldSelf", schema["optionalOldSelf"], text))
        return errors

    def _check_message(self, schema: Schema, rule: RuleVerdict, message_path: str) -> list[FieldError]:
        if rule.message_error:
            return [RuleError("FieldValueInvalid", message_path, format_rule(schema), rule.message_error)]
        if rule.message_cost is None:
            return []
        return self._check_cost(message_path, "estimated messageExpression cost", rule.message_cost)

    def _check_cost(self, path: str, name: str, cost: int) -> list[FieldError]:
        self._costs.append((path, cost))
        is_allowed = cost <= RULE_LIMIT or self._unchanged
        return [] if is_allowed else [field.forbidden(path, _format_excess(name, cost, RULE_LIMIT))]


def iterate_child_nodes(node: Schema) -> Iterable[tuple[str, Schema]]:
    """Yield the child nodes of a structural schema, each with its part of the path."""
    for keyword in ("additionalProperties", "items"):
        if isinstance(node.get(keyword), dict):
            yield f".{keyword}", node[keyword]
    for name, child in (node.get("properties") or {}).items():
        yield f".properties[{name}]", child or {}


def _list_rules(schemas: Iterable[Schema]) -> Iterator[str]:
    """Yield the texts of all rules in some schemas."""
    todo = list(schemas)
    while todo:
        charge(1)
        node = todo.pop()
        yield from (rule.get("rule") or "" for rule in node.get(RULES) or ())
        todo += [child for _, child in iterate_child_nodes(node)]


def estimate_cardinality(ancestors: tuple[Schema, ...], minimum: int) -> int:
    """Return the maximum number of values of a node in one request. minimum: minimum bytes of a value."""
    total = 1
    for node in ancestors:
        if node.get("type") == "array":
            max_count = node.get("maxItems")
        elif node.get("type") == "object" and node.get("additionalProperties") is not None:
            max_count = node.get("maxProperties")
        else:
            continue
        if max_count is None:
            return MAX_REQUEST // (minimum + 1)
        total = min(total * max(max_count, 0), _MAX_COST)
    return total


def _find_uncorrelatable(schema: Schema, path: str, ancestors: tuple[Schema, ...]) -> str:
    """Return the path of the topmost list among the ancestors of a node that is not of type map, or ""."""
    steps = []
    for node, child in zip(ancestors, (*ancestors, schema)[1:], strict=True):
        step = next((suffix for suffix, child_node in iterate_child_nodes(node) if child_node is child), "")
        steps.append(step)
    for index, node in enumerate(ancestors):
        if node.get("type") == "array" and node.get("x-kubernetes-list-type") != "map" and steps[index] == ".items":
            return path.removesuffix("".join(steps[index:]))
    return ""


def _format_excess(name: str, cost: int, limit: int) -> str:
    factor = cost / limit
    if factor > 100:
        text = "more than 100x"
    else:
        text = f"{factor:.6f}x" if factor < 1.5 else f"{factor:.1f}x"
    return (
        f"{name} exceeds budget by factor of {text} (try simplifying the rule, or adding maxItems, maxProperties, and"
        " maxLength where arrays, maps, and strings are declared)"
    )


class EstimatedCost(NamedTuple):
    """The estimated maximum cost of one rule, in kube-apiserver's units.

    per_evaluation: of one evaluation. times: evaluations for one object. message: of its messageExpression, 0 without
    one. error: why the rule does not compile, "" if it does.
    """

    per_evaluation: int
    times: int
    message: int
    error: str

    @property
    def total(self) -> int:
        """The cost for one object."""
        return self.per_evaluation * self.times


def list_nodes(schema: Schema) -> Iterator[tuple[Steps, tuple[Schema, ...]]]:
    """Yield the nodes of a structural schema in order: the path of each, and the nodes from the root to it."""
    todo: list[tuple[Steps, tuple[Schema, ...]]] = [((), (schema,))]
    while todo:
        charge(1)
        steps, nodes = todo.pop()
        yield steps, nodes
        children = [
            ((*steps, suffix.removeprefix(".")), (*nodes, child)) for suffix, child in iterate_child_nodes(nodes[-1])
        ]
        todo += reversed(children)


def estimate_rules(nodes: tuple[Schema, ...]) -> list[EstimatedCost]:
    """Estimate the rules of the last node. nodes: from the root to it."""
    *ancestors, node = nodes
    if not node.get(RULES):
        return []
    verdict = judge_node(node, resource=not ancestors or bool(node.get("x-kubernetes-embedded-resource")))
    if not verdict.has_type:
        return [EstimatedCost(0, 1, 0, "the values there have no type")] * len(node[RULES])
    times = estimate_cardinality(tuple(ancestors), verdict.min_bytes)
    return [EstimatedCost(rule.cost, times, rule.message_cost or 0, rule.error) for rule in verdict.rules]
