"""Macros: calls that the parser expands to comprehensions.

Each makes a Comprehension with the same parts as cel-go, because types and costs depend on them; `macro`, `filter` and
`body` give the compiler a shorter form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from podless.cel.syntax import (
    ACCU,
    UNUSED,
    CallExpr,
    Comprehension,
    Expr,
    Ident,
    ListExpr,
    LiteralExpr,
    MapExpr,
    Select,
)
from podless.cel.types import BOOL, INT
from podless.runtime.bounded import bounded_cache
from podless.runtime.release import Release

# (offset, target (None for a global macro), arguments) -> the expansion, None if the call is not a macro
Macro = Callable[[int, Any, list[Expr]], Expr | None]
MacroTable = dict[tuple[str, int, bool], Macro]  # by name, number of arguments, and whether it is a method
NameReader = Callable[[list[Expr]], tuple[str, str]]  # arguments -> the names of one or two variables
_SORTED = "@__sortBy_input__"


class MacroError(Exception):
    """The arguments of a macro have the wrong form."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset


def _expand_has(offset: int, target: None, args: list[Expr]) -> Expr:
    """Return has(e.f): a test for a field."""
    operand = args[0]
    if not isinstance(operand, Select):
        raise MacroError(operand.offset, "invalid argument to has() macro")
    return Select(offset, operand.operand, operand.field, is_test=True)


def _read_name(arg: Expr, text: str = "argument must be a simple name") -> str:
    if not isinstance(arg, Ident):
        raise MacroError(arg.offset, text)
    if arg.name in (ACCU, "__result__"):
        raise MacroError(arg.offset, "iteration variable overwrites accumulator variable")
    return arg.name


def _read_one_name(args: list[Expr]) -> tuple[str, str]:
    return _read_name(args[0]), ""


def _read_range_name(args: list[Expr]) -> tuple[str, str]:
    return _read_name(args[0], "argument is not an identifier"), ""


def _read_two_names(args: list[Expr]) -> tuple[str, str]:
    for arg in args[:2]:
        if not isinstance(arg, Ident):
            raise MacroError(arg.offset, "argument must be a simple name")
    first, second = args[0], args[1]
    assert isinstance(first, Ident)
    assert isinstance(second, Ident)
    if first.name == second.name:
        raise MacroError(second.offset, f"duplicate variable name: {first.name}")
    return _read_name(first), _read_name(second)


def _build_quantifier(macro: str, offset: int, iter_range: Expr, names: tuple[str, str], body: Expr) -> Expr:
    def read_accu() -> Expr:
        return Ident(offset, ACCU)

    def make_call(function: str, *args: Expr) -> Expr:
        return CallExpr(offset, function, list(args))

    steps: tuple[Expr, Expr, Expr, Expr]
    if macro == "exists_one":
        one = LiteralExpr(offset, 1, INT)
        step = make_call("_?_:_", body, make_call("_+_", read_accu(), one), read_accu())
        result = make_call("_==_", read_accu(), LiteralExpr(offset, 1, INT))
        steps = (LiteralExpr(offset, 0, INT), LiteralExpr(offset, True, BOOL), step, result)
    elif macro == "all":
        condition = make_call("@not_strictly_false", read_accu())
        steps = (LiteralExpr(offset, True, BOOL), condition, make_call("_&&_", read_accu(), body), read_accu())
    else:
        condition = make_call("@not_strictly_false", make_call("!_", read_accu()))
        steps = (LiteralExpr(offset, False, BOOL), condition, make_call("_||_", read_accu(), body), read_accu())
    return Comprehension(offset, macro, iter_range, *names, ACCU, *steps, None, body)


def _build_fold(
    macro: str, offset: int, iter_range: Expr, names: tuple[str, str], guard: Expr | None, body: Expr
) -> Expr:
    """Return a comprehension that folds items into a list or map. guard: the filter."""
    init: Expr = ListExpr(offset, []) if macro == "list" else MapExpr(offset, [])
    if macro == "list":
        step = CallExpr(offset, "_+_", [Ident(offset, ACCU), ListExpr(offset, [body])])
    else:
        key = [Ident(offset, names[0])] if macro == "map" else []
        step = CallExpr(offset, "cel.@mapInsert", [Ident(offset, ACCU), *key, body])
    if guard is not None:
        step = CallExpr(offset, "_?_:_", [guard, step, Ident(offset, ACCU)])
    steps = (init, LiteralExpr(offset, True, BOOL), step, Ident(offset, ACCU))
    return Comprehension(offset, macro, iter_range, *names, ACCU, *steps, guard, body)


