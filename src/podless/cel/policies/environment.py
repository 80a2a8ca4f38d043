"""Compiles a policy's expressions in their environment, and type checks them against the types of its objects.

Source: k8s.io/apiserver pkg/admission/plugin/cel and pkg/admission/plugin/policy/validating/typechecking.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from podless.cel import library, macros, program, syntax, types
from podless.cel.errors import CompileError, ProgramError
from podless.cel.functions import parse_type
from podless.cel.library.authz import AUTHORIZER, RESOURCE
from podless.cel.program import Program
from podless.cel.schematypes import SchemaTypes
from podless.cel.types import DYN, FieldTypes, Type
from podless.runtime.dataclass import dataclass
from podless.runtime.datafiles import read_blocks
from podless.runtime.meter import make_shared
from podless.runtime.release import ALL_ON, Release, has

STRING = (types.STRING,)
BOOL = (types.BOOL,)
TEXT_OR_NULL = (types.STRING, types.NULL)
OBJECT = (types.struct_type("Object"),)
JSON_PATCHES = (types.list_of(types.struct_type("JSONPatch")),)
_VARIABLES = "kubernetes.variables"
_STRUCTS: Mapping[str, Mapping[str, Type]] = {
    f"kubernetes.{struct}": {name: parse_type(kind) for name, kind in fields}
    for struct, fields in read_blocks(Path(__file__).with_name("structs.txt")).items()
}
_PATCH: Mapping[str, Type] = {**dict.fromkeys(("op", "path", "from"), types.STRING), "value": DYN}
_NO_TYPE = Type("none", "")  # matches dyn only
# variables of every expression
_COMMON_VARIABLES: Mapping[str, Type] = {
    "object": DYN,
    "oldObject": DYN,
    "namespaceObject": parse_type("Namespace"),
    "request": parse_type("AdmissionRequest"),
}
_AUTHORIZER_VARIABLES: Mapping[str, Type] = {"authorizer": AUTHORIZER, "authorizer.requestResource": RESOURCE}


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled expression. names: the variables that it uses. error: why it did not compile, or "".

    internal: it compiled, but its program could not be created.
    """

    source: str
    program: Program | None
    names: tuple[str, ...] = ()
    error: str = ""
    internal: bool = False


class _PolicyStructs(FieldTypes):
    """The struct types of a policy. patches: expressions may construct those for mutations."""

    def __init__(self, variables: Mapping[str, Type], patches: bool) -> None:
        self._variables = variables
        self._patches = patches

    def find_field_type(self, struct: str, name: str) -> Type | None:
        if struct == _VARIABLES:
            return self._variables.get(name)
        if self._patches and struct == "JSONPatch":
            return _PATCH.get(name, _NO_TYPE)
        if self.can_construct(struct):
            return DYN
        return _STRUCTS.get(struct, {}).get(name)

    def can_construct(self, struct: str) -> bool:
        return self._patches and (struct in ("JSONPatch", "Object") or struct.startswith("Object."))


class Environment:
    """Compiles the expressions of one policy. params: it has a paramKind. composed: it has variables.

    new: the release whose features new expressions may use; stored ones may use everything. used_variables: those
    that the compiled expressions use.
    """

    def __init__(self, *, params: bool = False, composed: bool = False, new: Release = ALL_ON) -> None:
        self._new = library.reduce_release(new)
        self._params = params
        self._composed = composed
        self._variables: dict[str, Type] = {}
        self.used_variables: set[str] = set()  # variables that all expressions use together
        self.variables: dict[str, Expression] = {}

    def declare_variable(self, name: str, source: str) -> Expression:
        """Compile a policy variable, for use in later expressions."""
        result = self.compile_expression(source, ())
        self._variables[name] = _get_declarable_type(result.program.type) if result.program is not None else DYN
        self.variables[name] = result
        return result

    def compile_expression(
        self, source: str, expected: tuple[Type, ...], *, authorizer: bool = True, patches: bool = False
    ) -> Expression:
        """Compile an expression that returns one of the expected types, () for any. Errors are in the result.

        authorizer: it may use the authorizer. patches: it may construct patches.
        """
        return make_shared(partial(self._compile_expression, source, expected, authorizer, patches))

    def _compile_expression(
        self, source: str, expected: tuple[Type, ...], authorizer: bool, patches: bool
    ) -> Expression:
        variables = dict(_COMMON_VARIABLES)
        if self._params:
            variables["params"] = DYN
        if authorizer:
            variables |= _AUTHORIZER_VARIABLES
        if self._composed:
            variables["variables"] = types.struct_type(_VARIABLES)
        functions = library.kubernetes_libraries(self._new, patches=patches)
        structs = _PolicyStructs(self._variables, patches)
        try:
            tree = program.analyze_source(source, variables, functions, structs, macros.select_macros(self._new))
        except CompileError as error:
            return Expression(source, None, error=f"compilation failed: {error}")
        if expected and tree.type not in expected:
            return Expression(source, None, error=_make_type_error(expected, tree.type))
        names = tuple(name for name in variables if syntax.uses_variable(tree, name))
        compiled = Program(source, tree, functions, dict.fromkeys(names))
        try:
            compiled.check_constants()
            compiled.prepare()
        except CompileError as error:
            return Expression(source, None, error=f"compilation failed: {error}")
        except ProgramError as error:
            return Expression(source, None, error=f"program instantiation failed: {error}", internal=True)
        self.used_variables.update(names)
        return Expression(source, compiled, names)


