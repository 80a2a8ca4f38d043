"""Compiles operators and functions to Python's own, where the types of the operands allow it."""

from __future__ import annotations

from functools import partial

from podless.cel import patterns
from podless.cel.codegen import CodeGenerator
from podless.cel.schematypes import unescape_field
from podless.cel.syntax import CallExpr, Expr, Ident, ListExpr, LiteralExpr, Select
from podless.cel.values import INT_MAX, INT_MIN
from podless.cel.writer import Value

# kinds that Python compares as CEL does, if both sides are of the same kind
_NATIVE = frozenset(("int", "uint", "string", "bytes", "bool", "timestamp", "duration", "double"))
_ORDERED = _NATIVE - {"double"}
COMPARE = {"_<_": "<", "_<=_": "<=", "_>_": ">", "_>=_": ">="}
ARITHMETIC = {"_+_": "+", "_-_": "-", "_*_": "*"}
TESTS = {"startsWith": "{0}.startswith({1})", "endsWith": "{0}.endswith({1})", "contains": "{1} in {0}"}
_TEXTS = frozenset(("string", "bytes"))
_SIZED = frozenset(("list", "map", "string", "bytes"))


class InlineGenerator(CodeGenerator):
    """Writes operators. Each method returns the code of a call, or None if the function itself must be called."""

    def emit_both(self, node: CallExpr) -> tuple[Value, Value]:
        """Return both operands, in order."""
        if self.can_halt(node.args[1]):
            return self.emit_pair(partial(self.emit_node, node.args[0]), partial(self.emit_node, node.args[1]))
        left = self.emit_node(node.args[0])
        mark = len(self.writer.lines)
        right = self.emit_node(node.args[1])
        if len(self.writer.lines) > mark and not left.code.isidentifier() and not isinstance(node.args[0], LiteralExpr):
            # the right operand needs lines of its own, and the left one must be evaluated before them
            name = self.writer.name_temp()
            self.writer.lines.insert(mark, f"{' ' * self.writer.depth}{name} = {left.code}")
            left = Value(name, left.decl)
        return left, right

    def emit_equality(self, node: CallExpr) -> Value | None:
        """Write == and !=."""
        left, right = self.emit_both(node)
        left_type, right_type = node.args[0].type, node.args[1].type
        sign = "==" if node.function == "_==_" else "!="
        same_plain_decl = (
            left.decl is not None and right.decl is not None and left.decl is right.decl and left.decl.is_plain
        )
        if left_type == right_type and ((left_type.kind in _NATIVE and left_type.name != "wrapper") or same_plain_decl):
            if same_plain_decl:
                self.writer.write_clock_check()
            if left_type.kind in _TEXTS or same_plain_decl:
                a, b = self.emit_texts(node, left, right)
                return Value(f"({a} {sign} {b})")
            self.writer.add_cost(1)
            return Value(f"({left.code} {sign} {right.code})")
        self.writer.write_clock_check()
        a, b = self.name_code(self.convert_code(left)), self.name_code(self.convert_code(right))
        self.writer.add_cost(f"least({a}, {b})")
        return Value(f"equal({a}, {b})" if sign == "==" else f"(not equal({a}, {b}))")

    def emit_texts(self, node: CallExpr, left: Value, right: Value) -> tuple[str, str]:
        """Return the code of two strings to compare. The cost is that of the shorter one."""
        for arg in node.args:
            if isinstance(arg, LiteralExpr):
                self.writer.add_cost(-(-len(arg.value) // 10))
                return left.code, right.code
        a, b = self.name_code(left.code), self.name_code(right.code)
        self.writer.add_cost(f"-(-min(len({a}), len({b})) // 10)")
        return a, b

    def emit_comparison(self, node: CallExpr) -> Value | None:
        """Write <, <=, > and >=."""
        left_type, right_type = node.args[0].type, node.args[1].type
        numbers = {left_type.kind, right_type.kind} <= {"int", "uint"}
        if (
            left_type.name == "wrapper"
            or right_type.name == "wrapper"
            or not (numbers or (left_type == right_type and left_type.kind in _ORDERED))
        ):
            return None
        left, right = self.emit_both(node)
        sign = COMPARE[node.function]
        if left_type.kind in _TEXTS:
            a, b = self.emit_texts(node, left, right)
            return Value(f"({a} {sign} {b})")
        self.writer.add_cost(1)
        return Value(f"({left.code} {sign} {right.code})")

    def emit_arithmetic(self, node: CallExpr) -> Value | None:
        """Write +, - and *."""
        left_type, right_type = node.args[0].type, node.args[1].type
        if left_type != right_type or left_type.kind not in ("int", "double") or left_type.name == "wrapper":
            return None
        left, right = self.emit_both(node)
        self.writer.add_cost(1)
        code = f"({left.code} {ARITHMETIC[node.function]} {right.code})"
        if left_type.kind == "double":
            return Value(code)
        name = self.writer.assign_temp(code)
        self.writer.write_line(f"if {name} > {INT_MAX} or {name} < {INT_MIN}: whole({name})")
        return Value(name)

    def emit_negation(self, node: CallExpr) -> Value | None:
        """Write ! on a bool."""
        if node.args[0].type.kind != "bool" or node.args[0].type.name == "wrapper":
            return None
        code = self.emit_value(node.args[0])
        self.writer.add_cost(1)
        return Value(f"(not {code})")

    def emit_membership(self, node: CallExpr) -> Value | None:
        """Write `in`, if items can be compared natively."""
        item, container = node.args
        if container.type.kind not in ("list", "map") or len(node.overloads) != 1:
            return None
        kind = container.type.params[0]
        if item.type != kind or kind.kind not in _NATIVE or kind.kind == "double" or kind.name == "wrapper":
            return None
        if isinstance(container, ListExpr) and all(isinstance(member, LiteralExpr) for member in container.items):
            code = self.emit_value(item)
            self.writer.add_cost(len(container.items))
            constants = tuple(member.value for member in container.items if isinstance(member, LiteralExpr))
            return Value(f"({code} in {self.writer.name_constant(constants)})")
        left, right = self.emit_both(node)
        item_decl = right.decl.items if right.decl is not None else None
        if container.type.kind == "list" and item_decl is not None and not item_decl.is_plain:
            return None if not isinstance(item, LiteralExpr) else self.emit_call(node)
        container_code = self.name_code(right.code)
        self.writer.add_cost(f"len({container_code})" if container.type.kind == "list" else 1)
        return Value(f"({left.code} in {container_code})")

    def emit_size(self, node: CallExpr) -> Value | None:
        """Write size() of a value with a length."""
        target = node.target or node.args[0]
        if target.type.kind not in _SIZED or target.type.name == "wrapper":
            return None
        code = self.emit_node(target).code
        self.writer.add_cost(1)
        return Value(f"len({code})")

    def emit_text_test(self, node: CallExpr) -> Value | None:
        """Write startsWith(), endsWith() and contains()."""
        target = node.target
        if target is None or target.type.kind != "string" or node.args[0].type.kind != "string":
            return None
        if self.can_halt(node.args[0]):
            return None
        left, right = self.name_code(self.emit_value(target)), self.emit_repeatable(node.args[0])
        self.writer.add_cost(f"-(-len({left}) // 10)")
        if node.function == "contains":
            self.writer.add_cost(f"-(-len({left}) // 10) * (-(-len({right}) // 10) - 1)")
        return Value(f"({TESTS[node.function].format(left, right)})")

    def emit_match(self, node: CallExpr) -> Value | None:
        """Write matches() with a constant pattern."""
        text, pattern = node.list_children()
        if text.type.kind != "string" or not isinstance(pattern, LiteralExpr) or pattern.kind.kind != "string":
            return None
        matcher = self.writer.name_constant(patterns.compile_pattern(pattern.value).contains)
        text_code = self.name_code(self.emit_value(text))
        # in cel-go, the global form of matches() costs 1
        self.writer.add_cost(f"-(-(len({text_code}) + 1) // 10) * {-(-len(pattern.value) // 4)}" if node.target else 1)
        return Value(f"{matcher}({text_code})")

    def charge_optional_index(self, node: CallExpr) -> None:
        """Charge the cost of an optional item. The function itself is called."""
        self.writer.add_cost(-_is_reference(node.args[1]))

    def emit_index(self, node: CallExpr) -> Value | None:
        """Write an item by its index or key."""
        container, key = node.args
        self.writer.add_cost(-_is_reference(key))
        operand = self.emit_node(container)
        decl = operand.decl
        if decl is None or decl.kind not in ("list", "map"):
            container_code = self.name_code(self.convert_code(operand))
            code = self.writer.assign_temp(f"index({container_code}, {self.emit_value(key)})")
            self.writer.add_cost(1)
            return Value(code)
        assert decl.items is not None
        container_code = self.name_code(operand.code)
        at = self.emit_value(key)
        self.writer.add_cost(1)
        literal = isinstance(key, LiteralExpr) and key.value.__class__ is int and key.value >= 0
        is_direct = not self.exact and (
            (decl.kind == "map" and key.type.kind == "string") or (literal and decl.kind == "list")
        )
        look = "item" if decl.kind == "list" else "index"
        return self.emit_leaf(
            self.writer.assign_temp(f"{container_code}[{at}]" if is_direct else f"{look}({container_code}, {at})"),
            decl.items,
        )

    def emit_optional_field(self, node: CallExpr) -> Value | None:
        """Write an optional field."""
        operand = self.emit_node(node.args[0])
        field = node.args[1]
        assert isinstance(field, LiteralExpr)
        self.writer.add_cost(1)
        decl = operand.decl
        field_decl = decl.find_field(field.value) if decl is not None and decl.kind == "object" else None
        if field_decl is None:
            lenient = self.declarations.kubernetes
            return Value(f"optional_index({self.convert_code(operand)}, {field.value!r}, {lenient})")
        name = self.writer.assign_temp(f"{operand.code}.get({unescape_field(field.value)!r})")
        return Value(f"(NONE if {name} is None else Optional({self.convert_code(self.emit_leaf(name, field_decl))}))")

    def emit_or_value(self, node: CallExpr) -> Value:
        """Write or() and orValue(), whose argument is evaluated only if needed."""
        assert node.target is not None
        target = self.name_code(self.emit_value(node.target))
        result = self.writer.name_temp()
        self.writer.write_line(f"if {target}.__class__ is not Optional: raise no_overload()")
        with self.writer.block(f"if {target}.present:"):
            self.writer.write_line(f"{result} = {target}" + ("" if node.function == "or" else ".value"))
        with self.writer.block("else:"):
            self.writer.write_line(f"{result} = {self.emit_value(node.args[0])}")
        self.writer.add_cost(1)
        return Value(result)

    def emit_dyn(self, node: CallExpr) -> Value:
        """Write dyn(): the value, unchanged."""
        value = self.emit_node(node.args[0])
        self.writer.add_cost(1)
        return Value(value.code, value.decl)


def _is_reference(key: Expr) -> bool:
    """Return whether a key is a variable or a selection, whose cost is charged together with its container."""
    if isinstance(key, Ident):
        return not key.constant
    if isinstance(key, Select):
        return not key.is_test
    return isinstance(key, CallExpr) and key.function in ("_[_]", "_[?_]", "_?._")
