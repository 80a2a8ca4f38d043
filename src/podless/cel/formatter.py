"""Formats trees as text, for display.

The text has the same meaning as the tree, with as few spaces and brackets as the grammar allows; macros are written
as calls of macros.
"""

from __future__ import annotations

import json
from typing import Any

from podless.cel.syntax import (
    CallExpr,
    Comprehension,
    Expr,
    ExprVisitor,
    Ident,
    ListExpr,
    LiteralExpr,
    MapEntry,
    MapExpr,
    MessageExpr,
    Select,
)
from podless.cel.values import Uint

_CHOICE, _OR, _AND, _RELATION, _SUM, _PRODUCT, _UNARY, _MEMBER = range(8)
_BINARY = {
    "_||_": ("||", _OR),
    "_&&_": ("&&", _AND),
    **{f"_{sign}_": (sign, _RELATION) for sign in ("==", "!=", "<", "<=", ">", ">=")},
    "@in": ("in", _RELATION),
    **{f"_{sign}_": (sign, _SUM) for sign in "+-"},
    **{f"_{sign}_": (sign, _PRODUCT) for sign in "*/%"},
}
_PREFIX = {"!_": "!", "-_": "-"}
_QUANTIFIERS = ("all", "exists", "exists_one")
_SORTED = "@sortByAssociatedKeys"


def format_expression(tree: Expr) -> str:
    """Format a tree."""
    return _ExpressionFormatter().visit(tree)


class _ExpressionFormatter(ExprVisitor[str]):
    def format_operand(self, node: Expr, level: int) -> str:
        """Format a part that must bind at least as tightly as a level."""
        text = self.visit(node)
        return text if _get_precedence(node) >= level else f"({text})"

    def visit_literal(self, node: LiteralExpr) -> str:
        return _format_literal(node.value)

    def visit_ident(self, node: Ident) -> str:
        return node.name

    def visit_select(self, node: Select) -> str:
        text = f"{self.format_operand(node.operand, _MEMBER)}.{_format_name(node.field)}"
        return f"has({text})" if node.is_test else text

    def visit_call(self, node: CallExpr) -> str:
        name = node.function
        if name in _BINARY:
            sign, level = _BINARY[name]
            left, right = node.args
            # brackets are not needed, because the parser balances chains of && and || anyway
            right_level = level if level in (_OR, _AND) else level + 1
            return f"{self.format_operand(left, level)} {sign} {self.format_operand(right, right_level)}"
        if name in _PREFIX:
            [operand] = node.args
            text = self.format_operand(operand, _MEMBER)
            return f"{_PREFIX[name]}({text})" if isinstance(operand, LiteralExpr) else f"{_PREFIX[name]}{text}"
        if name == "_?_:_":
            return self.format_conditional(node)
        if name in ("_[_]", "_[?_]", "_?._"):
            return self.format_index(node)
        if node.target is None:
            return f"{name}({self.join_nodes(node.args)})"
        return f"{self.format_operand(node.target, _MEMBER)}.{name}({self.join_nodes(node.args)})"

    def format_conditional(self, node: CallExpr) -> str:
        condition, yes, no = node.args
        if (bind := find_optional_bind(node)) is not None:
            assert isinstance(condition, CallExpr)
            assert condition.target is not None
            word = "optFlatMap" if yes is bind else "optMap"
            return f"{self.format_operand(condition.target, _MEMBER)}.{word}({bind.accu}, {self.visit(bind.result)})"
        return f"{self.format_operand(condition, _OR)} ? {self.format_operand(yes, _OR)} : {self.visit(no)}"

    def format_index(self, node: CallExpr) -> str:
        holder, key = node.args
        text = self.format_operand(holder, _MEMBER)
        if node.function == "_?._":
            assert isinstance(key, LiteralExpr)
            return f"{text}.?{_format_name(key.value)}"
        return f"{text}[{'?' if node.function == '_[?_]' else ''}{self.visit(key)}]"

    def join_nodes(self, nodes: list[Expr]) -> str:
        return ", ".join(self.visit(node) for node in nodes)

    def visit_list(self, node: ListExpr) -> str:
        items = (("?" if index in node.optional else "") + self.visit(item) for index, item in enumerate(node.items))
        return f"[{', '.join(items)}]"

    def visit_map(self, node: MapExpr) -> str:
        return f"{{{', '.join(self.format_entry(entry, self.visit(entry.key)) for entry in node.entries)}}}"

    def visit_message(self, node: MessageExpr) -> str:
        return (
            f"{node.name}{{{', '.join(self.format_entry(entry, _format_name(entry.key)) for entry in node.entries)}}}"
        )

    def format_entry(self, entry: MapEntry, key: str) -> str:
        return f"{'?' if entry.optional else ''}{key}: {self.visit(entry.value)}"

    def visit_comprehension(self, node: Comprehension) -> str:
        if node.macro == "bind":
            return self.format_bind(node)
        names = [name for name in (node.var, node.var2) if name]
        range_text = self.format_operand(node.iter_range, _MEMBER)
        if node.macro in _QUANTIFIERS:
            return f"{range_text}.{node.macro}({', '.join([*names, self.visit(node.body)])})"
        word = {"list": "transformList", "map": "transformMap", "entries": "transformMapEntry"}[node.macro]
        if node.macro == "list" and len(names) == 1:
            if isinstance(node.body, Ident) and node.body.name == node.var and node.filter is not None:
                return f"{range_text}.filter({node.var}, {self.visit(node.filter)})"
            word = "map"
        guard = [] if node.filter is None else [self.visit(node.filter)]
        return f"{range_text}.{word}({', '.join([*names, *guard, self.visit(node.body)])})"

    def format_bind(self, node: Comprehension) -> str:
        if isinstance(node.result, CallExpr) and node.result.function == _SORTED:
            keys = node.result.args[0]
            assert isinstance(keys, Comprehension)
            return f"{self.format_operand(node.init, _MEMBER)}.sortBy({keys.var}, {self.visit(keys.body)})"
        return f"cel.bind({node.accu}, {self.visit(node.init)}, {self.visit(node.result)})"


