"""Type checks the expressions of a policy against the types of its objects, to report errors only.

Source: k8s.io/apiserver pkg/admission/plugin/policy/validating/typechecking.go.
"""

from __future__ import annotations

from typing import Any

from podless.cel import library, macros, program, types
from podless.cel.declared import Declared
from podless.cel.errors import CompileError
from podless.cel.library.authz import AUTHORIZER
from podless.cel.policies.environment import ALWAYS, VARIABLES, Structs, declarable_type
from podless.cel.types import DYN, Type


class TypedEnvironment:
    """Checks expressions against the declarations of the objects.

    objects, parameters: their declarations, None if unknown. has_parameters: the policy has a paramKind.
    """

    def __init__(self, objects: Declared, parameters: Declared | None, *, has_parameters: bool) -> None:
        self._variables: dict[str, Type] = {}
        self._structs: Any = _PolicyFields(self._variables, objects, parameters)
        given = dict(ALWAYS) | dict.fromkeys(("object", "oldObject"), _type(objects))
        if has_parameters:
            given["params"] = _type(parameters)
        self._given = given | {"authorizer": AUTHORIZER, "variables": types.struct(VARIABLES)}

    def declare(self, name: str, source: str) -> None:
        """Declare a variable for later expressions. One with an error has type dyn."""
        try:
            self._variables[name] = declarable_type(self._analyze(source))
        except CompileError:
            self._variables[name] = DYN

    def find_problem(self, source: str) -> str:
        """Return the error of an expression, or ""."""
        try:
            self._analyze(source)
        except CompileError as error:
            return str(error)
        return ""

    def _analyze(self, source: str) -> Type:
        return program.analyze_source(
            source, self._given, library.kubernetes_libraries(), self._structs, macros.KUBERNETES
        ).type


class _PolicyFields(Structs):
    """The struct types of a policy, and those of its objects."""

    def __init__(self, variables: dict[str, Type], *declared: Declared | None) -> None:
        super().__init__(variables, patches=False)
        self._declared = [one for one in declared if one is not None]

    def field(self, struct: str, name: str) -> Type | None:
        for one in self._declared:
            if struct in one.structs:
                return one.field(struct, name)
        return super().field(struct, name)


def _type(declared: Declared | None) -> Type:
    return DYN if declared is None or declared.root is None else declared.root.type
