"""The types of expressions, and assignability: unification with type parameters.

Source: cel-spec, langdef.md, "Gradual type checking".
"""

from __future__ import annotations

import operator

from podless.runtime.dataclass import dataclass
from podless.runtime.meter import charge


@dataclass(frozen=True, slots=True)
class Type:
    """A type. kind: one of the kinds below. name: in error texts. params: of lists, maps, optionals and types."""

    kind: str
    name: str
    params: tuple[Type, ...] = ()

    def __str__(self) -> str:
        if not self.params:
            return self.name
        return f"{self.name}({', '.join(map(str, self.params))})"


BOOL = Type("bool", "bool")
BYTES = Type("bytes", "bytes")
DOUBLE = Type("double", "double")
INT = Type("int", "int")
STRING = Type("string", "string")
UINT = Type("uint", "uint")
NULL = Type("null", "null")
DYN = Type("dyn", "dyn")
ERROR = Type("error", "!error!")
DURATION = Type("duration", "duration")
TIMESTAMP = Type("timestamp", "timestamp")
TYPE = Type("type", "type")

# kind: name of the values' type, as type() returns it, if it differs from the kind
RUNTIME_NAMES = {"timestamp": "google.protobuf.Timestamp", "duration": "google.protobuf.Duration", "null": "null_type"}
PARAM_A = Type("param", "A")
PARAM_B = Type("param", "B")

# kinds without parameters that match no other kind
_SIMPLE = frozenset(("bool", "bytes", "double", "int", "string", "uint", "duration", "timestamp"))
_NESTED = frozenset(("list", "map", "opaque"))
_NULLABLE = frozenset(("opaque", "struct", "duration", "timestamp"))


def list_of(item: Type) -> Type:
    """Return the type list(item)."""
    return Type("list", "list", (item,))


def map_of(key: Type, value: Type) -> Type:
    """Return the type map(key, value)."""
    return Type("map", "map", (key, value))


def optional(item: Type) -> Type:
    """Return the type optional_type(item)."""
    return Type("opaque", "optional_type", (item,))


def type_of(item: Type) -> Type:
    """Return the type of a type."""
    return Type("type", "type", (item,))


def struct_type(name: str) -> Type:
    """Return a type with declared fields, identified by its name."""
    return Type("struct", name)


def opaque_type(name: str) -> Type:
    """Return an opaque type, which only functions can use."""
    return Type("opaque", name)


def wrapper_type(item: Type) -> Type:
    """Return the type of a nullable scalar, such as google.protobuf.Int64Value."""
    return Type(item.kind, "wrapper", (item,))


LIST_DYN = list_of(DYN)
LIST_A = list_of(PARAM_A)
MAP_AB = map_of(PARAM_A, PARAM_B)
MAP_STRING_DYN = map_of(STRING, DYN)


# the wrapper messages, which are plain values, and the types of these
WRAPPERS = {
    f"google.protobuf.{name}": kind
    for name, kind in {
        "BoolValue": BOOL, "BytesValue": BYTES, "DoubleValue": DOUBLE, "FloatValue": DOUBLE, "Int32Value": INT,
        "Int64Value": INT, "StringValue": STRING, "UInt32Value": UINT, "UInt64Value": UINT,
    }.items()
}  # fmt: skip


class FieldTypes:
    """The fields of struct types, by their names. This base class has no struct types."""

    __slots__ = ()

    def find_field_type(self, struct: str, name: str) -> Type | None:
        """Return the type of a field, None if it does not exist."""
        return None

    def can_construct(self, struct: str) -> bool:
        """Return whether expressions may construct a struct type."""
        return False


def is_generic(item: Type) -> bool:
    """Return whether a type has parameters."""
    return item.kind == "param" or any(map(is_generic, item.params))


def is_wrapper(item: Type) -> bool:
    """Return whether a type is a nullable scalar."""
    return item.name == "wrapper"


def is_optional(item: Type) -> bool:
    """Return whether a type is an optional."""
    return item.kind == "opaque" and item.name == "optional_type"


def unwrap_optional(item: Type) -> tuple[Type, bool]:
    """Return the type in an optional and True; other types and False."""
    return (item.params[0], True) if is_optional(item) else (item, False)


def are_equivalent(left: Type, right: Type) -> bool:
    """Return whether two types are the same except for the names of their parameters."""
    if left is right:
        return True
    if left.kind != right.kind or len(left.params) != len(right.params):
        return False
    return (left.kind == "param" or left.name == right.name) and all(map(are_equivalent, left.params, right.params))