def find_optional_bind(node: CallExpr) -> Comprehension | None:
    """Return the comprehension of a conditional that optMap or optFlatMap expands to; None for others."""
    if node.function != "_?_:_":
        return None
    condition, yes, no = node.args
    absent = isinstance(no, CallExpr) and no.function == "optional.none" and not no.args
    if not absent or not isinstance(condition, CallExpr) or condition.function != "hasValue":
        return None
    value = yes.args[0] if isinstance(yes, CallExpr) and yes.function == "optional.of" and yes.args else yes
    if not isinstance(value, Comprehension) or value.macro != "bind":
        return None
    same_target = (
        isinstance(value.init, CallExpr) and value.init.function == "value" and value.init.target is condition.target
    )
    return value if same_target else None


def _get_precedence(node: Expr) -> int:
    if isinstance(node, CallExpr):
        if node.function in _BINARY:
            return _BINARY[node.function][1]
        if node.function in _PREFIX:
            return _UNARY
        if node.function == "_?_:_":
            return _CHOICE if find_optional_bind(node) is None else _MEMBER
    if isinstance(node, LiteralExpr) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return _UNARY if node.value < 0 else _MEMBER
    return _MEMBER


def _format_name(text: str) -> str:
    """Return a field name, in backticks if it is not an identifier."""
    return text if text.isidentifier() and text.isascii() else f"`{text}`"


def _format_literal(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, bytes):
        return "b'" + "".join(map(_format_octet, value)) + "'"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return f"{int(value)}u" if isinstance(value, Uint) else repr(value)


def _format_octet(byte: int) -> str:
    return chr(byte) if 32 <= byte < 127 and chr(byte) not in "'\\" else f"\\x{byte:02x}"
