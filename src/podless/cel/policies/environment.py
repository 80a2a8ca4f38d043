"""Compiles a policy's expressions in their environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from podless.cel import library, macros, program, syntax, types
from podless.cel.errors import CompileError, ProgramError
from podless.cel.library.authz import AUTHORIZER, RESOURCE
from podless.cel.program import Program
from podless.cel.types import DYN, INT, TIMESTAMP, Type
from podless.runtime.release import NEWEST, Release, has

STRING = (types.STRING,)
BOOL = (types.BOOL,)
TEXT_OR_NULL = (types.STRING, types.NULL)
OBJECT = (types.struct("Object"),)
JSON_PATCHES = (types.list_of(types.struct("JSONPatch")),)

VARIABLES = "kubernetes.variables"


# struct: its fields as NAME:TYPE, where a NAME alone is a string
_DECLARED = {
    "GroupVersionKind": "group version kind",
    "GroupVersionResource": "group version resource",
    "UserInfo": "username uid groups:strings extra:extra",
    "AdmissionRequest": (
        "kind:GroupVersionKind resource:GroupVersionResource subResource requestKind:GroupVersionKind "
        "requestResource:GroupVersionResource requestSubResource name namespace operation userInfo:UserInfo "
        "dryRun:bool options:dyn"
    ),
    "NamespaceSpec": "finalizers:strings",
    "NamespaceCondition": "status type lastTransitionTime:time message reason",
    "NamespaceStatus": "conditions:conditions phase",
    "NamespaceMetadata": (
        "name generateName namespace labels:map annotations:map UID creationTimestamp:time "
        "deletionGracePeriodSeconds:int deletionTimestamp:time generation:int resourceVersion finalizers:strings"
    ),
    "Namespace": "metadata:NamespaceMetadata spec:NamespaceSpec status:NamespaceStatus",
}
_KINDS: Mapping[str, Type] = {name: types.struct(f"kubernetes.{name}") for name in _DECLARED} | {
    "": types.STRING,
    "bool": types.BOOL,
    "int": INT,
    "time": TIMESTAMP,
    "dyn": DYN,
    "strings": types.list_of(types.STRING),
    "map": types.map_of(types.STRING, types.STRING),
    "extra": types.map_of(types.STRING, types.list_of(types.STRING)),
    "conditions": types.list_of(types.struct("kubernetes.NamespaceCondition")),
}
_STRUCTS: Mapping[str, Mapping[str, Type]] = {
    f"kubernetes.{struct}": {name: _KINDS[kind] for name, _, kind in (word.partition(":") for word in text.split())}
    for struct, text in _DECLARED.items()
}
_PATCH: Mapping[str, Type] = {**dict.fromkeys(("op", "path", "from"), types.STRING), "value": DYN}
_NO_TYPE = Type("none", "")  # matches dyn only
# variables of every expression
ALWAYS: Mapping[str, Type] = {
    "object": DYN,
    "oldObject": DYN,
    "namespaceObject": _KINDS["Namespace"],
    "request": _KINDS["AdmissionRequest"],
}
_ASKING: Mapping[str, Type] = {"authorizer": AUTHORIZER, "authorizer.requestResource": RESOURCE}


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


class Structs:
    """The struct types of a policy. patches: expressions may construct those for mutations."""

    def __init__(self, variables: Mapping[str, Type], patches: bool) -> None:
        self._variables = variables
        self._patches = patches

    def field(self, struct: str, name: str) -> Type | None:
        """Return the type of a field, or None."""
        if struct == VARIABLES:
            return self._variables.get(name)
        if self._patches and struct == "JSONPatch":
            return _PATCH.get(name, _NO_TYPE)
        if self.constructs(struct):
            return DYN
        return _STRUCTS.get(struct, {}).get(name)

    def constructs(self, struct: str) -> bool:
        """Return whether expressions may construct a struct type."""
        return self._patches and (struct in ("JSONPatch", "Object") or struct.startswith("Object."))


class Environment:
    """Compiles the expressions of one policy. params: it has a paramKind. composed: it has variables.

    new: the release whose features new expressions may use; stored ones may use everything. needs: variables that the
    compiled expressions use.
    """

    def __init__(self, *, params: bool = False, composed: bool = False, new: Release = NEWEST) -> None:
        self._new = library.reduce_release(new)
        self._params = params
        self._composed = composed
        self._variables: dict[str, Type] = {}
        self.needs: set[str] = set()  # variables that all expressions use together
        self.variables: dict[str, Expression] = {}

    def declare(self, name: str, source: str) -> Expression:
        """Compile a policy variable, for use in later expressions."""
        result = self.compile(source, ())
        self._variables[name] = declarable_type(result.program.type) if result.program is not None else DYN
        self.variables[name] = result
        return result

    def compile(
        self, source: str, wanted: tuple[Type, ...], *, authorizer: bool = True, patches: bool = False
    ) -> Expression:
        """Compile an expression that returns one of the wanted types, () for any. Never raises: see `Expression.error`.

        authorizer: it may use the authorizer. patches: it may construct patches.
        """
        given = dict(ALWAYS)
        if self._params:
            given["params"] = DYN
        if authorizer:
            given |= _ASKING
        if self._composed:
            given["variables"] = types.struct(VARIABLES)
        functions = (library.patch_libraries if patches else library.kubernetes_libraries)(self._new)
        structs: Any = Structs(self._variables, patches)
        try:
            tree = program.analyze_source(source, given, functions, structs, macros.kubernetes(self._new))
        except CompileError as error:
            return Expression(source, None, error=f"compilation failed: {error}")
        if wanted and tree.type not in wanted:
            return Expression(source, None, error=_unwanted(wanted, tree.type))
        names = tuple(name for name in given if syntax.names_variable(tree, name))
        made = Program(source, tree, functions, given, dict.fromkeys(names))
        try:
            made.check_constants()
            made.prepare()
        except CompileError as error:
            return Expression(source, None, error=f"compilation failed: {error}")
        except ProgramError as error:
            return Expression(source, None, error=f"program instantiation failed: {error}", internal=True)
        self.needs.update(names)
        return Expression(source, made, names)


_DECLARABLE = frozenset(
    ("bool", "bytes", "double", "duration", "int", "null", "string", "timestamp", "uint", "list", "map", "dyn")
)


def declarable_type(kind: Type) -> Type:
    """Return the declared type of a variable: structs and similar types become dyn, also in lists and maps."""
    if kind.kind not in _DECLARABLE or kind.name == "wrapper":
        return DYN
    return replace(kind, params=tuple(map(declarable_type, kind.params))) if kind.params else kind


_SPELLED = {
    "any": "google.protobuf.Any",
    "null": "null_type",
    "duration": "google.protobuf.Duration",
    "timestamp": "google.protobuf.Timestamp",
}


def _unwanted(types: tuple[Type, ...], found: Type) -> str:
    names = " ".join(map(runtime_type_name, types))
    text = f"must evaluate to {names}" if len(types) == 1 else f"must evaluate to one of [{names}]"
    return f"{text} but got {runtime_type_name(found)}" if has("CELFoundTypes") else text


def runtime_type_name(kind: Type) -> str:
    """Return the name of a type's runtime form, for error texts."""
    name = _SPELLED.get(kind.name, kind.name)
    return f"{name}({', '.join(map(runtime_type_name, kind.params))})" if kind.params else name
