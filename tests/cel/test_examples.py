"""Every function of the libraries: its examples are true in both forms of a program."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from podless.cel import compile, library
from podless.cel.functions import Declarations

EVERY, RULES = library.all_libraries(), library.kubernetes_libraries()


def read_functions() -> Iterator[tuple[tuple[str, str], list[str]]]:
    """Library and name of each described function, with its examples."""
    name, examples = ("", ""), list[str]()
    for line in Path(__file__).with_name("functions.txt").read_text().splitlines():
        if line.startswith("  "):
            examples.append(line[2:])
        elif line.startswith("["):
            name = (line[1:-1], "")
        elif line and not line.startswith("#"):
            name, examples = (name[0], line.partition("  # ")[0]), []
            yield name, examples


DESCRIBED = dict(read_functions())
# libraries of which rules do not have the newest version are tried with theirs
EXAMPLES = [
    (name, text, EVERY if any(lib.name == where for lib in EVERY.libraries) else RULES)
    for (where, name), examples in DESCRIBED.items()
    for text in examples
]
# functions that only macros and the compiler call, and those that need an authorizer
WITHOUT = {"@not_strictly_false", "cel.@mapInsert"}


@pytest.mark.parametrize(
    ("name", "text", "declarations"), EXAMPLES, ids=[f"{name}-{index}" for index, (name, *_) in enumerate(EXAMPLES)]
)
def test_example_is_true(name: str, text: str, declarations: Declarations) -> None:
    program = compile(text, declarations=declarations)
    assert program.evaluate() is True
    assert program._generate_function(exact=True)(10**6)[0] is True


def test_all_functions_are_described() -> None:
    libraries = {lib.name: lib for lib in (*EVERY.libraries, *RULES.libraries)}.values()
    functions = {(lib.name, each.function) for lib in libraries for each in lib.overloads}
    assert functions == {*DESCRIBED}
    without = {name for (lib, name), examples in DESCRIBED.items() if not examples and lib != "authz"}
    assert without == WITHOUT


def test_what_rules_have_is_what_a_real_server_has() -> None:
    names = set(library.kubernetes_libraries().functions)
    assert not {name for name in names if name.startswith(("math.", "base64."))}
    assert {"quantity", "semver", "isURL", "ip.isCanonical", "format.named", "sets.contains", "lists.range"} <= names
