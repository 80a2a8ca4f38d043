"""Compiles checked trees to Python source, with native operators on plain values where the types allow it.

A program has two forms. The fast one raises at the first error. The exact one is made when the fast one fails. It
handles errors as CEL does: && and ||, all() and exists() ignore an error if the other side, or another item, decides.
Both count their cost.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from podless.cel.control import ControlGenerator
from podless.cel.declared import Decl, unescape_field
from podless.cel.decls import Declarations
from podless.cel.inline import ARITHMETIC, COMPARE, TESTS, InlineGenerator
from podless.cel.syntax import CallExpr, Expr, Ident, ListExpr, LiteralExpr, MapExpr, MessageExpr, Select
from podless.cel.writer import Value
from podless.runtime.meter import charge

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


class _ProgramGenerator(InlineGenerator, ControlGenerator):
    """One method for each kind of node."""

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
