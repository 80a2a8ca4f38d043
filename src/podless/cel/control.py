"""Compiles logic, conditions and comprehensions."""

from __future__ import annotations

from collections.abc import Callable

from podless.cel.codegen import SORT_BY, CodeGenerator
from podless.cel.syntax import CallExpr, Comprehension, Expr
from podless.cel.writer import Value

_INITIAL = {"all": "True", "exists": "False", "exists_one": "0", "list": "[]", "map": "{}", "entries": "{}"}
_CONDITIONS = {"all": 2, "exists": 3}
# cost of the accumulator in each iteration, besides the macro's own expressions
_STEPS = {"all": 1, "exists": 1, "exists_one": 1, "list": 1, "map": 2, "entries": 1}


class ControlGenerator(CodeGenerator):
    """In the exact form, errors are kept until it is known whether they count."""

    def logical(self, node: CallExpr) -> Value:
        """Write && or

        .
        """
        decided = node.function == "_||_"
        terms = _terms(node, node.function)
        result = self.writer.temp()
        if self.exact:
            self.emit_absorbing(terms, decided, result)
        else:
            self.writer.line(f"{result} = {self.emit_condition(terms[0])}")
            for term in terms[1:]:
                self.writer.open(f"if {'not ' if decided else ''}{result}:")
                code = self.emit_condition(term)
                self.writer.line(f"{result} = {code}")
                self.writer.close()
        return Value(result, node.type)

    def emit_absorbing(self, terms: list[Expr], decided: bool, result: str) -> None:
        """Write the terms of && or ||. The first error is kept until it is known whether it counts."""
        error = self.writer.keep("None")
        self.writer.line(f"{result} = {not decided}")
        for index, term in enumerate(terms):
            if index:
                self.writer.open(f"if {result} is {not decided}:")
            self.emit_attempt(error, lambda term=term: self.writer.line(f"{result} = {self.emit_condition(term)}"))  # type: ignore[misc]
            if index:
                self.writer.close()
        self.writer.settle()
        self.writer.line(f"if {error} is not None and {result} is {not decided}: raise {error}")

    def emit_attempt(self, error: str, body: Callable[[], None]) -> None:
        """Write a body, and keep its first error under a name."""
        self.writer.open("try:")
        body()
        self.writer.close()
        self.writer.line("except Halted: raise")
        self.writer.line(f"except EvaluationError as caught: {error} = {error} or caught")

    def conditional(self, node: CallExpr) -> Value:
        """Write c ? a : b."""
        test, yes, no = node.args
        code = self.emit_condition(test)
        result = self.writer.temp()
        self.writer.open(f"if {code}:")
        self.writer.line(f"{result} = {self.emit_value(yes)}")
        self.writer.close()
        self.writer.open("else:")
        self.writer.line(f"{result} = {self.emit_value(no)}")
        self.writer.close()
        return Value(result, node.type)

    def comprehension(self, node: Comprehension) -> Value:
        if node.macro == "bind":
            return self.emit_bound(node)
        over = self.emit(node.over)
        writer = self.writer
        saved = self.scope
        result = writer.temp()
        writer.line(f"{result} = {_INITIAL[node.macro]}")
        error = writer.keep("None") if self.exact and node.macro in ("all", "exists") else ""
        writer.open(self.emit_loop(node, over))
        writer.loops += 1
        self.emit_body(node, result, error)
        writer.spend(_STEPS[node.macro])
        writer.write_cost_check()
        writer.loops -= 1
        writer.close()
        self.scope = saved
        writer.spend(1)
        if node.macro == "exists_one":
            return Value(f"({result} == 1)", node.type)
        if error:
            writer.settle()
            writer.line(f"if {error} is not None and {result} is {node.macro == 'all'}: raise {error}")
        return Value(result, node.type)

    def emit_loop(self, node: Comprehension, over: Value) -> str:
        """Return the head of the loop, and bring its variables into scope."""
        name = self.writer.temp()
        decl = over.decl
        listed = node.over.type.kind == "list"
        kind = node.over.type
        inner = decl.items if decl is not None and decl.kind in ("list", "map") else None
        where = (
            over.code
            if inner is not None or (kind.kind in ("list", "map") and decl is None)
            else self.convert_code(over)
        )
        item = Value(name, kind.params[-1] if kind.params else node.over.type, inner)
        if not node.var2:
            # a loop over a map iterates over its keys
            alone = item if listed else Value(name, kind.params[0] if kind.params else kind)
            self.scope = self.scope | {node.var: self.bind_variable(alone)}
            return f"for {name} in {where}:" if kind.kind in ("list", "map") else f"for {name} in iterate({where}):"
        key = self.writer.temp()
        self.scope = self.scope | {
            node.var: Value(key, kind.params[0] if kind.params else kind),
            node.var2: self.bind_variable(item),
        }
        if listed:
            return f"for {key}, {name} in enumerate({where}):"
        return (
            f"for {key}, {name} in {where}.items():"
            if kind.kind == "map"
            else f"for {key}, {name} in iterate({where}, True):"
        )

    def emit_body(self, node: Comprehension, result: str, error: str) -> None:
        """Write the body of a loop."""
        writer = self.writer
        if node.macro in ("all", "exists"):
            writer.spend(_CONDITIONS[node.macro])
            sign = "not " if node.macro == "all" else ""
            stop = f"{result} = {node.macro == 'exists'}"

            def test() -> None:
                code = self.emit_condition(node.body)
                writer.settle()
                writer.open(f"if {sign}{code}:")
                writer.line(stop)
                writer.line("break")
                writer.close()

            if error:
                self.emit_attempt(error, test)
            else:
                test()
            return
        guard = node.body if node.macro == "exists_one" else node.guard
        if guard is not None:
            code = self.emit_condition(guard)
            writer.open(f"if {code}:")
        self.emit_collect(node, result)
        if guard is not None:
            writer.close()

    def emit_collect(self, node: Comprehension, result: str) -> None:
        """Write how a loop updates its result."""
        writer = self.writer
        if node.macro == "exists_one":
            writer.spend(1)
            writer.line(f"{result} += 1")
        elif node.macro == "list":
            writer.spend(11)
            writer.line(f"{result}.append({self.emit_value(node.body)})")
        elif node.macro == "map":
            writer.spend(1)
            key = self.scope[node.var].code
            writer.line(f"insert({result}, {key}, {self.emit_value(node.body)})")
        else:
            writer.spend(1)
            name = writer.keep(f"{self.emit_value(node.body)}.items()")
            writer.line(f"for entry in {name}: insert({result}, *entry)")

    def emit_bound(self, node: Comprehension) -> Value:
        """Write cel.bind()."""
        self.writer.spend(10)
        if self.exact and isinstance(node.result, CallExpr) and node.result.function == SORT_BY:
            value = self.emit_fatal(node.init, node.result)
        else:
            value = self.emit(node.init)
        name = self.writer.keep(value.code)
        saved = self.scope
        self.scope = saved | {node.accu: Value(name, value.kind, value.decl)}
        result = self.emit(node.result)
        self.scope = saved
        return result


def _terms(node: Expr, function: str) -> list[Expr]:
    """Return all terms of a tree of one logical operator."""
    if isinstance(node, CallExpr) and node.function == function:
        return [term for arg in node.args for term in _terms(arg, function)]
    return [node]
