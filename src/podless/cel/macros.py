"""Macros: calls that the parser expands to comprehensions.

Each makes a Comprehension with the same parts as cel-go, because types and costs depend on them; `macro`, `filter` and
`body` give the compiler a shorter form.
"""

from __future__ import annotations

from collections.abc import Callable

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

# (offset, target, arguments) -> the expansion, None if the call is not a macro
Macro = Callable[[int, Expr | None, list[Expr]], Expr | None]
_SORTED = "@__sortBy_input__"


class MacroError(Exception):
    """The arguments of a macro have the wrong form."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset


def expand_has(offset: int, target: Expr | None, args: list[Expr]) -> Expr:
    """Return has(e.f): a test for a field."""
    operand = args[0]
    if not isinstance(operand, Select):
        raise MacroError(operand.offset, "invalid argument to has() macro")
    return Select(offset, operand.operand, operand.field, test=True)


def _require_name(arg: Expr, text: str) -> str:
    if not isinstance(arg, Ident):
        raise MacroError(arg.offset, text)
    if arg.name in (ACCU, "__result__"):
        raise MacroError(arg.offset, "iteration variable overwrites accumulator variable")
    return arg.name


def _require_one_name(args: list[Expr], text: str = "argument must be a simple name") -> tuple[str, str]:
    return _require_name(args[0], text), ""


def _require_two_names(args: list[Expr]) -> tuple[str, str]:
    for arg in args[:2]:
        if not isinstance(arg, Ident):
            raise MacroError(arg.offset, "argument must be a simple name")
    first, second = args[0], args[1]
    assert isinstance(first, Ident)
    assert isinstance(second, Ident)
    if first.name == second.name:
        raise MacroError(second.offset, f"duplicate variable name: {first.name}")
    return _require_name(first, ""), _require_name(second, "")


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
    return Comprehension(offset, macro, iter_range, names, ACCU, steps, None, body)


def _build_fold(
    macro: str,
    offset: int,
    iter_range: Expr,
    names: tuple[str, str],
    init: Expr,
    step: Expr,
    guard: Expr | None,
    body: Expr,
) -> Expr:
    """Return a comprehension that folds items into a result."""
    if guard is not None:
        step = CallExpr(offset, "_?_:_", [guard, step, Ident(offset, ACCU)])
    steps = (init, LiteralExpr(offset, True, BOOL), step, Ident(offset, ACCU))
    return Comprehension(offset, macro, iter_range, names, ACCU, steps, guard, body)


def _build_list_fold(offset: int, iter_range: Expr, names: tuple[str, str], guard: Expr | None, body: Expr) -> Expr:
    step = CallExpr(offset, "_+_", [Ident(offset, ACCU), ListExpr(offset, [body])])
    return _build_fold("list", offset, iter_range, names, ListExpr(offset, []), step, guard, body)


def _make_quantifier(macro: str) -> Macro:
    def expand_call(offset: int, target: Expr | None, args: list[Expr]) -> Expr:
        assert target is not None
        return _build_quantifier(macro, offset, target, _require_one_name(args), args[1])

    return expand_call


def _make_two_variable_quantifier(macro: str) -> Macro:
    def expand_call(offset: int, target: Expr | None, args: list[Expr]) -> Expr:
        assert target is not None
        return _build_quantifier(macro, offset, target, _require_two_names(args), args[2])

    return expand_call


def _expand_map(offset: int, target: Expr | None, args: list[Expr]) -> Expr:
    assert target is not None
    names = _require_one_name(args, "argument is not an identifier")
    return _build_list_fold(offset, target, names, args[1] if len(args) == 3 else None, args[-1])


def _expand_filter(offset: int, target: Expr | None, args: list[Expr]) -> Expr:
    assert target is not None
    return _build_list_fold(offset, target, _require_one_name(args, "argument is not an identifier"), args[1], args[0])


def _expand_transform_list(offset: int, target: Expr | None, args: list[Expr]) -> Expr:
    assert target is not None
    return _build_list_fold(offset, target, _require_two_names(args), args[2] if len(args) == 4 else None, args[-1])


def _expand_transform_map(offset: int, target: Expr | None, args: list[Expr]) -> Expr:
    assert target is not None
    names = _require_two_names(args)
    step = CallExpr(offset, "cel.@mapInsert", [Ident(offset, ACCU), Ident(offset, names[0]), args[-1]])
    guard = args[2] if len(args) == 4 else None
    return _build_fold("map", offset, target, names, MapExpr(offset, []), step, guard, args[-1])


def _expand_transform_map_entry(offset: int, target: Expr | None, args: list[Expr]) -> Expr:
    assert target is not None
    names = _require_two_names(args)
    step = CallExpr(offset, "cel.@mapInsert", [Ident(offset, ACCU), args[-1]])
    guard = args[2] if len(args) == 4 else None
    return _build_fold("entries", offset, target, names, MapExpr(offset, []), step, guard, args[-1])


def build_bind(offset: int, name: str, value: Expr, body: Expr) -> Comprehension:
    """Return cel.bind(name, value, body): a comprehension over an empty list, whose accumulator is the name."""
    steps = (value, LiteralExpr(offset, False, BOOL), Ident(offset, name), body)
    return Comprehension(offset, "bind", ListExpr(offset, []), (UNUSED, ""), name, steps, None, body)


def _expand_bind(offset: int, target: Expr | None, args: list[Expr]) -> Expr | None:
    if not isinstance(target, Ident) or target.name != "cel":
        return None
    if not isinstance(args[0], Ident):
        raise MacroError(args[0].offset, "cel.bind() variable names must be simple identifiers")
    return build_bind(offset, args[0].name, args[1], args[2])


def _make_optional_macro(flat: bool) -> Macro:
    name = "optFlatMap" if flat else "optMap"

    def expand_call(offset: int, target: Expr | None, args: list[Expr]) -> Expr:
        assert target is not None
        if not isinstance(args[0], Ident):
            raise MacroError(args[0].offset, f"{name}() variable name must be a simple identifier")
        value = build_bind(offset, args[0].name, CallExpr(offset, "value", [], target), args[1])
        present: Expr = value if flat else CallExpr(offset, "optional.of", [value])
        absent = CallExpr(offset, "optional.none", [])
        return CallExpr(offset, "_?_:_", [CallExpr(offset, "hasValue", [], target), present, absent])

    return expand_call


def _expand_sort_by(offset: int, target: Expr | None, args: list[Expr]) -> Expr:
    assert target is not None
    if isinstance(target, LiteralExpr | MapExpr):
        text = "sortBy can only be applied to a list, identifier, comprehension, call or select expression"
        raise MacroError(target.offset, text)
    keys = _expand_map(offset, Ident(offset, _SORTED), args)
    call = CallExpr(offset, "@sortByAssociatedKeys", [keys], Ident(offset, _SORTED))
    return build_bind(offset, _SORTED, target, call)


STANDARD: dict[tuple[str, int, bool], Macro] = {
    ("has", 1, False): expand_has,
    ("all", 2, True): _make_quantifier("all"),
    ("exists", 2, True): _make_quantifier("exists"),
    ("exists_one", 2, True): _make_quantifier("exists_one"),
    ("map", 2, True): _expand_map,
    ("map", 3, True): _expand_map,
    ("filter", 2, True): _expand_filter,
}
TWO_VARIABLES: dict[tuple[str, int, bool], Macro] = {
    ("all", 3, True): _make_two_variable_quantifier("all"),
    ("exists", 3, True): _make_two_variable_quantifier("exists"),
    ("existsOne", 3, True): _make_two_variable_quantifier("exists_one"),
    ("exists_one", 3, True): _make_two_variable_quantifier("exists_one"),
    ("transformList", 3, True): _expand_transform_list,
    ("transformList", 4, True): _expand_transform_list,
    ("transformMap", 3, True): _expand_transform_map,
    ("transformMap", 4, True): _expand_transform_map,
    ("transformMapEntry", 3, True): _expand_transform_map_entry,
    ("transformMapEntry", 4, True): _expand_transform_map_entry,
}
OPTIONALS: dict[tuple[str, int, bool], Macro] = {
    ("optMap", 2, True): _make_optional_macro(False),
    ("optFlatMap", 2, True): _make_optional_macro(True),
}
LISTS: dict[tuple[str, int, bool], Macro] = {("sortBy", 2, True): _expand_sort_by}
BIND: dict[tuple[str, int, bool], Macro] = {
    ("bind", 3, True): _expand_bind,
    ("existsOne", 2, True): _make_quantifier("exists_one"),
}

# macros for rules of CustomResourceDefinitions
KUBERNETES = STANDARD | TWO_VARIABLES | OPTIONALS | LISTS
# the features that a release needs so that new rules can use them
_FEATURES = ((TWO_VARIABLES, "CELTwoVariables"), (LISTS, "CELListsV3"))


FEATURES = tuple(feature for _, feature in _FEATURES)


@bounded_cache(16)
def select_macros(release: Release) -> dict[tuple[str, int, bool], Macro]:
    """Return the macros for a new rule in a release."""
    excluded = {key for macros, feature in _FEATURES if not release.has_feature(feature) for key in macros}
    return {key: macro for key, macro in KUBERNETES.items() if key not in excluded}


EVERY = KUBERNETES | BIND
