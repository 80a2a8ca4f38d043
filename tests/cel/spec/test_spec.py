"""The official conformance tests of CEL, in both forms of a program."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from podless.cel import CelError, Program, compile, values
from tests.cel.spec import facts
from tests.cel.spec.facts import Fact

# what is otherwise here, as in cel-go, which Kubernetes uses, unless another reason is given
KNOWN = {
    "fields/map_fields/map_bad_key_type_and_false": "a constant index that no map can have fails when it is compiled",
    "fields/map_fields/map_bad_key_type_or_true": "a constant index that no map can have fails when it is compiled",
    "fields/qualified_identifier_resolution/map_value_repeat_key": "the last of repeated keys wins",
    "fields/qualified_identifier_resolution/map_value_repeat_key_heterogeneous": "0 and 0u are one key, the last wins",
    "fields/qualified_identifier_resolution/map_key_float": "a double may be the key of a map that is written down",
    "string_ext/format/map support (all key types)": "ours alone: 1 and true are the same key of one map",
    "string_ext/value_errors/indexof_out_of_range": "nothing is found behind the end",
    "string_ext/value_errors/lastindexof_out_of_range": "nothing is found behind the end",
    "timestamps/duration_converters/get_milliseconds": "all milliseconds of a duration, not those of its last second",
    "type_deductions/legacy_nullable_types/null_assignable_to_abstract_parameter_candidate": "null wins over optional",
}
FACTS = list(facts.every())
MAX = 0.01  # of all may be known to differ


def same(got: Any, wanted: Any) -> bool:
    alike = values.name_of(got) == values.name_of(wanted) and values.are_equal(got, wanted)
    return alike or (got != got and wanted != wanted)


def agreeing(fact: Fact) -> tuple[bool, bool]:
    """Whether the quick form of its program gives what it says, and whether the exact one does."""
    given = fact.given
    try:
        program = made(fact)
    except CelError:
        return (bool(given.get("error")),) * 2
    if "type" in given and str(program.type) != str(facts.type_of(given["type"])):
        return False, False
    if "value" not in given and not given.get("error"):
        return True, True
    return agrees(fact, program.evaluate), agrees(fact, partial(run_exact, program))


def agrees(fact: Fact, run: Callable[[dict[str, Any]], Any]) -> bool:
    given = fact.given
    try:
        value = run(fact.bindings)
    except CelError:
        return bool(given.get("error"))
    return not given.get("error") and same(value, facts.value(given["value"]))


def made(fact: Fact) -> Program:
    container, typed = fact.given.get("container", ""), not fact.given.get("unchecked")
    return compile(fact.given["expr"], fact.variables, declarations=fact.declarations, container=container, typed=typed)


def run_exact(program: Program, bindings: dict[str, Any]) -> Any:
    return program.run_exact(*(bindings.get(name) for name in program._variables), limit=10**6)[0]


def test_agrees() -> None:
    found = [(fact.place, *agreeing(fact)) for fact in FACTS]
    assert {place for place, quick, _ in found if not quick} == KNOWN.keys()
    assert {place for place, _, exact in found if not exact} == KNOWN.keys()
    assert len(KNOWN) <= MAX * len(FACTS)


def test_all_are_there() -> None:
    given = json.loads((facts.HERE / "facts.json").read_text())
    assert len(FACTS) > 1700
    assert len(FACTS) + sum(map(len, given["skipped"].values())) == 2344
