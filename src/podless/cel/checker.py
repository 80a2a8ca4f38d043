"""Type checker: sets the type of every node and the matching overloads of every call, with cel-go's errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from podless.cel import types
from podless.cel.errors import CompileError, Issue
from podless.cel.functions import Declarations, Overload
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
from podless.cel.types import BOOL, DYN, ERROR, INT, STRING, FieldTypes, Type
from podless.cel.values import TypeValue

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
    **{name: (types.wrapper_type(kind), {"value": kind}) for name, kind in types.WRAPPERS.items()},
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
    make_checker = _TypeChecker if typed else _UntypedChecker
    checker = make_checker(declarations, dict(variables), fields or FieldTypes(), container)
    checker.visit(tree)
    if checker.issues:
        raise CompileError(source, checker.issues)
    for node in checker.nodes:
        node.type = checker.bindings.resolve_params(node.type, final=True)
    return tree


class _TypeChecker(ExprVisitor[Type]):
    def __init__(
        self, declarations: Declarations, variables: dict[str, Type], fields: FieldTypes, container: str
    ) -> None:
        self.declarations = declarations
        self.container = container
        self.scope = variables
        self.fields = fields
        self.bindings = types.Bindings()
        # variables of comprehensions, which shadow dotted names
        self.comprehension_variables: frozenset[str] = frozenset()
        self.issues: list[Issue] = []
        self.nodes: list[Expr] = []

    def visit(self, node: Expr) -> Type:
        node.type = super().visit(node)
        self.nodes.append(node)
        return node.type

    def add_error(self, offset: int, message: str) -> Type:
        """Record an error. Return the error type, which is assignable to all types."""
        self.issues.append(Issue(offset, message))
        return ERROR

    def visit_literal(self, node: LiteralExpr) -> Type:
        return node.kind

    def visit_ident(self, node: Ident) -> Type:
        result = self.resolve_name(node, node.name)
        if result is None:
            return self.add_undeclared_error(node.offset, node.name)
        return result

    def add_undeclared_error(self, offset: int, name: str) -> Type:
        return self.add_error(offset, f"undeclared reference to '{name}' (in container '{self.container}')")

    def list_candidates(self, name: str) -> Iterator[str]:
        """Yield the qualified names that a name can resolve to: in the container and its parents, and alone."""
        container = self.container
        if container and not name.startswith(".") and name.partition(".")[0] not in self.comprehension_variables:
            while container:
                yield f"{container}.{name}"
                container = container.rpartition(".")[0]
        yield name.removeprefix(".")

    def resolve_name(self, node: Ident, name: str) -> Type | None:
        """Return the type of a variable or of a type name, None if it is neither."""
        for candidate in self.list_candidates(name):
            declared_type = self.scope.get(candidate)
            if declared_type is not None:
                node.name = candidate
                return declared_type
            kind = self.declarations.types.get(candidate)
            if kind is not None:
                node.constant = True
                node.value = TypeValue(candidate)
                return types.type_of(kind)
        return None

    def visit_select(self, node: Select) -> Type:
        name = None if node.is_test else _join_dotted_name(node)
        if name is not None and name.partition(".")[0] not in self.comprehension_variables:
            ident = Ident(node.offset, name)
            declared_type = self.resolve_name(ident, name)
            if declared_type is not None:
                node.qualified_ident = ident
                ident.type = declared_type
                return declared_type
        result = self.infer_selection(node.offset, node.operand, node.field, False)
        return BOOL if node.is_test else self.bindings.resolve_params(result)

    def infer_selection(self, offset: int, operand: Expr, field: str, optional: bool) -> Type:
        """Return the type of a field selection."""
        target, is_optional = types.unwrap_optional(self.bindings.resolve_params(self.visit(operand)))
        kind = target.kind
        if kind == "map":
            result = target.params[1]
        elif kind == "struct":
            result = self.fields.find_field_type(target.name, field) or self.add_error(
                offset, f"undefined field '{field}'"
            )
        else:
            if kind == "param":
                self.bindings.is_assignable(DYN, target)
            elif kind not in ("dyn", "error"):
                self.add_error(offset, f"type '{target}' does not support field selection")
            result = DYN
        return types.optional(result) if is_optional or optional else result

    def visit_call(self, node: CallExpr) -> Type:
        if node.function == "_?._":
            field = node.args[1]
            assert isinstance(field, LiteralExpr)
            node.overloads = ("select_optional_field",)
            field.type = STRING
            return self.bindings.resolve_params(self.infer_selection(node.offset, node.args[0], field.value, True))
        for arg in node.args:
            self.visit(arg)
        target = node.target
        if target is not None:
            name = _join_dotted_name(target)
            full = self.resolve_function(f"{name}.{node.function}") if name is not None else ""
            if full:
                node.function, node.target = full, None
                return self.infer_overloads(node)
            self.visit(target)
        name = self.resolve_function(node.function)
        if not name:
            return self.add_undeclared_error(node.offset, node.function)
        node.function = name
        return self.infer_overloads(node)

    def resolve_function(self, name: str) -> str:
        """Return the function that a name refers to, or ""."""
        functions = self.declarations.functions
        return next((candidate for candidate in self.list_candidates(name) if candidate in functions), "")

    def infer_overloads(self, node: CallExpr) -> Type:
        """Return the result type of a call, and set its matching overloads."""
        arg_types = tuple(arg.type for arg in node.list_children())
        if node.function in ("_&&_", "_||_"):
            return self.check_logical_call(node)
        result: Type | None = None
        matching = []
        for overload in self.declarations.functions[node.function]:
            if overload.member != (node.target is not None) or len(overload.args) != len(arg_types):
                continue
            overload_result = self.match_overload(overload, arg_types)
            if overload_result is None:
                continue
            matching.append(overload.name)
            if result is None:
                result = overload_result
            elif result.kind != "dyn" and overload_result != result:
                result = DYN
        if result is None:
            return self.add_overload_error(node, arg_types)
        node.overloads = tuple(matching)
        return result

    def match_overload(self, overload: Overload, types: tuple[Type, ...]) -> Type | None:
        """Return the result of an overload for argument types, None if it does not match."""
        if not overload.generic:
            return overload.result if self.bindings.are_assignable(types, overload.args) else None
        *arg_types, result = self.bindings.instantiate((*overload.args, overload.result))
        if not self.bindings.are_assignable(types, tuple(arg_types)):
            return None
        return self.bindings.resolve_params(result)

    def add_overload_error(self, node: CallExpr, types: tuple[Type, ...]) -> Type:
        type_names = [str(self.bindings.resolve_params(type_, final=True)) for type_ in types]
        target = f"{type_names.pop(0)}." if node.target is not None else ""
        text = f"found no matching overload for '{node.function}' applied to '{target}({', '.join(type_names)})'"
        return self.add_error(node.offset, text)

    def check_logical_call(self, node: CallExpr) -> Type:
        node.overloads = ("logical_and" if node.function == "_&&_" else "logical_or",)
        mistyped = [arg for arg in node.args if not self.bindings.is_assignable(arg.type, BOOL)]
        for arg in mistyped:
            self.add_error(arg.offset, f"expected type 'bool' but found '{arg.type}'")
        return ERROR if mistyped else BOOL

    def join_types(self, joined: Type | None, item_type: Type) -> Type:
        """Return the type of list items or map entries: that of `joined` and `item_type` together."""
        if joined is None:
            return item_type
        if self.bindings.is_assignable(joined, item_type):
            return types.pick_most_general(joined, item_type)
        return DYN  # `check_homogeneous` reports mixed types, after all types are known

    def add_mismatch_error(self, node: Expr, expected: Type, actual: Type) -> Type:
        return self.add_error(node.offset, f"expected type '{expected}' but found '{actual}'")

    def check_item(self, value: Expr, optional: bool) -> Type:
        """Return the type of an item; for `?item`, the type in the optional."""
        item = self.visit(value)
        if not optional:
            return item
        value_type, is_optional = types.unwrap_optional(item)
        if not is_optional and value_type.kind != "dyn":
            self.add_mismatch_error(value, types.optional(value_type), value_type)
        return value_type

    def visit_list(self, node: ListExpr) -> Type:
        joined: Type | None = None
        for index, item in enumerate(node.items):
            joined = self.join_types(joined, self.check_item(item, index in node.optional))
        return types.list_of(joined or self.bindings.make_param())

    def visit_map(self, node: MapExpr) -> Type:
        keys: Type | None = None
        values: Type | None = None
        for entry in node.entries:
            keys = self.join_types(keys, self.visit(entry.key))
            values = self.join_types(values, self.check_item(entry.value, entry.optional))
        return types.map_of(keys or self.bindings.make_param(), values or self.bindings.make_param())

    def visit_message(self, node: MessageExpr) -> Type:
        name = node.name.removeprefix(".")
        find_field: Callable[[str], Type | None]
        if self.fields.can_construct(name):
            result, find_field = types.struct_type(name), partial(self.fields.find_field_type, name)
        else:
            name = next((candidate for candidate in self.list_candidates(node.name) if candidate in _MESSAGES), name)
            if name not in _MESSAGES:
                if name not in self.declarations.types:
                    return self.add_undeclared_error(node.offset, node.name)
                return self.add_error(node.offset, f"'{name}' is not a message type")
            result, find_field = _MESSAGES[name][0], _MESSAGES[name][1].get
        node.name = name
        for entry in node.entries:
            self.check_field_value(entry, find_field(entry.key))
        return result

    def check_field_value(self, entry: MapEntry, expected: Type | None) -> None:
        actual = self.check_item(entry.value, entry.optional)
        if expected is None:
            self.add_error(entry.offset, f"undefined field '{entry.key}'")
        elif not self.bindings.is_assignable(expected, actual):
            text = f"expected type of field '{entry.key}' is '{expected}' but provided type is '{actual}'"
            self.add_error(entry.offset, text)

    def visit_comprehension(self, node: Comprehension) -> Type:
        range_type = self.visit(node.iter_range)
        accu = self.visit(node.init)
        outer_scope = self.scope
        self.scope = outer_scope | {node.accu: accu}
        first_type, second_type = self.infer_iteration_types(node, self.bindings.resolve_params(range_type))
        accu_scope, outer_variables = self.scope, self.comprehension_variables
        self.comprehension_variables = outer_variables | {node.var, node.var2, node.accu}
        self.scope = accu_scope | (
            {node.var: first_type, node.var2: second_type} if node.var2 else {node.var: first_type}
        )
        for loop_part, expected in ((node.condition, BOOL), (node.step, accu)):
            actual = self.visit(loop_part)
            if not self.bindings.is_assignable(expected, actual):
                self.add_mismatch_error(loop_part, expected, actual)
        self.scope = accu_scope
        result = self.visit(node.result)
        self.scope, self.comprehension_variables = outer_scope, outer_variables
        return self.bindings.resolve_params(result)

    def infer_iteration_types(self, node: Comprehension, range_type: Type) -> tuple[Type, Type]:
        """Return the types of the iteration variables."""
        if range_type.kind == "list":
            return (INT, range_type.params[0]) if node.var2 else (range_type.params[0], DYN)
        if range_type.kind == "map":
            return range_type.params[0], range_type.params[1]
        if range_type.kind in ("dyn", "error", "param"):
            self.bindings.is_assignable(DYN, range_type)
            return DYN, DYN
        text = f"expression of type '{range_type}' cannot be range of a comprehension (must be list, map, or dynamic)"
        self.add_error(node.iter_range.offset, text)
        return ERROR, ERROR


class _UntypedChecker(_TypeChecker):
    """Treats everything as dyn: calls match all overloads, and missing functions fail at evaluation."""

    def add_error(self, offset: int, message: str) -> Type:
        return DYN

    def visit_literal(self, node: LiteralExpr) -> Type:
        return DYN

    def visit_ident(self, node: Ident) -> Type:
        super().visit_ident(node)
        return DYN

    def infer_overloads(self, node: CallExpr) -> Type:
        arg_count = len(node.args) + (node.target is not None)
        node.overloads = tuple(
            overload.name
            for overload in self.declarations.functions[node.function]
            if overload.member == (node.target is not None) and len(overload.args) == arg_count
        )
        return DYN


def _join_dotted_name(node: Expr) -> str | None:
    """Return a.b.c as one name, None for other expressions."""
    names = []
    while isinstance(node, Select) and not node.is_test:
        names.append(node.field)
        node = node.operand
    if not isinstance(node, Ident):
        return None
    names.append(node.name)
    return ".".join(reversed(names))
