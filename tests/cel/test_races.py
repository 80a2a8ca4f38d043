"""Threads that use the fresh rules of one schema, or one fresh program, at the same time."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from podless.cel import types
from podless.cel.policies import Activation, Environment
from podless.cel.program import Program
from podless.cel.rules import NodeRules, verdict
from tests.races import interleaved, together


def ruled(rule: str, **schema: Any) -> dict[str, Any]:
    return {**schema, "x-kubernetes-validations": [{"rule": rule, "messageExpression": "'no: ' + string(1)"}]}


SCHEMA = ruled(
    "self.metadata.name != 'bad'",
    type="object",
    properties={
        "metadata": {"type": "object"},
        "spec": ruled(
            "self.least <= self.most && self.at < timestamp('2030-01-01T00:00:00Z')",
            type="object",
            properties={
                "least": ruled("self >= 0", type="integer"),
                "most": {"type": "integer"},
                "at": {"type": "string", "format": "date-time"},
                "names": {"type": "array", "items": ruled("self.matches('^[a-z]+$')", type="string")},
                "parts": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": ruled(
                        "self.name != oldSelf.name || self.size >= oldSelf.size",
                        type="object",
                        properties={"name": {"type": "string"}, "size": {"type": "integer"}},
                    ),
                },
                "ways": ruled("self.all(k, self[k] > 0)", type="object", additionalProperties={"type": "integer"}),
            },
        ),
    },
)
GOOD: dict[str, Any] = {
    "metadata": {"name": "a"},
    "spec": {
        "least": 1,
        "most": 2,
        "at": "2020-01-01T00:00:00Z",
        "names": ["a"],
        "parts": [{"name": "a", "size": 2}],
        "ways": {"a": 1},
    },
}
BAD: list[dict[str, Any]] = [
    {"metadata": {"name": "bad"}},
    {"spec": {**GOOD["spec"], "least": 3}},
    {"spec": {**GOOD["spec"], "least": -1}},
    {"spec": {**GOOD["spec"], "at": "2031-01-01T00:00:00Z"}},
    {"spec": {**GOOD["spec"], "names": ["a", "B"]}},
    {"spec": {**GOOD["spec"], "parts": [{"name": "a", "size": 1}]}},
    {"spec": {**GOOD["spec"], "ways": {"a": 0}}},
]


def use(rules: NodeRules, told: list[Any]) -> None:
    told.extend(map(str, rules.validate(GOOD, GOOD)))
    for bad in reversed(BAD):
        if not rules.validate({**GOOD, **bad}, GOOD):
            told.append(bad)


@pytest.mark.parametrize("seed", range(10))
def test_no_rule_is_lost_wherever_a_thread_interrupts_the_other(seed: int) -> None:
    rules, told = NodeRules.compile(SCHEMA), list[Any]()
    interleaved("podless/cel/", *[partial(use, rules, told)] * 2, seed=seed, longest=1000)
    use(rules, told)
    assert told == []


def test_no_rule_is_lost_when_two_threads_use_fresh_ones() -> None:
    for _ in range(20):
        rules, told = NodeRules.compile(SCHEMA), list[Any]()
        together(*[partial(use, rules, told)] * 2)
        use(rules, told)
        assert told == []


def test_two_threads_judge_fresh_rules_alike() -> None:
    told: list[Any] = []

    def judge(schemas: list[dict[str, Any]]) -> None:
        told.append([verdict.judge_node(schema, resource=False) for schema in schemas])

    for number in range(10):
        text = {"type": "string", "maxLength": number + 1}
        properties = {"a": text, "b": {"type": "integer"}}
        rules = ["self.a == self.b", f"self.a.size() < {number}", "oldSelf.a == self.a"]
        schemas = [ruled(rule, type="object", properties=properties) for rule in rules]
        verdict._compute_cached.cache_clear()  # type: ignore[attr-defined]
        together(*[partial(judge, schemas)] * 2)
        judge(schemas)
        assert told == told[:1] * 3
        told.clear()


@pytest.mark.parametrize("seed", range(5))
def test_two_threads_evaluate_fresh_programs_of_a_policy_alike(seed: int) -> None:
    environment, told = Environment(composed=True), list[Any]()
    environment.declare_variable("names", "object.names.map(name, name + 'x')")
    programs = [
        environment.compile_expression(source, (types.BOOL,))
        for source in ("variables.names.exists(name, name == 'bx')", "1 / object.zero == 1 || object.names.size() == 2")
    ]

    def evaluate() -> None:
        for program in programs:
            assert isinstance(program.program, Program)
            activation = Activation({"object": {"names": ["a", "b"], "zero": 0}}, environment.variables)
            told.append(activation.evaluate(program))

    interleaved("podless/cel/", evaluate, evaluate, seed=seed, longest=300)
    assert told == [True] * 4