def _make_quantifier(macro: str, read_names: NameReader) -> Macro:
    return lambda offset, target, args: _build_quantifier(macro, offset, target, read_names(args), args[-1])


def _make_fold(macro: str, read_names: NameReader) -> Macro:
    def expand_call(offset: int, target: Expr, args: list[Expr]) -> Expr:
        names = read_names(args)
        guard = args[-2] if len(args) > (3 if names[1] else 2) else None
        return _build_fold(macro, offset, target, names, guard, args[-1])

    return expand_call


def _expand_filter(offset: int, target: Expr, args: list[Expr]) -> Expr:
    return _build_fold("list", offset, target, _read_range_name(args), args[1], args[0])


def build_bind(offset: int, name: str, value: Expr, body: Expr) -> Comprehension:
    """Return cel.bind(name, value, body): a comprehension over an empty list, whose accumulator is the name."""
    steps = (value, LiteralExpr(offset, False, BOOL), Ident(offset, name), body)
    return Comprehension(offset, "bind", ListExpr(offset, []), UNUSED, "", name, *steps, None, body)


def _expand_bind(offset: int, target: Expr, args: list[Expr]) -> Expr | None:
    if not isinstance(target, Ident) or target.name != "cel":
        return None
    if not isinstance(args[0], Ident):
        raise MacroError(args[0].offset, "cel.bind() variable names must be simple identifiers")
    return build_bind(offset, args[0].name, args[1], args[2])


def _make_optional_macro(flat: bool) -> Macro:
    name = "optFlatMap" if flat else "optMap"

    def expand_call(offset: int, target: Expr, args: list[Expr]) -> Expr:
        if not isinstance(args[0], Ident):
            raise MacroError(args[0].offset, f"{name}() variable name must be a simple identifier")
        value = build_bind(offset, args[0].name, CallExpr(offset, "value", [], target), args[1])
        present: Expr = value if flat else CallExpr(offset, "optional.of", [value])
        absent = CallExpr(offset, "optional.none", [])
        return CallExpr(offset, "_?_:_", [CallExpr(offset, "hasValue", [], target), present, absent])

    return expand_call


def _expand_sort_by(offset: int, target: Expr, args: list[Expr]) -> Expr:
    if isinstance(target, LiteralExpr | MapExpr):
        text = "sortBy can only be applied to a list, identifier, comprehension, call or select expression"
        raise MacroError(target.offset, text)
    keys = _build_fold("list", offset, Ident(offset, _SORTED), _read_range_name(args), None, args[1])
    call = CallExpr(offset, "@sortByAssociatedKeys", [keys], Ident(offset, _SORTED))
    return build_bind(offset, _SORTED, target, call)


STANDARD: MacroTable = {
    ("has", 1, False): _expand_has,
    **{(name, 2, True): _make_quantifier(name, _read_one_name) for name in ("all", "exists", "exists_one")},
    **{("map", count, True): _make_fold("list", _read_range_name) for count in (2, 3)},
    ("filter", 2, True): _expand_filter,
}
TWO_VARIABLES: MacroTable = {
    **{(name, 3, True): _make_quantifier(name, _read_two_names) for name in ("all", "exists", "exists_one")},
    ("existsOne", 3, True): _make_quantifier("exists_one", _read_two_names),
    **{("transformList", count, True): _make_fold("list", _read_two_names) for count in (3, 4)},
    **{("transformMap", count, True): _make_fold("map", _read_two_names) for count in (3, 4)},
    **{("transformMapEntry", count, True): _make_fold("entries", _read_two_names) for count in (3, 4)},
}
OPTIONALS: MacroTable = {
    ("optMap", 2, True): _make_optional_macro(False),
    ("optFlatMap", 2, True): _make_optional_macro(True),
}
LISTS: MacroTable = {("sortBy", 2, True): _expand_sort_by}
BIND: MacroTable = {
    ("bind", 3, True): _expand_bind,
    ("existsOne", 2, True): _make_quantifier("exists_one", _read_one_name),
}
KUBERNETES = STANDARD | TWO_VARIABLES | OPTIONALS | LISTS  # for rules of CustomResourceDefinitions
EVERY = KUBERNETES | BIND
# the features that a release needs so that new rules can use them
_FEATURES = ((TWO_VARIABLES, "CELTwoVariables"), (LISTS, "CELListsV3"))
FEATURES = tuple(feature for _, feature in _FEATURES)


@bounded_cache(16)
def select_macros(release: Release) -> MacroTable:
    """Return the macros for a new rule in a release."""
    excluded = {key for macros, feature in _FEATURES if not release.has_feature(feature) for key in macros}
    return {key: macro for key, macro in KUBERNETES.items() if key not in excluded}
