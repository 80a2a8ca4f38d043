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

_TEXT = types.STRING
_TEXTS = types.list_of(_TEXT)
_TEXT_MAP = types.map_of(_TEXT, _TEXT)
VARIABLES = "kubernetes.variables"


def _named(name: str) -> Type:
    return types.struct(f"kubernetes.{name}")


# struct type: its fields
_STRUCTS: Mapping[str, Mapping[str, Type]] = {
    "kubernetes.GroupVersionKind": {"group": _TEXT, "version": _TEXT, "kind": _TEXT},
    "kubernetes.GroupVersionResource": {"group": _TEXT, "version": _TEXT, "resource": _TEXT},
    "kubernetes.UserInfo": {
        "username": _TEXT,
        "uid": _TEXT,
        "groups": _TEXTS,
        "extra": types.map_of(_TEXT, _TEXTS),
    },
    "kubernetes.AdmissionRequest": {
        "kind": _named("GroupVersionKind"),
        "resource": _named("GroupVersionResource"),
        "subResource": _TEXT,
        "requestKind": _named("GroupVersionKind"),
        "requestResource": _named("GroupVersionResource"),
        "requestSubResource": _TEXT,
        "name": _TEXT,
        "namespace": _TEXT,
        "operation": _TEXT,
        "userInfo": _named("UserInfo"),
        "dryRun": types.BOOL,
        "options": DYN,
    },
    "kubernetes.NamespaceSpec": {"finalizers": _TEXTS},
    "kubernetes.NamespaceCondition": {
        "status": _TEXT,
        "type": _TEXT,
        "lastTransitionTime": TIMESTAMP,
        "message": _TEXT,
        "reason": _TEXT,
    },
    "kubernetes.NamespaceStatus": {"conditions": types.list_of(_named("NamespaceCondition")), "phase": _TEXT},
    "kubernetes.NamespaceMetadata": {
        "name": _TEXT,
        "generateName": _TEXT,
        "namespace": _TEXT,
        "labels": _TEXT_MAP,
        "annotations": _TEXT_MAP,
        "UID": _TEXT,
        "creationTimestamp": TIMESTAMP,
        "deletionGracePeriodSeconds": INT,
        "deletionTimestamp": TIMESTAMP,
        "generation": INT,
        "resourceVersion": _TEXT,
        "finalizers": _TEXTS,
    },
    "kubernetes.Namespace": {
        "metadata": _named("NamespaceMetadata"),
        "spec": _named("NamespaceSpec"),
        "status": _named("NamespaceStatus"),
    },
}
_PATCH: Mapping[str, Type] = {"op": _TEXT, "path": _TEXT, "from": _TEXT, "value": DYN}
_NO_TYPE = Type("none", "")  # matches dyn only
# variables of every expression
ALWAYS: Mapping[str, Type] = {
    "object": DYN,
    "oldObject": DYN,
    "namespaceObject": _named("Namespace"),
    "request": _named("AdmissionRequest"),
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
        made = self.compile(source, ())
        self._variables[name] = declarable_type(made.program.type) if made.program is not None else DYN
        self.variables[name] = made
        return made

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


_DECLARED = frozenset(
    ("bool", "bytes", "double", "duration", "int", "null", "string", "timestamp", "uint", "list", "map", "dyn")
)


def declarable_type(kind: Type) -> Type:
    """Return the declared type of a variable: structs and similar types become dyn, also in lists and maps."""
    if kind.kind not in _DECLARED or kind.name == "wrapper":
        return DYN
    return replace(kind, params=tuple(map(declarable_type, kind.params))) if kind.params else kind


_SPELLED = {
    "any": "google.protobuf.Any",
    "null": "null_type",
    "duration": "google.protobuf.Duration",
    "timestamp": "google.protobuf.Timestamp",
}


def _unwanted(wanted: tuple[Type, ...], found: Type) -> str:
    names = " ".join(map(runtime_type_name, wanted))
    text = f"must evaluate to {names}" if len(wanted) == 1 else f"must evaluate to one of [{names}]"
    return f"{text} but got {runtime_type_name(found)}" if has("CELFoundTypes") else text


def runtime_type_name(kind: Type) -> str:
    """Return the name of a type's runtime form, for error texts."""
    name = _SPELLED.get(kind.name, kind.name)
    return f"{name}({', '.join(map(runtime_type_name, kind.params))})" if kind.params else name
