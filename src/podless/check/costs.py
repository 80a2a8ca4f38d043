"""Estimated costs of rules in definitions, and bounds that make expensive rules acceptable."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

from podless.cel.rules.definitions import (
    RULE_LIMIT,
    EstimatedCost,
    Steps,
    estimate_rules,
    iterate_child_nodes,
    list_nodes,
)
from podless.cel.rules.rule import RULES
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Schema

_MAX_BOUND = 1 << 20  # the largest bound to try
_BOUND_KEYWORDS = {"string": "maxLength", "array": "maxItems", "object": "maxProperties"}


@dataclass(frozen=True, slots=True)
class SuggestedBound:
    """A bound to add to a schema. at: the node, such as properties[spec].properties[items]."""

    at: str
    keyword: str
    most: int

    def __str__(self) -> str:
        return f"{self.keyword}: {self.most} at {self.at or 'the root'}"


@dataclass(frozen=True, slots=True)
class RuleCost:
    """The cost of a validation rule."""

    definition: str
    version: str
    at: str  # its node in the schema
    rule: str
    once: int  # the maximum cost of one evaluation
    times: int  # evaluations for one object
    error: str = ""  # why it does not compile, "" if it does
    alone: tuple[SuggestedBound, ...] = ()  # bounds each of which is sufficient
    together: tuple[SuggestedBound, ...] = ()  # bounds that are sufficient together, if none is alone

    @property
    def total(self) -> int:
        """The maximum cost for one object, in kube-apiserver's units."""
        return self.once * self.times

    @property
    def share(self) -> float:
        """The cost as a share of the limit for one rule."""
        return self.total / RULE_LIMIT


def estimate_costs(definition: dict[str, Any]) -> Iterator[RuleCost]:
    """Yield the costs of the rules of a v1 CustomResourceDefinition, in the order of its versions and fields."""
    name = definition["metadata"].get("name") or ""
    for version in definition["spec"]["versions"]:
        schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
        for steps, nodes in list_nodes(schema):
            for index, cost in enumerate(estimate_rules(nodes)):
                alone: tuple[SuggestedBound, ...] = ()
                together: tuple[SuggestedBound, ...] = ()
                if cost.total > RULE_LIMIT:
                    alone = tuple(_suggest_single(schema, steps, index))
                    together = () if alone else _suggest_joint(schema, steps, index)
                at, rule = ".".join(steps), nodes[-1][RULES][index]["rule"]
                yield RuleCost(
                    name, version["name"], at, rule, cost.per_evaluation, cost.times, cost.error, alone, together
                )


def _estimate_rule(schema: Schema, steps: Steps, index: int) -> EstimatedCost:
    nodes = [schema]
    for step in steps:
        nodes.append(next(child for suffix, child in iterate_child_nodes(nodes[-1]) if suffix == f".{step}"))
    return estimate_rules(tuple(nodes))[index]


def _list_candidates(schema: Schema, steps: Steps) -> list[tuple[Steps, str]]:
    """Return nodes without a bound above and below a rule, which raise its cost, and the keyword of each bound."""
    result = []
    for at, nodes in list_nodes(schema):
        node = nodes[-1]
        is_related = at[: len(steps)] == steps or steps[: len(at)] == at
        word = _BOUND_KEYWORDS.get(node.get("type") or "")
        if not is_related or word is None or node.get(word) is not None or node.get("format") or node.get("enum"):
            continue
        if word == "maxProperties" and not isinstance(node.get("additionalProperties"), dict):
            continue
        result.append((at, word))
    return result


def _suggest_single(schema: Schema, steps: Steps, index: int) -> Iterator[SuggestedBound]:
    for at, word in _list_candidates(schema, steps):
        high = _find_largest(lambda bound, at=at, word=word: _is_under_limit(schema, steps, index, [(at, word, bound)]))  # type: ignore[misc]
        if high:
            yield SuggestedBound(".".join(at), word, high)


def _suggest_joint(schema: Schema, steps: Steps, index: int) -> tuple[SuggestedBound, ...]:
    """Return the same bound for all lists, maps and strings; nothing if that is not sufficient."""
    candidates = _list_candidates(schema, steps)
    maximum = _find_largest(
        lambda bound: _is_under_limit(schema, steps, index, [(at, word, bound) for at, word in candidates])
    )
    return tuple(SuggestedBound(".".join(at), word, maximum) for at, word in candidates) if maximum else ()


def _find_largest(fits: Callable[[int], bool]) -> int:
    """Return the largest bound that fits; 0 if none does."""
    low, high = 0, _MAX_BOUND
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _is_under_limit(schema: Schema, steps: Steps, index: int, bounds: list[tuple[Steps, str, int]]) -> bool:
    """Return whether a rule stays below the limit with some bounds."""
    changed = copy.deepcopy(schema)
    for at, word, bound in bounds:
        node = changed
        for step in at:
            node = next(child for suffix, child in iterate_child_nodes(node) if suffix == f".{step}")
        node[word] = bound
    return _estimate_rule(changed, steps, index).total <= RULE_LIMIT


def format_cost(cost: RuleCost) -> str:
    """Format a rule's cost for display: one line, and a line for each suggested bound."""
    location = f"{cost.definition} {cost.version} {cost.at or 'the root'}"
    if cost.error:
        return f"{location}: {cost.rule}\n  does not compile: {cost.error}"
    share = f"{cost.share:.1%}" if cost.share < 10 else f"{cost.share:,.0f} times"
    lines = [
        f"{location}: {cost.rule}",
        f"  {cost.total:,} = {cost.once:,} x {cost.times:,}; {share} of the limit for a rule",
    ]
    lines += [f"  sufficient: {bound}" for bound in cost.alone]
    if cost.together:
        lines.append("  sufficient together: " + ", ".join(map(str, cost.together)))
    elif cost.share > 1 and not cost.alone:
        lines.append("  no bound is sufficient: simplify the rule")
    return "\n".join(lines)