class Bindings:
    """The values of type parameters, collected while an expression is checked."""

    __slots__ = ("_bound", "_count")

    def __init__(self) -> None:
        self._bound: dict[str, Type] = {}
        self._count = 0

    def make_param(self) -> Type:
        """Return a new type parameter."""
        self._count += 1
        return Type("param", f"_var{self._count - 1}")

    def is_assignable(self, item: Type, target: Type) -> bool:
        """Return whether `item` is assignable to `target`. If so, binds parameters."""
        return self.are_assignable((item,), (target,))

    def are_assignable(self, items: tuple[Type, ...], targets: tuple[Type, ...]) -> bool:
        """Return whether each type is assignable to the other at the same index. If so, binds parameters."""
        if len(items) != len(targets):
            return False
        for item, target in zip(items, targets, strict=True):  # a quick test first: scalars bind no parameters
            if item.kind != target.kind and item.kind in _SIMPLE and target.kind in _SIMPLE:
                return False
        before = self._bound
        self._bound = before.copy()
        if all(map(self._can_assign, items, targets)):
            return True
        self._bound = before
        return False

    def _can_assign(self, item: Type, target: Type) -> bool:
        if item is target:
            return True
        if target.kind == "param":
            fits, bound = self._can_bind(item, target)
            if fits or bound:
                return fits
        if item.kind == "param":
            return self._can_bind(target, item)[0]
        if item.kind in ("dyn", "error") or target.kind in ("dyn", "error"):
            return True
        if item.kind == "null":
            return target.kind == "null" or target.kind in _NULLABLE or is_wrapper(target)
        if target.kind == "null":
            return item.kind in _NULLABLE or is_wrapper(item)
        return self._have_same_params(item, target)

    def _have_same_params(self, left: Type, right: Type) -> bool:
        kind = left.kind
        if kind != right.kind:
            return False
        if kind in _SIMPLE or kind == "type":
            return True
        if kind in _NESTED:
            params = len(left.params) == len(right.params)
            return params and left.name == right.name and all(map(self._can_assign, left.params, right.params))
        return left.name == right.name

    def _can_bind(self, item: Type, parameter: Type) -> tuple[bool, bool]:
        """Return whether the parameter can be bound to the type, and whether it was bound before."""
        if item == parameter:
            return True, True
        bound = self._bound.get(parameter.name)
        if bound is not None:
            if item == bound:
                return True, True
            if not self._can_assign(item, bound):
                return False, True
            general = pick_most_general(item, bound)
            if self._is_absent(parameter, general):
                self._bound[parameter.name] = general
            return True, True
        if self._is_absent(parameter, item):
            self._bound[parameter.name] = item
            return True, False
        return False, False

    def _is_absent(self, parameter: Type, within: Type) -> bool:
        """Return whether a parameter does not occur in a type."""
        if parameter == within:
            return False
        if within.kind == "param":
            bound = self._bound.get(within.name)
            return bound is None or self._is_absent(parameter, bound)
        charge(len(within.params))
        return all(self._is_absent(parameter, param) for param in within.params)

    def resolve_params(self, item: Type, final: bool = False) -> Type:
        """Return a type with its parameters replaced by their bindings. final: replace unbound ones by dyn."""
        if item.kind == "param":
            bound = self._bound.get(item.name)
            if bound is None:
                return DYN if final else item
            return self.resolve_params(bound, final)
        if not item.params:
            return item
        charge(len(item.params))
        params = tuple(self.resolve_params(param, final) for param in item.params)
        # identity, because equality takes time in proportion to the depth
        if all(map(operator.is_, params, item.params)):
            return item
        return Type(item.kind, item.name, params)

    def instantiate(self, types: tuple[Type, ...]) -> tuple[Type, ...]:
        """Return the types of a declaration with new parameters."""
        names: dict[str, Type] = {}
        return tuple(self._rename_params(type_, names) for type_ in types)

    def _rename_params(self, item: Type, names: dict[str, Type]) -> Type:
        if item.kind == "param":
            if item.name not in names:
                names[item.name] = self.make_param()
            return names[item.name]
        if not item.params:
            return item
        return Type(item.kind, item.name, tuple(self._rename_params(param, names) for param in item.params))


def pick_most_general(left: Type, right: Type) -> Type:
    """Return the more general of two compatible types."""
    return left if _is_less_specific(left, right) else right


def _is_less_specific(left: Type, right: Type) -> bool:
    if left.kind in ("dyn", "param"):
        return True
    if right.kind in ("dyn", "param") or left.kind != right.kind:
        return False
    if left.kind == "type":
        return True
    if left.kind in _NESTED:
        same_shape = left.name == right.name and len(left.params) == len(right.params)
        return same_shape and all(map(_is_less_specific, left.params, right.params))
    return left == right
