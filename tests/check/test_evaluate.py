"""A rule is taken apart, and its parts have their values."""

from __future__ import annotations

from typing import Any

from podless.check.evaluate import evaluate_rule

TIME = {"type": "string", "format": "date-time"}
ITEM = {"type": "object", "properties": {"port": {"type": "integer"}, "at": TIME}}
SPEC = {
    "type": "object",
    "properties": {"ports": {"type": "array", "items": ITEM}, "low": {"type": "integer"}, "at": TIME},
}
SCHEMA = {"type": "object", "properties": {"spec": SPEC}}
OBJECT = {
    "metadata": {"name": "a"},
    "spec": {"low": 3, "at": "2020-01-01T00:00:00Z", "ports": [{"port": 1, "at": "2021-01-01T00:00:00Z"}, {"port": 9}]},
}


def lines(rule: str, **more: Any) -> list[str]:
    found = evaluate_rule(rule, OBJECT, schema=SCHEMA, **more)
    return [f"{' ' * step.depth}{step.text} => {step.value or step.error}" for step in found.steps]


def test_parts_are_below_what_they_make() -> None:
    assert lines("self.spec.low < 3 && self.spec.low > 1 && has(self.spec.at)") == [
        "self.spec.low < 3 && self.spec.low > 1 && has(self.spec.at) => false",
        " self.spec.low < 3 => false",
        "  self.spec.low => 3",
        " self.spec.low > 1 => true",
        " has(self.spec.at) => true",
    ]


def test_loops_are_shown_for_each_item() -> None:
    assert lines("self.spec.ports.exists(p, p.port > 1)")[2:] == [
        ' p => {"port": 1, "at": timestamp("2021-01-01T00:00:00Z")}',
        "  p.port > 1 => false",
        "   p.port => 1",
        ' p => {"port": 9}',
        "  p.port > 1 => true",
        "   p.port => 9",
    ]


def test_long_loops_are_cut() -> None:
    many = {**OBJECT, "spec": {"ports": [{"port": place} for place in range(50)]}}
    found = evaluate_rule("self.spec.ports.all(p, p.port >= 0)", many, schema=SCHEMA)
    assert (found.steps[-1].text, found.steps[-1].value) == ("...", "45 more")


def test_errors_are_where_they_happen() -> None:
    assert lines("self.spec.ports[7].port == 1")[1:3] == [
        " self.spec.ports[7].port => index out of bounds: 7",
        "  self.spec.ports[7] => index out of bounds: 7",
    ]
    found = evaluate_rule("self.spec.ports[7].port == 1", OBJECT, schema=SCHEMA)
    assert (found.value, found.error) == (None, "index out of bounds: 7")


def test_the_old_object_is_another_variable() -> None:
    found = evaluate_rule("self.spec.low >= oldSelf.spec.low", OBJECT, {"spec": {"low": 4}}, SCHEMA)
    assert (found.value, found.type) == (False, "bool")
    assert found.cost <= found.estimate


def test_without_a_schema_types_are_found_at_run_time() -> None:
    assert evaluate_rule("self.a.size() + 1", {"a": [1, 2]}).value == 3
