"""The base of the generator (generate.py): the state of one program, conversions of values, and calls of functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from podless.cel.convert import convert_container, convert_value
from podless.cel.dispatch import guard_overloads
from podless.cel.functions import Declarations, Overload
from podless.cel.schematypes import Decl
from podless.cel.syntax import CallExpr, Expr, ExprVisitor, Ident, LiteralExpr
from podless.cel.types import Type
from podless.cel.validate import PATTERNS
from podless.cel.writer import MAX_DEPTH, MAX_LENGTH, CodeWriter, Value

SORT_BY = "@sortByAssociatedKeys"
# functions whose cost needs a list, even if that argument is an error: the index of the argument
_COUNTED = {"sort": 0, "distinct": 0, SORT_BY: 1}


class CodeGenerator(ExprVisitor[Value]):
    """Generates the code of one program, and holds its state.

    exact: generate the form that checks the type of each value and continues after errors (generate.py).
    """

    def __init__(self, declarations: Declarations, exact: bool) -> None:
        self.declarations = declarations
        self.exact = exact
        self.writer = CodeWriter()
        self.scope: dict[str, Value] = {}
        self.constants: dict[Expr, bool] = {}
        self.halts_by_node: dict[Expr, bool] = {}  # answers of `can_halt`

    def emit_node(self, node: Expr) -> Value:
        """Return the code of a node, after writing the lines that must run before it.

        Code that is nested too deep for Python goes into a separate function.
        """
        if self.writer.depth >= MAX_DEPTH and not isinstance(node, LiteralExpr | Ident):
            return self.emit_separate_function(node)
        value = self.visit(node)
        if len(value.code) > MAX_LENGTH and not isinstance(node, LiteralExpr):
            return Value(self.writer.assign_temp(value.code), value.decl)
        return value

    def emit_separate_function(self, node: Expr) -> Value:
        """Return the code of a node in a separate function."""
        function = self.writer.begin_separate_function(self.exact)
        value = self.visit(node)
        name = function.end(value.code, (variable.code for variable in self.scope.values()))
        return Value(name, value.decl)

    def emit_value(self, node: Expr) -> str:
        """Return the code of a node as a value of the language."""
        return self.convert_code(self.emit_node(node))

    def convert_code(self, value: Value) -> str:
        """Return the code that converts JSON to a CEL value."""
        decl = value.decl
        return value.code if decl is None or decl.is_plain else self.emit_conversion(convert_value, decl, value.code)

    def emit_conversion(self, convert: Callable[[Decl, Any], Any], decl: Decl, code: str) -> str:
        return f"{self.writer.name_constant(partial(convert, decl))}({code})"

    def emit_leaf(self, code: str, decl: Decl) -> Value:
        """Return the code of a part of JSON. Convert scalars now, and leave lists and maps as JSON.

        The exact form calls even the conversion of a plain value, because it raises for a value of another type.
        """
        if decl.kind in ("list", "map", "object"):
            return Value(code, decl)
        if decl.is_plain and not self.exact:
            return Value(code)
        if decl.kind == "double" and not self.exact and not decl.nullable:
            return Value(f"float({code})")
        return Value(self.emit_conversion(convert_value, decl, code))

    def emit_repeatable(self, node: Expr) -> str:
        """Return code that can be repeated and keeps its order of evaluation among its neighbours."""
        code = self.emit_value(node)
        return code if code.isidentifier() or isinstance(node, LiteralExpr) else self.writer.assign_temp(code)

    def name_code(self, code: str) -> str:
        """Return a variable for code that is used more than once."""
        return code if code.isidentifier() else self.writer.assign_temp(code)

    def emit_condition(self, node: Expr) -> str:
        """Return the code of a value that must be a bool."""
        code = self.emit_value(node)
        return code if node.type.kind == "bool" and node.type.name != "wrapper" else f"truth({code})"

    def bind_variable(self, item: Value) -> Value:
        """Return a variable. Scalars are converted where they are used."""
        if item.decl is None:
            return item
        if self.exact and item.decl.kind in ("list", "map", "object"):
            return Value(self.emit_conversion(convert_container, item.decl, item.code), item.decl)
        return self.emit_leaf(item.code, item.decl)

    def emit_call(self, node: CallExpr) -> Value:
        """Write a call of the function. Arguments of unknown type are checked first."""
        nodes = node.list_children()
        fatal = _COUNTED.get(node.function, -1) if self.exact else -1
        emit = [
            partial(self.emit_fatal if index == fatal else self.emit_argument, arg, node)
            for index, arg in enumerate(nodes)
        ]
        evaluates_both = len(nodes) == 2 and node.function != "format" and self.can_halt(nodes[1])
        args = [
            value.code for value in (self.emit_pair(*emit) if evaluates_both else [emit_arg() for emit_arg in emit])
        ]
        self.writer.write_clock_check()
        overloads = [self.declarations.overloads[name] for name in node.overloads]
        call = self.choose_callee(node, overloads, [arg.type for arg in nodes])
        result = self.writer.assign_temp(f"{self.writer.name_constant(call)}({', '.join(args)})")
        self.emit_cost(overloads, nodes, args, result)
        return Value(result)

    def emit_fatal(self, arg: Expr, call: CallExpr) -> Value:
        """Return the name of an argument whose error ends the evaluation, because the cost function needs a list."""
        if len(call.overloads) != 1:
            return Value(self.emit_repeatable(arg))
        writer = self.writer
        with writer.block("try:"):
            name = writer.assign_temp(self.emit_value(arg))
        writer.write_line("except Halted: raise")
        writer.write_line("except EvaluationError: raise Panic")
        return Value(name)

    def emit_argument(self, arg: Expr, _: CallExpr) -> Value:
        """Return an argument as the name of a variable."""
        return Value(self.emit_repeatable(arg))

    def can_halt(self, tree: Expr) -> bool:
        """Return whether an error in a subtree can end the whole evaluation."""
        if not self.exact:
            return False
        result = self.halts_by_node.get(tree)
        if result is None:
            counts_list = isinstance(tree, CallExpr) and tree.function in _COUNTED
            result = self.halts_by_node[tree] = counts_list or any(map(self.can_halt, tree.list_children()))
        return result

    @contextmanager
    def attempt(self, error: str) -> Iterator[None]:
        """Write the lines of a `with` statement as a block that keeps its first error in a variable."""
        with self.writer.block("try:"):
            yield
        self.writer.write_line("except Halted: raise")
        self.writer.write_line(f"except EvaluationError as caught: {error} = {error} or caught")

    def emit_pair(self, left: Callable[[], Value], right: Callable[[], Value]) -> tuple[Value, Value]:
        """Return two operands as names of variables.

        The second is evaluated even if the first fails, because its error can end the evaluation.
        """
        writer = self.writer
        failed = writer.assign_temp("None")
        operands = []
        for emit in (left, right):
            name = writer.assign_temp("None")
            with self.attempt(failed):
                value = emit()
                writer.write_line(f"{name} = {value.code}")
            operands.append(Value(name, value.decl))
        writer.write_line(f"if {failed} is not None: raise {failed}")
        return operands[0], operands[1]

    def choose_callee(self, node: CallExpr, overloads: list[Overload], types: list[Type]) -> Callable[..., Any]:
        """Return the function to call: the implementation, or a wrapper that checks the arguments first."""
        if not overloads:
            return guard_overloads(node.function, [])
        # the parts of an optional oldSelf can have other types than the checker found
        always_fits = not self.exact and all(
            _always_fits(type_, declared) for type_, declared in zip(types, overloads[0].args, strict=True)
        )
        if always_fits and len({id(overload.call) for overload in overloads}) == 1:
            call = overloads[0].call
            assert call is not None
            return call
        return guard_overloads(node.function, overloads, is_nameless=_has_constant_pattern(node))

    def emit_cost(self, overloads: list[Overload], nodes: list[Expr], args: list[str], result: str) -> None:
        """Write the cost of a call."""
        cost = self.declarations.costs.get(overloads[0].name) if overloads else None
        if cost is None:
            self.writer.add_cost(1)
            return
        name = self.writer.name_constant(cost.actual if len(overloads) == 1 else _tolerate_other_overloads(cost.actual))
        self.writer.add_cost(f"{name}({', '.join((*args, result))})")
        self.writer.write_cost()
        self.writer.write_line("if c > limit: raise CostExceeded")


def _always_fits(actual: Type, declared: Type) -> bool:
    """Return whether a value of the actual type always fits, so that no check is needed."""
    if declared.kind in ("dyn", "param"):
        return True
    if actual.kind in ("dyn", "null", "error", "param") or actual.name == "wrapper":
        return False
    return actual.kind == declared.kind


def _tolerate_other_overloads(actual: Callable[..., int]) -> Callable[..., int]:
    """Return the cost function of the first overload; it returns 1 if another overload was called."""

    def compute_cost(*args: Any) -> int:
        try:
            return actual(*args)
        except (AttributeError, TypeError, ValueError):
            return 1

    return compute_cost


def _has_constant_pattern(node: CallExpr) -> bool:
    """Return whether a call matches a constant pattern. cel-go then calls a function that it made of the pattern."""
    if node.function not in PATTERNS:
        return False
    pattern = node.list_children()[1]
    while isinstance(pattern, CallExpr) and pattern.function == "dyn":
        pattern = pattern.args[0]
    return isinstance(pattern, LiteralExpr) and isinstance(pattern.value, str)
