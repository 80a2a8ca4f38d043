"""Every function of the libraries: its examples are true in both forms of a program."""

from __future__ import annotations

import pytest

from podless.cel import compile, library
from podless.cel.decls import Declarations, Function

EVERY, RULES = library.all_libraries(), library.kubernetes_libraries()
FUNCTIONS = [(lib.name, each) for lib in EVERY.libraries for each in lib.functions]
EXAMPLES = [(each.name, text, EVERY) for _, each in FUNCTIONS for text in each.examples]
# of libraries whose newest version rules do not have
EXAMPLES += [
    (each.name, text, RULES)
    for lib in RULES.libraries
    if lib not in EVERY.libraries
    for each in lib.functions
    for text in each.examples
]
# functions that only macros and the compiler call, and those that need an authorizer
WITHOUT = {"@not_strictly_false", "cel.@mapInsert"}


@pytest.mark.parametrize(
    ("name", "text", "declarations"), EXAMPLES, ids=[f"{name}-{place}" for place, (name, *_) in enumerate(EXAMPLES)]
)
def test_example_is_true(name: str, text: str, declarations: Declarations) -> None:
    program = compile(text, declarations=declarations)
    assert program.evaluate() is True
    assert program._make(exact=True)(10**6)[0] is True


@pytest.mark.parametrize(("lib", "function"), FUNCTIONS, ids=[f"{lib}-{each.name}" for lib, each in FUNCTIONS])
def test_function_is_documented(lib: str, function: Function) -> None:
    assert function.doc.endswith(".")
    assert function.examples or function.name in WITHOUT or lib == "authz"


def test_what_rules_have_is_what_a_real_server_has() -> None:
    names = set(library.kubernetes_libraries().functions)
    assert not {name for name in names if name.startswith(("math.", "base64."))}
    assert {"quantity", "semver", "isURL", "ip.isCanonical", "format.named", "sets.contains", "lists.range"} <= names
