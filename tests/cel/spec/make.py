"""Makes facts.json: what the official conformance tests of CEL say, as facts.

    npm pack @bufbuild/cel-spec@0.6.1 && tar xf bufbuild-cel-spec-*.tgz && python -m tests.cel.spec.make package

The package (Apache-2.0) has the tests of cel-spec, tests/simple, as JSON. A fact is the expression, its variables with
their types and values, and the value it gives or that it is an error; descriptions and trees are left out. So are the
tests that ask for what SKIPS names; the file says which they are.
"""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator

from podless.runtime.jsonobject import Object

HERE = pathlib.Path(__file__).parent
# why tests are left out -> what they have in them
SKIPS = {
    "messages, enums and extensions of a protobuf file, which neither Kubernetes nor podless has": re.compile(
        r"cel\.expr\.conformance\.|TestAllTypes|google\.protobuf\.Any\b|NullValue\."
    ),
    "macros that exist only to test an optimizer's output": re.compile(r"cel\.(block|index|iterVar|accuVar)\("),
}
# key of a test -> key of a fact, where the content is taken as it is
_SAME = {"disableCheck": "unchecked", "disableMacros": "plain", "container": "container"}


def main(package: str) -> None:
    """Write the facts of a package that was unpacked here."""
    about = json.loads((pathlib.Path(package) / "package.json").read_text())
    module = (pathlib.Path(package) / "dist/esm/testdata/conformance.js").resolve().as_uri()
    script = f"import({json.dumps(module)}).then(m => console.log(JSON.stringify(m.tests)))"
    tests = json.loads(subprocess.run(["node", "-e", script], check=True, capture_output=True, text=True).stdout)
    sections: dict[str, list[Object]] = {}
    skipped: dict[str, list[str]] = {reason: [] for reason in SKIPS}
    for place, each in every(tests):
        found = fact(each)
        reason = next((reason for reason, sign in SKIPS.items() if sign.search(json.dumps(found))), "")
        if reason:
            skipped[reason].append(f"{place}/{each['name']}")
        else:
            sections.setdefault(place, []).append(found)
    source = f"cel-spec {about['upstreamCelSpecRef']}, {about['license']}, from {about['name']} {about['version']}"
    lines = [f"{json.dumps(name)}: [\n" + ",\n".join(map(line, facts)) + "\n]" for name, facts in sections.items()]
    head = f'{{"source": {json.dumps(source)},\n"skipped": {json.dumps(skipped, indent=0)},\n"sections": {{\n'
    (HERE / "facts.json").write_text(head + ",\n".join(lines) + "\n}}\n")


def every(tests: Object) -> Iterator[tuple[str, Object]]:
    """All tests, each with the suite and section that it stands in."""
    for suite in tests["suites"]:
        for section in suite.get("suites", ()):
            yield from ((f"{suite['name']}/{section['name']}", each["original"]) for each in section.get("tests", ()))


def line(fact: Object) -> str:
    return json.dumps(fact, ensure_ascii=True, separators=(",", ":"))


def fact(test: Object) -> Object:
    """One test in short."""
    found: Object = {"name": test["name"], "expr": test["expr"]}
    found |= {short: test[long] for long, short in _SAME.items() if test.get(long)}
    types = {each["name"]: each["ident"]["type"] for each in test.get("typeEnv", ()) if "ident" in each}
    functions = {each["name"]: each["function"]["overloads"] for each in test.get("typeEnv", ()) if "function" in each}
    if types:
        found["types"] = types
    if functions:
        found["functions"] = functions
    if test.get("bindings"):
        found["bindings"] = {name: value(each["value"]) for name, each in test["bindings"].items()}
    if "value" in test:
        found["value"] = value(test["value"])
    elif "typedResult" in test:
        found |= {"type": test["typedResult"]["deducedType"]}
        if "result" in test["typedResult"]:
            found["value"] = value(test["typedResult"]["result"])
    elif "evalError" in test or "anyEvalErrors" in test:
        found["error"] = True
    elif "unknown" in test or "anyUnknowns" in test:
        found["unknown"] = True
    elif test.get("checkOnly"):
        found["checked"] = True
    else:
        found["value"] = {"bool": True}
    return found


def value(given: Object) -> Object:
    """A value as one entry: its type and what it is."""
    ((key, content),) = given.items()
    kind = key.removesuffix("Value")
    if kind == "list":
        return {"list": [value(each) for each in content.get("values", ())]}
    if kind == "map":
        return {"map": [[value(each["key"]), value(each["value"])] for each in content.get("entries", ())]}
    return {kind: content}


if __name__ == "__main__":
    main(sys.argv[1])
