"""Compiles checked trees to Python source, with native operators on plain values where the types allow it.

A program has two forms, and both count their cost. The fast form trusts the schema: it converts only values that differ
between JSON and CEL, and raises at the first error. The exact form, which takes over after any error, trusts nothing:
each value is checked against its declaration when it is used, and && and ||, all() and exists() ignore an error if the
other side, or another item, decides.

The generator is one class in three modules: its state and calls (codegen.py), native operators (inline.py), and here
the kinds of nodes, logic and loops.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

from podless.cel.codegen import SORT_BY
from podless.cel.functions import Declarations
from podless.cel.inline import ARITHMETIC, COMPARE, TESTS, InlineGenerator
from podless.cel.schematypes import Decl, unescape_field
from podless.cel.syntax import CallExpr, Comprehension, Expr, Ident, ListExpr, LiteralExpr, MapExpr, MessageExpr, Select
from podless.cel.writer import Value
from podless.runtime.meter import charge

_INITIAL = {"all": "True", "exists": "False", "exists_one": "0", "list": "[]", "map": "{}", "entries": "{}"}
_CONDITIONS = {"all": 2, "exists": 3}
# cost of the accumulator in each iteration, besides the macro's own expressions
_STEPS = {"all": 1, "exists": 1, "exists_one": 1, "list": 1, "map": 2, "entries": 1}
_CHARACTERS = 8  # characters of Python that one step compiles


def generate_program(
    tree: Expr, declarations: Declarations, variables: Mapping[str, Decl | None], exact: bool
) -> Callable[..., tuple[Any, int]]:
    """Return a function of the variables, in order, and the cost limit. It returns the value and its cost.

    The exact form raises EvaluationError with the cost in its attribute cost.
    """
    generator = _ProgramGenerator(declarations, exact)
    writer = generator.writer
    params = []
    for index, (name, decl) in enumerate(variables.items()):
        params.append(f"v{index}")
        generator.scope[name] = generator.bind_variable(Value(f"v{index}", decl))
    writer.begin_function(exact)
    result = generator.emit_value(tree)
    writer.write_cost()
    writer.write_line(f"return {result}, c")
    if exact:
        writer.lines += [" except EvaluationError as error:", "  error.cost = c", "  raise"]
    source = writer.join_source(f"def program({', '.join((*params, 'limit'))}):")
    charge(len(source) // _CHARACTERS)
    exec(compile(source, "<cel>", "exec"), writer.names)
    # the function does not call itself; keeping it here would make a reference cycle
    program: Callable[..., tuple[Any, int]] = writer.names.pop("program")
    return program


class _ProgramGenerator(InlineGenerator):
    """Writes nodes, logic and loops. The exact form keeps an error until the result depends on it."""

    def visit_literal(self, node: LiteralExpr) -> Value:
        value = node.value
        simple = value is None or value.__class__ in (str, int, bool, bytes)
        if not simple and (value.__class__ is not float or not math.isfinite(value)):
            return Value(self.writer.name_constant(value))
        code = f"({value!r})" if value.__class__ in (int, float) and value < 0 else repr(value)
        return Value(code)

    def visit_ident(self, node: Ident) -> Value:
        if node.constant:
            return Value(self.writer.name_constant(node.value))
        variable = self.scope.get(node.name) or Value(f"absent({node.name!r})")
        self.writer.add_cost(1)
        return Value(variable.code, variable.decl)

    def visit_select(self, node: Select) -> Value:
        if node.qualified_ident is not None:
            return self.visit_ident(node.qualified_ident)
        operand = self.emit_node(node.operand)
        if node.is_test:
            return self.emit_presence_test(node, operand)
        self.writer.add_cost(1)
        decl = operand.decl
        if decl is None:
            return Value(f"select({operand.code}, {node.field!r})")
        if decl.kind == "map":
            assert decl.items is not None
            code = f"index({operand.code}, {node.field!r})" if self.exact else f"{operand.code}[{node.field!r}]"
            return self.emit_leaf(self.writer.assign_temp(code), decl.items)
        field_decl = decl.find_field(node.field) if decl.kind == "object" else None
        if field_decl is None:  # after dyn() a field can be undeclared
            return Value(f"select({self.convert_code(operand)}, {node.field!r})")
        real = unescape_field(node.field)
        if self.exact or field_decl.nullable:
            return self.emit_leaf(
                self.writer.assign_temp(f"field({operand.code}, {real!r}, {node.field!r})"), field_decl
            )
        return self.emit_leaf(f"{operand.code}[{real!r}]", field_decl)

    def emit_presence_test(self, node: Select, operand: Value) -> Value:
        decl = operand.decl
        if decl is None:
            code = f"has({operand.code}, {node.field!r}, {self.declarations.kubernetes})"
        elif decl.kind == "map":
            code = f"({node.field!r} in {operand.code})"
        elif decl.kind != "object" or decl.find_field(node.field) is None:
            code = f"has({self.convert_code(operand)}, {node.field!r}, {self.declarations.kubernetes})"
        else:
            code = f"({operand.code}.get({unescape_field(node.field)!r}) is not None)"
        return Value(code)

    def visit_list(self, node: ListExpr) -> Value:
        self.writer.add_cost(0 if self.is_constant(node) else 10)
        items = [self.emit_repeatable(item) for item in node.items]
        if not node.optional:
            return Value(f"[{', '.join(items)}]")
        item_codes = [
            f"*(({code}.value,) if {code}.present else ())" if index in node.optional else code
            for index, code in enumerate(items)
        ]
        return Value(f"[{', '.join(item_codes)}]")

    def visit_map(self, node: MapExpr) -> Value:
        self.writer.add_cost(0 if self.is_constant(node) else 30)
        name = self.writer.assign_temp("{}")
        for entry in node.entries:
            key, value = self.emit_repeatable(entry.key), self.emit_repeatable(entry.value)
            if entry.optional:
                with self.writer.block(f"if {value}.present:"):
                    self.writer.write_line(f"put({name}, {key}, {value}.value)")
                with self.writer.block("else:"):
                    self.writer.write_line(f"remove({name}, {key})")
            else:
                self.writer.write_line(f"put({name}, {key}, {value})")
        return Value(name)

    def visit_message(self, node: MessageExpr) -> Value:
        self.writer.add_cost(40)
        fields = []
        for entry in node.entries:
            code = self.emit_repeatable(entry.value)
            fields.append(f"({entry.key!r}, {f'opened({code})' if entry.optional else code})")
        make = "construct" if node.type.kind == "struct" else "build"
        return Value(f"{make}({node.name!r}, [{', '.join(fields)}])")

    def is_constant(self, node: Expr) -> bool:
        """Return whether a list or map has only literals, so that it is made once."""
        if not isinstance(node, ListExpr | MapExpr):
            return isinstance(node, LiteralExpr)
        result = self.constants.get(node)
        if result is None:
            result = self.constants[node] = all(map(self.is_constant, node.list_children()))
        return result

    def visit_call(self, node: CallExpr) -> Value:
        special = _SPECIAL.get(node.function)
        if special is not None:
            result = special(self, node)
            if result is not None:
                return result
        return self.emit_call(node)

    def emit_logical(self, node: CallExpr) -> Value:
        """Write && or ||."""
        decided = node.function == "_||_"
        terms = _list_terms(node, node.function)
        result = self.writer.name_temp()
        if self.exact:
            self.emit_absorbing(terms, decided, result)
        else:
            self.writer.write_line(f"{result} = {self.emit_condition(terms[0])}")
            for term in terms[1:]:
                with self.writer.block(f"if {'not ' if decided else ''}{result}:"):
                    self.writer.write_line(f"{result} = {self.emit_condition(term)}")
        return Value(result)

    def emit_absorbing(self, terms: list[Expr], decided: bool, result: str) -> None:
        """Write the terms of && or ||, and keep the first error until the result depends on it."""
        error = self.writer.assign_temp("None")
        self.writer.write_line(f"{result} = {not decided}")
        for index, term in enumerate(terms):
            unless_decided = self.writer.block(f"if {result} is {not decided}:") if index else nullcontext()
            with unless_decided, self.attempt(error):
                self.writer.write_line(f"{result} = {self.emit_condition(term)}")
        self.writer.write_cost()
        self.writer.write_line(f"if {error} is not None and {result} is {not decided}: raise {error}")

    def emit_conditional(self, node: CallExpr) -> Value:
        """Write c ? a : b."""
        test, yes, no = node.args
        code = self.emit_condition(test)
        result = self.writer.name_temp()
        with self.writer.block(f"if {code}:"):
            self.writer.write_line(f"{result} = {self.emit_value(yes)}")
        with self.writer.block("else:"):
            self.writer.write_line(f"{result} = {self.emit_value(no)}")
        return Value(result)

    def visit_comprehension(self, node: Comprehension) -> Value:
        if node.macro == "bind":
            return self.emit_bind(node)
        range_value = self.emit_node(node.iter_range)
        writer = self.writer
        saved = self.scope
        result = writer.name_temp()
        writer.write_line(f"{result} = {_INITIAL[node.macro]}")
        error = writer.assign_temp("None") if self.exact and node.macro in ("all", "exists") else ""
        with writer.block(self.emit_loop(node, range_value)):
            writer.loops += 1
            self.emit_body(node, result, error)
            writer.add_cost(_STEPS[node.macro])
            writer.write_cost_check()
            writer.loops -= 1
        self.scope = saved
        writer.add_cost(1)
        if node.macro == "exists_one":
            return Value(f"({result} == 1)")
        if error:
            writer.write_cost()
            writer.write_line(f"if {error} is not None and {result} is {node.macro == 'all'}: raise {error}")
        return Value(result)

    def emit_loop(self, node: Comprehension, range_value: Value) -> str:
        """Return the head of the loop, and bring its variables into scope."""
        name, kind, decl = self.writer.name_temp(), node.iter_range.type.kind, range_value.decl
        item_decl = decl.items if decl is not None and decl.kind in ("list", "map") else None
        code = range_value.code if item_decl is not None else self.convert_code(range_value)
        item = Value(name, item_decl)
        if not node.var2:  # a loop over a map iterates over its keys
            self.scope = self.scope | {node.var: self.bind_variable(item if kind == "list" else Value(name))}
            return f"for {name} in {code if kind in ('list', 'map') else f'iterate({code})'}:"
        key = self.writer.name_temp()
        self.scope = self.scope | {node.var: Value(key), node.var2: self.bind_variable(item)}
        pairs = {"list": f"enumerate({code})", "map": f"{code}.items()"}.get(kind, f"iterate({code}, True)")
        return f"for {key}, {name} in {pairs}:"

    def emit_body(self, node: Comprehension, result: str, error: str) -> None:
        """Write the body of a loop."""
        writer = self.writer
        if node.macro in ("all", "exists"):
            writer.add_cost(_CONDITIONS[node.macro])
            sign = "not " if node.macro == "all" else ""
            with self.attempt(error) if error else nullcontext():
                code = self.emit_condition(node.body)
                with writer.block(f"if {sign}{code}:"):
                    writer.write_line(f"{result} = {node.macro == 'exists'}")
                    writer.write_line("break")
            return
        guard = node.body if node.macro == "exists_one" else node.filter
        with writer.block(f"if {self.emit_condition(guard)}:") if guard is not None else nullcontext():
            self.emit_collect(node, result)

    def emit_collect(self, node: Comprehension, result: str) -> None:
        """Write how a loop updates its result."""
        writer = self.writer
        if node.macro == "exists_one":
            writer.add_cost(1)
            writer.write_line(f"{result} += 1")
        elif node.macro == "list":
            writer.add_cost(11)
            writer.write_line(f"{result}.append({self.emit_value(node.body)})")
        elif node.macro == "map":
            writer.add_cost(1)
            key = self.scope[node.var].code
            writer.write_line(f"insert({result}, {key}, {self.emit_value(node.body)})")
        else:
            writer.add_cost(1)
            name = writer.assign_temp(f"{self.emit_value(node.body)}.items()")
            writer.write_line(f"for entry in {name}: insert({result}, *entry)")

    def emit_bind(self, node: Comprehension) -> Value:
        """Write cel.bind()."""
        self.writer.add_cost(10)
        if self.exact and isinstance(node.result, CallExpr) and node.result.function == SORT_BY:
            value = self.emit_fatal(node.init, node.result)
        else:
            value = self.emit_node(node.init)
        name = self.writer.assign_temp(value.code)
        saved = self.scope
        self.scope = saved | {node.accu: Value(name, value.decl)}
        result = self.emit_node(node.result)
        self.scope = saved
        return result


def _list_terms(node: Expr, function: str) -> list[Expr]:
    if isinstance(node, CallExpr) and node.function == function:
        return [term for arg in node.args for term in _list_terms(arg, function)]
    return [node]


_SPECIAL: dict[str, Callable[..., Value | None]] = {
    "_&&_": _ProgramGenerator.emit_logical,
    "_||_": _ProgramGenerator.emit_logical,
    "_?_:_": _ProgramGenerator.emit_conditional,
    "_==_": _ProgramGenerator.emit_equality,
    "_!=_": _ProgramGenerator.emit_equality,
    **dict.fromkeys(COMPARE, _ProgramGenerator.emit_comparison),
    **dict.fromkeys(ARITHMETIC, _ProgramGenerator.emit_arithmetic),
    "!_": _ProgramGenerator.emit_negation,
    "@in": _ProgramGenerator.emit_membership,
    "size": _ProgramGenerator.emit_size,
    **dict.fromkeys(TESTS, _ProgramGenerator.emit_text_test),
    "matches": _ProgramGenerator.emit_match,
    "_[_]": _ProgramGenerator.emit_index,
    "_[?_]": _ProgramGenerator.charge_optional_index,
    "_?._": _ProgramGenerator.emit_optional_field,
    "or": _ProgramGenerator.emit_or_value,
    "orValue": _ProgramGenerator.emit_or_value,
    "dyn": _ProgramGenerator.emit_dyn,
}