_DECLARABLE = frozenset(
    ("bool", "bytes", "double", "duration", "int", "null", "string", "timestamp", "uint", "list", "map", "dyn")
)


def _get_declarable_type(kind: Type) -> Type:
    """Return the declared type of a variable: structs and similar types become dyn, also in lists and maps."""
    if kind.kind not in _DECLARABLE or kind.name == "wrapper":
        return DYN
    return replace(kind, params=tuple(map(_get_declarable_type, kind.params))) if kind.params else kind


def _make_type_error(types: tuple[Type, ...], actual: Type) -> str:
    names = " ".join(map(format_runtime_type, types))
    text = f"must evaluate to {names}" if len(types) == 1 else f"must evaluate to one of [{names}]"
    return f"{text} but got {format_runtime_type(actual)}" if has("CELFoundTypes") else text


def format_runtime_type(kind: Type) -> str:
    """Return the name of a type's runtime form, for error texts."""
    name = "google.protobuf.Any" if kind.name == "any" else types.RUNTIME_NAMES.get(kind.name, kind.name)
    return f"{name}({', '.join(map(format_runtime_type, kind.params))})" if kind.params else name


class TypedEnvironment:
    """Type checks expressions against the declarations of the objects, to report errors only.

    objects, parameters: their declarations, None if unknown. has_parameters: the policy has a paramKind.
    """

    def __init__(self, objects: SchemaTypes, parameters: SchemaTypes | None, *, has_parameters: bool) -> None:
        self._variables: dict[str, Type] = {}
        self._structs = _TypedStructs(self._variables, objects, parameters)
        variable_types = dict(_COMMON_VARIABLES) | dict.fromkeys(("object", "oldObject"), _get_root_type(objects))
        if has_parameters:
            variable_types["params"] = _get_root_type(parameters)
        self._variable_types = variable_types | {"authorizer": AUTHORIZER, "variables": types.struct_type(_VARIABLES)}

    def declare_variable(self, name: str, source: str) -> None:
        """Declare a variable for later expressions. One with an error has type dyn."""
        try:
            self._variables[name] = _get_declarable_type(self._infer_type(source))
        except CompileError:
            self._variables[name] = DYN

    def find_error(self, source: str) -> str:
        """Return the error of an expression, or ""."""
        try:
            self._infer_type(source)
        except CompileError as error:
            return str(error)
        return ""

    def _infer_type(self, source: str) -> Type:
        return program.analyze_source(
            source, self._variable_types, library.kubernetes_libraries(), self._structs, macros.KUBERNETES
        ).type


class _TypedStructs(_PolicyStructs):
    """The struct types of a policy, and those of its objects."""

    def __init__(self, variables: dict[str, Type], *declared: SchemaTypes | None) -> None:
        super().__init__(variables, patches=False)
        self._declared = [objects for objects in declared if objects is not None]

    def find_field_type(self, struct: str, name: str) -> Type | None:
        for objects in self._declared:
            if objects.find_struct(struct) is not None:
                return objects.find_field_type(struct, name)
        return super().find_field_type(struct, name)


def _get_root_type(declared: SchemaTypes | None) -> Type:
    return DYN if declared is None or declared.root is None else declared.root.type
