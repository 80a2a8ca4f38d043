"""Formats trees as text, for display.

The text has the same meaning as the tree, with as few spaces and brackets as the grammar allows; macros are written as
such.
"""

from __future__ import annotations

import json
from typing import Any

from podless.cel.syntax import (
    CallExpr,
    Comprehension,
    Expr,
    Ident,
    ListExpr,
    LiteralExpr,
    MapEntry,
    MapExpr,
    MessageExpr,
    Pass,
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
    return _Text().visit(tree)


class _Text(Pass[str]):
    def within(self, node: Expr, level: int) -> str:
        """Format a part that must bind at least as tightly as a level."""
        shown = self.visit(node)
        return shown if _level(node) >= level else f"({shown})"

    def literal(self, node: LiteralExpr) -> str:
        return _literal(node.value)

    def ident(self, node: Ident) -> str:
        return node.name

    def select(self, node: Select) -> str:
        shown = f"{self.within(node.operand, _MEMBER)}.{_name(node.field)}"
        return f"has({shown})" if node.test else shown

    def call(self, node: CallExpr) -> str:
        name = node.function
        if name in _BINARY:
            sign, level = _BINARY[name]
            one, other = node.args
            # brackets are not needed, because the parser balances chains of && and || anyway
            inner = level if level in (_OR, _AND) else level + 1
            return f"{self.within(one, level)} {sign} {self.within(other, inner)}"
        if name in _PREFIX:
            [operand] = node.args
            shown = self.within(operand, _MEMBER)
            return f"{_PREFIX[name]}({shown})" if isinstance(operand, LiteralExpr) else f"{_PREFIX[name]}{shown}"
        if name == "_?_:_":
            return self.choice(node)
        if name in ("_[_]", "_[?_]", "_?._"):
            return self.part(node)
        if node.target is None:
            return f"{name}({self.several(node.args)})"
        return f"{self.within(node.target, _MEMBER)}.{name}({self.several(node.args)})"

    def choice(self, node: CallExpr) -> str:
        condition, yes, no = node.args
        if (bound := optional_name(node)) is not None:
            assert isinstance(condition, CallExpr)
            assert condition.target is not None
            word = "optFlatMap" if yes is bound else "optMap"
            return f"{self.within(condition.target, _MEMBER)}.{word}({bound.accu}, {self.visit(bound.result)})"
        return f"{self.within(condition, _OR)} ? {self.within(yes, _OR)} : {self.visit(no)}"

    def part(self, node: CallExpr) -> str:
        holder, key = node.args
        shown = self.within(holder, _MEMBER)
        if node.function == "_?._":
            assert isinstance(key, LiteralExpr)
            return f"{shown}.?{_name(key.value)}"
        return f"{shown}[{'?' if node.function == '_[?_]' else ''}{self.visit(key)}]"

    def several(self, nodes: list[Expr]) -> str:
        return ", ".join(self.visit(node) for node in nodes)

    def list(self, node: ListExpr) -> str:
        items = (("?" if index in node.optional else "") + self.visit(item) for index, item in enumerate(node.items))
        return f"[{', '.join(items)}]"

    def map(self, node: MapExpr) -> str:
        return f"{{{', '.join(self.entry(entry, self.visit(entry.key)) for entry in node.entries)}}}"

    def message(self, node: MessageExpr) -> str:
        return f"{node.name}{{{', '.join(self.entry(entry, _name(entry.key)) for entry in node.entries)}}}"

    def entry(self, entry: MapEntry, key: str) -> str:
        return f"{'?' if entry.optional else ''}{key}: {self.visit(entry.value)}"

    def comprehension(self, node: Comprehension) -> str:
        if node.macro == "bind":
            return self.bound(node)
        names = [name for name in (node.var, node.var2) if name]
        over = self.within(node.over, _MEMBER)
        if node.macro in _QUANTIFIERS:
            return f"{over}.{node.macro}({', '.join([*names, self.visit(node.body)])})"
        word = {"list": "transformList", "map": "transformMap", "entries": "transformMapEntry"}[node.macro]
        if node.macro == "list" and len(names) == 1:
            if isinstance(node.body, Ident) and node.body.name == node.var and node.guard is not None:
                return f"{over}.filter({node.var}, {self.visit(node.guard)})"
            word = "map"
        guard = [] if node.guard is None else [self.visit(node.guard)]
        return f"{over}.{word}({', '.join([*names, *guard, self.visit(node.body)])})"

    def bound(self, node: Comprehension) -> str:
        if isinstance(node.result, CallExpr) and node.result.function == _SORTED:
            keys = node.result.args[0]
            assert isinstance(keys, Comprehension)
            return f"{self.within(node.init, _MEMBER)}.sortBy({keys.var}, {self.visit(keys.body)})"
        return f"cel.bind({node.accu}, {self.visit(node.init)}, {self.visit(node.result)})"


def optional_name(node: CallExpr) -> Comprehension | None:
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
    made = isinstance(value.init, CallExpr) and value.init.function == "value" and value.init.target is condition.target
    return value if made else None


def _level(node: Expr) -> int:
    """Return the precedence level of a node."""
    if isinstance(node, CallExpr):
        if node.function in _BINARY:
            return _BINARY[node.function][1]
        if node.function in _PREFIX:
            return _UNARY
        if node.function == "_?_:_":
            return _CHOICE if optional_name(node) is None else _MEMBER
    if isinstance(node, LiteralExpr) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return _UNARY if node.value < 0 else _MEMBER
    return _MEMBER


def _name(text: str) -> str:
    """Return a field name, in backticks if it is not an identifier."""
    return text if text.isidentifier() and text.isascii() else f"`{text}`"


def _literal(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, bytes):
        return "b'" + "".join(map(_octet, value)) + "'"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return f"{int(value)}u" if isinstance(value, Uint) else repr(value)


def _octet(given: int) -> str:
    return chr(given) if 32 <= given < 127 and chr(given) not in "'\\" else f"\\x{given:02x}"
