"""What rules cost: compiling, evaluating with cost counted, walking an object; other Python engines beside it.

python -m bench.cel; the other engines are shown where they are installed (cel-python, cel-expr-python,
common-expression-language).
"""

from __future__ import annotations

import importlib
import json
import time
from collections.abc import Callable
from typing import Any

from podless.cel import program
from podless.cel.declared import Declared
from podless.cel.rules import Rules
from podless.cel.rules.rule import compile_rule

INT = {"type": "integer"}
WIDGET = {"type": "object", "properties": {"key": {"type": "string"}, "foo": INT}}
REPLICAS = {"type": "object", "properties": dict.fromkeys(("minReplicas", "replicas", "maxReplicas"), INT)}
WIDGETS = {"type": "object", "properties": {"widgets": {"type": "array", "items": WIDGET}}}
TEXT = {"type": "object", "properties": {"s": {"type": "string"}}}

RULES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "three fields": (
        "self.minReplicas <= self.replicas && self.replicas <= self.maxReplicas",
        REPLICAS,
        {"minReplicas": 1, "replicas": 2, "maxReplicas": 3},
    ),
    "20 widgets": (
        "self.widgets.all(w, w.key.startsWith('a') && w.foo < 10)",
        WIDGETS,
        {"widgets": [{"key": f"a{place}", "foo": place % 10} for place in range(20)]},
    ),
    "a pattern": ("self.s.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')", TEXT, {"s": "a-name-of-some-length"}),
    "optional": ("!has(self.s) || self.s.size() < 64", TEXT, {"s": "a-name-of-some-length"}),
}


def measure(run: Callable[[], Any], seconds: float = 0.3) -> float:
    """Microseconds of CPU a call, the best of some rounds."""
    run()
    count, best = 1, float("inf")
    while True:
        started = time.process_time()
        for _ in range(count):
            run()
        spent = time.process_time() - started
        if spent > seconds / 5:
            break
        count *= 4
    for _ in range(4):
        started = time.process_time()
        for _ in range(count):
            run()
        best = min(best, (time.process_time() - started) / count)
    return best * 1e6


def celpy(source: str, value: dict[str, Any]) -> Callable[[], Any]:
    """cel-python."""
    engine = importlib.import_module("celpy")
    environment = engine.Environment()
    made = environment.program(environment.compile(source))
    text = json.loads(json.dumps(value))
    return lambda: made.evaluate({"self": engine.json_to_cel(text)})


def rust(source: str, value: dict[str, Any]) -> Callable[[], Any]:
    """common-expression-language."""
    engine = importlib.import_module("cel")
    return lambda: engine.evaluate(source, {"self": value})


OTHERS = {"cel-python": celpy, "common-expression-language": rust}


def main() -> None:
    """Print the table."""
    print(f"{'rule':14} {'compile us':>11} {'evaluate us':>12} {'in a walk us':>13}  other engines, evaluate us")
    for name, (source, schema, value) in RULES.items():
        rule = compile_rule({"rule": source}, Declared(schema, resource=False)).program
        assert rule is not None

        def build(source: str = source, schema: dict[str, Any] = schema) -> None:
            made = compile_rule({"rule": source}, Declared(schema, resource=False)).program
            assert made is not None
            made.prepare()
            made.estimate()

        spec = {**schema, "x-kubernetes-validations": [{"rule": source}]}
        rules = Rules.compile({"type": "object", "properties": {"spec": spec}})
        whole = {"spec": value}
        figures = [
            measure(build),
            measure(lambda rule=rule, value=value: rule.run(value, None)),  # type: ignore[misc]
            measure(lambda rules=rules, whole=whole: rules.validate(whole)),  # type: ignore[misc]
        ]
        print(f"{name:14} {figures[0]:11.0f} {figures[1]:12.2f} {figures[2]:13.2f}  {others(source, value)}")
    print(f"limit of one evaluation: {program.LIMIT} units")


def others(source: str, value: dict[str, Any]) -> str:
    """The same rule elsewhere, as far as it is installed and takes the rule."""
    found = []
    for name, engine in OTHERS.items():
        try:
            found.append(f"{name} {measure(engine(source, value)):.1f}")
        except Exception as error:
            found.append(f"{name} - ({type(error).__name__})")
    return ", ".join(found)


if __name__ == "__main__":
    main()
