"""What rules cost: compiling, evaluating with cost counted, walking an object; other Python engines beside it.

The other engines are shown where they are installed: pip install cel-python cel-expr-python common-expression-language.
None of them knows schemas or counts costs; they get the object as a plain variable.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import time
from collections.abc import Callable
from functools import partial
from importlib import metadata
from typing import Any

from bench.record.figure import Figure
from podless.cel import program
from podless.cel.rules import NodeRules
from podless.cel.rules.rule import compile_rule
from podless.cel.schematypes import SchemaTypes

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


def rust_compiled(source: str, value: dict[str, Any]) -> Callable[[], Any]:
    """common-expression-language, compiled beforehand."""
    engine = importlib.import_module("cel")
    made = engine.compile(source)
    return lambda: made.execute({"self": value})


def cpp(source: str, value: dict[str, Any]) -> Callable[[], Any]:
    """cel-expr-python (cel-cpp)."""
    engine = importlib.import_module("cel_expr_python.cel")
    made = engine.NewEnv(variables={"self": engine.Type.DYN}).compile(source)
    return lambda: made.eval(data={"self": value}).plain_value()


_MODULES = {"cel-python": "celpy", "cel-expr-python": "cel_expr_python", "common-expression-language": "cel"}
OTHERS = {"cel-python": celpy, "cel-expr-python": cpp, "common-expression-language": rust_compiled}


def main(smoke: bool = False) -> list[Figure]:
    """Print the table."""
    seconds = 0.01 if smoke else 0.3
    found: list[Figure] = []
    engines = [each for each in OTHERS if not smoke and importlib.util.find_spec(_MODULES[each])]
    titles = [f"{each} {metadata.version(each)}" for each in engines]
    head = f"{'microseconds':14} {'compile':>8} {'evaluate':>9} {'in a walk':>10}"
    print(head + "".join(f"  {title}" for title in titles))
    for name, (source, schema, value) in RULES.items():
        rule = compile_rule({"rule": source}, SchemaTypes(schema, resource=False)).program
        assert rule is not None

        def build(source: str = source, schema: dict[str, Any] = schema) -> None:
            made = compile_rule({"rule": source}, SchemaTypes(schema, resource=False)).program
            assert made is not None
            made.prepare()
            made.estimate()

        spec = {**schema, "x-kubernetes-validations": [{"rule": source}]}
        rules = NodeRules.compile({"type": "object", "properties": {"spec": spec}})
        whole = {"spec": value}
        figures = [
            measure(build, seconds),
            measure(partial(rule.run, value, None), seconds),
            measure(partial(rules.validate, whole), seconds),
        ]
        beside = [elsewhere(OTHERS[each], source, value) for each in engines]
        line = f"{name:14} {figures[0]:8.0f} {figures[1]:9.2f} {figures[2]:10.2f}"
        print(line + "".join(f"  {shown:>{len(title)}}" for shown, title in zip(beside, titles, strict=True)))
        parts = zip(("compile", "evaluate", "in a walk"), figures, strict=True)
        found += [Figure(f"{name}: {part}", value, "us") for part, value in parts]
    print(f"limit of one evaluation: {program.LIMIT} units")
    return found


def elsewhere(engine: Callable[..., Callable[[], Any]], source: str, value: dict[str, Any]) -> str:
    """What an evaluation costs there, or why there is none."""
    try:
        run = engine(source, value)
        return f"{measure(run):.2f}" if run() else "false"
    except Exception as error:
        return type(error).__name__


if __name__ == "__main__":
    main()
