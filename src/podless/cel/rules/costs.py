"""Estimated costs of the rules of a schema, by node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from podless.cel.rules.definitions import child_nodes, estimate_cardinality
from podless.cel.rules.verdict import RULES, judge_node
from podless.runtime.jsonobject import Schema
from podless.runtime.meter import charge

Steps = tuple[str, ...]
_UNTYPED = "the values there have no type"


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
        children = [((*steps, suffix.removeprefix(".")), (*nodes, child)) for suffix, child in child_nodes(nodes[-1])]
        todo += reversed(children)


def estimate_rules(nodes: tuple[Schema, ...]) -> list[EstimatedCost]:
    """Estimate the rules of the last node. nodes: from the root to it."""
    *ancestors, node = nodes
    if not node.get(RULES):
        return []
    verdict = judge_node(node, resource=not ancestors or bool(node.get("x-kubernetes-embedded-resource")))
    if not verdict.has_type:
        return [EstimatedCost(0, 1, 0, _UNTYPED)] * len(node[RULES])
    times = estimate_cardinality(tuple(ancestors), verdict.min_bytes)
    return [EstimatedCost(rule.cost, times, rule.message_cost or 0, rule.error) for rule in verdict.rules]
