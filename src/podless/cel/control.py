"""Compiles logic, conditions and comprehensions."""

from __future__ import annotations

from contextlib import nullcontext

from podless.cel.codegen import SORT_BY, CodeGenerator
from podless.cel.syntax import CallExpr, Comprehension, Expr
from podless.cel.writer import Value

_INITIAL = {"all": "True", "exists": "False", "exists_one": "0", "list": "[]", "map": "{}", "entries": "{}"}
_CONDITIONS = {"all": 2, "exists": 3}
# cost of the accumulator in each iteration, besides the macro's own expressions
_STEPS = {"all": 1, "exists": 1, "exists_one": 1, "list": 1, "map": 2, "entries": 1}


class ControlGenerator(CodeGenerator):
    """Generates logic, conditionals and loops. The exact form keeps an error until the result depends on it."""

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
