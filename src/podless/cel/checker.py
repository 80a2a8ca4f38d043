"""Type checker: sets the type of every node and the matching overloads of every call, with cel-go's errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from podless.cel import types
from podless.cel.decls import Declarations, Overload
from podless.cel.errors import CompileError, Issue
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
from podless.cel.types import BOOL, DYN, ERROR, INT, STRING, Type
from podless.cel.values import TypeValue


class FieldTypes(Protocol):
    """The fields of struct types."""

    def field(self, struct: str, name: str) -> Type | None:
        """Return the type of a field, None if it does not exist."""

    def constructs(self, struct: str) -> bool:
        """Return whether expressions may construct a struct type."""


class NoFields:
    """An environment without struct types."""

    def field(self, struct: str, name: str) -> Type | None:
        """Return None: there are no fields."""
        return None

    def constructs(self, struct: str) -> bool:
        """Return False: no struct can be constructed."""
        return False


# fields of the wrapper messages, which are plain values
_WRAPPERS = {
    f"google.protobuf.{name}": kind
    for name, kind in {
        "BoolValue": types.BOOL, "BytesValue": types.BYTES, "DoubleValue": types.DOUBLE, "FloatValue": types.DOUBLE,
        "Int32Value": types.INT, "Int64Value": types.INT, "StringValue": types.STRING, "UInt32Value": types.UINT,
        "UInt64Value": types.UINT,
    }.items()
}  # fmt: skip
_VALUES = {
    "number_value": types.DOUBLE, "string_value": STRING, "bool_value": BOOL, "null_value": INT,
    "struct_value": types.MAP_STRING_DYN, "list_value": types.LIST_DYN,
}  # fmt: skip
_MESSAGES: dict[str, tuple[Type, Mapping[str, Type]]] = {
    "google.protobuf.Duration": (types.DURATION, {"seconds": INT, "nanos": INT}),
    "google.protobuf.Timestamp": (types.TIMESTAMP, {"seconds": INT, "nanos": INT}),
    "google.protobuf.ListValue": (types.LIST_DYN, {"values": types.LIST_DYN}),
    "google.protobuf.Struct": (types.MAP_STRING_DYN, {"fields": types.MAP_STRING_DYN}),
    "google.protobuf.Value": (DYN, _VALUES),
    **{name: (types.wrapper_type(kind), {"value": kind}) for name, kind in _WRAPPERS.items()},
}


def check_tree(
    source: str,
    tree: Expr,
    declarations: Declarations,
    variables: Mapping[str, Type],
    fields: FieldTypes | None = None,
    *,
    container: str = "",
    typed: bool = True,
) -> Expr:
    """Set the types of all nodes of a tree. Return the tree. Raises CompileError.

    container: the namespace in which names are looked up first. typed: if False, every type is dyn, and errors show at
    evaluation.
    """
    checker = (_Checker if typed else _Untyped)(declarations, dict(variables), fields or NoFields(), container)
    checker.visit(tree)
    if checker.issues:
        raise CompileError(source, checker.issues)
    for node in checker.nodes:
        node.type = checker.bindings.resolve(node.type, final=True)
    return tree


class _Checker(Pass[Type]):
    def __init__(
        self, declarations: Declarations, variables: dict[str, Type], fields: FieldTypes, container: str
    ) -> None:
        self.declarations = declarations
        self.container = container
        self.scope = variables
        self.fields = fields
        self.bindings = types.Bindings()
        self.inner: frozenset[str] = frozenset()  # variables of comprehensions, which shadow dotted names
        self.issues: list[Issue] = []
        self.nodes: list[Expr] = []

    def visit(self, node: Expr) -> Type:
        node.type = super().visit(node)
        self.nodes.append(node)
        return node.type

    def fail(self, offset: int, message: str) -> Type:
        """Record an error. Return the error type, which is assignable to all types."""
        self.issues.append(Issue(offset, message))
        return ERROR

    def literal(self, node: LiteralExpr) -> Type:
        return node.kind

    def ident(self, node: Ident) -> Type:
        result = self.named(node, node.name)
        if result is None:
            return self.undeclared(node.offset, node.name)
        return result

    def undeclared(self, offset: int, name: str) -> Type:
        return self.fail(offset, f"undeclared reference to '{name}' (in container '{self.container}')")

    def candidates(self, name: str) -> Iterator[str]:
        """Yield the full names that a name can mean: in the container, in its parents, and by itself."""
        around = self.container
        if around and not name.startswith(".") and name.partition(".")[0] not in self.inner:
            while around:
                yield f"{around}.{name}"
                around = around.rpartition(".")[0]
        yield name.removeprefix(".")

    def named(self, node: Ident, name: str) -> Type | None:
        """Return the type of a variable or of a type name, None if there is neither."""
        for plain in self.candidates(name):
            known = self.scope.get(plain)
            if known is not None:
                node.name = plain
                return known
            kind = self.declarations.types.get(plain)
            if kind is not None:
                node.constant = True
                node.value = TypeValue(plain)
                return types.type_of(kind)
        return None

    def select(self, node: Select) -> Type:
        name = None if node.test else _dotted(node)
        if name is not None and name.partition(".")[0] not in self.inner:
            ident = Ident(node.offset, name)
            found = self.named(ident, name)
            if found is not None:
                node.ident = ident
                ident.type = found
                return found
        result = self.selected(node.offset, node.operand, node.field, False)
        return BOOL if node.test else self.bindings.resolve(result)

    def selected(self, offset: int, operand: Expr, field: str, optional: bool) -> Type:
        """Return the type of a field selection."""
        target, was = types.unwrap_optional(self.bindings.resolve(self.visit(operand)))
        kind = target.kind
        if kind == "map":
            result = target.params[1]
        elif kind == "struct":
            result = self.fields.field(target.name, field) or self.fail(offset, f"undefined field '{field}'")
        else:
            if kind == "param":
                self.bindings.assignable(DYN, target)
            elif kind not in ("dyn", "error"):
                self.fail(offset, f"type '{target}' does not support field selection")
            result = DYN
        return types.optional(result) if was or optional else result

    def call(self, node: CallExpr) -> Type:
        if node.function == "_?._":
            field = node.args[1]
            assert isinstance(field, LiteralExpr)
            node.overloads = ("select_optional_field",)
            field.type = STRING
            return self.bindings.resolve(self.selected(node.offset, node.args[0], field.value, True))
        for arg in node.args:
            self.visit(arg)
        target = node.target
        if target is not None:
            name = _dotted(target)
            full = self.function(f"{name}.{node.function}") if name is not None else ""
            if full:
                node.function, node.target = full, None
                return self.overloaded(node)
            self.visit(target)
        name = self.function(node.function)
        if not name:
            return self.undeclared(node.offset, node.function)
        node.function = name
        return self.overloaded(node)

    def function(self, name: str) -> str:
        """Return the function that a name refers to, or ""."""
        functions = self.declarations.functions
        return next((each for each in self.candidates(name) if each in functions), "")

    def overloaded(self, node: CallExpr) -> Type:
        """Return the result type of a call, and set its matching overloads."""
        args = node.args if node.target is None else [node.target, *node.args]
        given = tuple(arg.type for arg in args)
        if node.function in ("_&&_", "_||_"):
            return self.logical(node)
        result: Type | None = None
        fitting = []
        for overload in self.declarations.functions[node.function]:
            if overload.member != (node.target is not None) or len(overload.args) != len(given):
                continue
            found = self.fits(overload, given)
            if found is None:
                continue
            fitting.append(overload.name)
            if result is None:
                result = found
            elif result.kind != "dyn" and found != result:
                result = DYN
        if result is None:
            return self.unfitting(node, given)
        node.overloads = tuple(fitting)
        return result

    def fits(self, overload: Overload, types: tuple[Type, ...]) -> Type | None:
        """Return the result of an overload for argument types, None if it does not match."""
        if not overload.generic:
            return overload.result if self.bindings.all_assignable(types, overload.args) else None
        *wanted, result = self.bindings.instance((*overload.args, overload.result))
        if not self.bindings.all_assignable(types, tuple(wanted)):
            return None
        return self.bindings.resolve(result)

    def unfitting(self, node: CallExpr, types: tuple[Type, ...]) -> Type:
        shown = [str(self.bindings.resolve(each, final=True)) for each in types]
        target = f"{shown.pop(0)}." if node.target is not None else ""
        text = f"found no matching overload for '{node.function}' applied to '{target}({', '.join(shown)})'"
        return self.fail(node.offset, text)

    def logical(self, node: CallExpr) -> Type:
        node.overloads = ("logical_and" if node.function == "_&&_" else "logical_or",)
        wrong = [arg for arg in node.args if not self.bindings.assignable(arg.type, BOOL)]
        for arg in wrong:
            self.fail(arg.offset, f"expected type 'bool' but found '{arg.type}'")
        return ERROR if wrong else BOOL

    def join(self, before: Type | None, now: Type) -> Type:
        """Return the type of list items or map entries: that of `before` and `now` together."""
        if before is None:
            return now
        if self.bindings.assignable(before, now):
            return types.most_general(before, now)
        return DYN  # `homogeneous` reports mixed types, after all types are known

    def mismatch(self, node: Expr, wanted: Type, found: Type) -> Type:
        return self.fail(node.offset, f"expected type '{wanted}' but found '{found}'")

    def check_item(self, value: Expr, optional: bool) -> Type:
        """Return the type of an item; for `?item`, the type in the optional."""
        item = self.visit(value)
        if not optional:
            return item
        inner, was = types.unwrap_optional(item)
        if not was and inner.kind != "dyn":
            self.mismatch(value, types.optional(inner), inner)
        return inner

    def list(self, node: ListExpr) -> Type:
        joined: Type | None = None
        for index, item in enumerate(node.items):
            joined = self.join(joined, self.check_item(item, index in node.optional))
        return types.list_of(joined or self.bindings.fresh())

    def map(self, node: MapExpr) -> Type:
        keys: Type | None = None
        values: Type | None = None
        for entry in node.entries:
            keys = self.join(keys, self.visit(entry.key))
            values = self.join(values, self.check_item(entry.value, entry.optional))
        return types.map_of(keys or self.bindings.fresh(), values or self.bindings.fresh())

    def message(self, node: MessageExpr) -> Type:
        if self.fields.constructs(node.name.removeprefix(".")):
            return self.constructed(node, node.name.removeprefix("."))
        name = next((each for each in self.candidates(node.name) if each in _MESSAGES), node.name.removeprefix("."))
        known = _MESSAGES.get(name)
        if known is None:
            kind = self.declarations.types.get(name)
            if kind is None:
                return self.undeclared(node.offset, node.name)
            return self.fail(node.offset, f"'{name}' is not a message type")
        node.name = name
        for entry in node.entries:
            self.initial(entry, known[1].get(entry.key))
        return known[0]

    def constructed(self, node: MessageExpr, name: str) -> Type:
        node.name = name
        for entry in node.entries:
            self.initial(entry, self.fields.field(name, entry.key))
        return types.struct(name)

    def initial(self, entry: MapEntry, wanted: Type | None) -> None:
        found = self.check_item(entry.value, entry.optional)
        if wanted is None:
            self.fail(entry.offset, f"undefined field '{entry.key}'")
        elif not self.bindings.assignable(wanted, found):
            text = f"expected type of field '{entry.key}' is '{wanted}' but provided type is '{found}'"
            self.fail(entry.offset, text)

    def comprehension(self, node: Comprehension) -> Type:
        over = self.visit(node.over)
        accu = self.visit(node.init)
        before = self.scope
        self.scope = before | {node.accu: accu}
        one, two = self.iterated(node, self.bindings.resolve(over))
        inner, hidden = self.scope, self.inner
        self.inner = hidden | {node.var, node.var2, node.accu}
        self.scope = inner | ({node.var: one, node.var2: two} if node.var2 else {node.var: one})
        for part, wanted in ((node.condition, BOOL), (node.step, accu)):
            found = self.visit(part)
            if not self.bindings.assignable(wanted, found):
                self.mismatch(part, wanted, found)
        self.scope = inner
        result = self.visit(node.result)
        self.scope, self.inner = before, hidden
        return self.bindings.resolve(result)

    def iterated(self, node: Comprehension, over: Type) -> tuple[Type, Type]:
        """Return the types of the iteration variables."""
        if over.kind == "list":
            return (INT, over.params[0]) if node.var2 else (over.params[0], DYN)
        if over.kind == "map":
            return over.params[0], over.params[1]
        if over.kind in ("dyn", "error", "param"):
            self.bindings.assignable(DYN, over)
            return DYN, DYN
        text = f"expression of type '{over}' cannot be range of a comprehension (must be list, map, or dynamic)"
        self.fail(node.over.offset, text)
        return ERROR, ERROR


class _Untyped(_Checker):
    """Treats everything as dyn: calls match all overloads, and missing functions fail at evaluation."""

    def fail(self, offset: int, message: str) -> Type:
        return DYN

    def literal(self, node: LiteralExpr) -> Type:
        return DYN

    def ident(self, node: Ident) -> Type:
        super().ident(node)
        return DYN

    def overloaded(self, node: CallExpr) -> Type:
        given = len(node.args) + (node.target is not None)
        node.overloads = tuple(
            overload.name
            for overload in self.declarations.functions[node.function]
            if overload.member == (node.target is not None) and len(overload.args) == given
        )
        return DYN


def _dotted(node: Expr) -> str | None:
    """Return a.b.c as one name, None for other expressions."""
    parts = []
    while isinstance(node, Select) and not node.test:
        parts.append(node.field)
        node = node.operand
    if not isinstance(node, Ident):
        return None
    parts.append(node.name)
    return ".".join(reversed(parts))
