"""Type checks the expressions of a policy against the types of its objects, to report errors only.

Source: k8s.io/apiserver pkg/admission/plugin/policy/validating/typechecking.go.
"""

from __future__ import annotations

from typing import Any

from podless.cel import library, macros, program, types
from podless.cel.declared import Declared
from podless.cel.errors import CompileError
from podless.cel.library.authz import AUTHORIZER
from podless.cel.policies.environment import COMMON_VARIABLES, VARIABLES, PolicyStructs, get_declarable_type
from podless.cel.types import DYN, Type


class TypedEnvironment:
    """Checks expressions against the declarations of the objects.

    objects, parameters: their declarations, None if unknown. has_parameters: the policy has a paramKind.
    """

    def __init__(self, objects: Declared, parameters: Declared | None, *, has_parameters: bool) -> None:
        self._variables: dict[str, Type] = {}
        self._structs: Any = _TypedStructs(self._variables, objects, parameters)
        variable_types = dict(COMMON_VARIABLES) | dict.fromkeys(("object", "oldObject"), _get_root_type(objects))
        if has_parameters:
            variable_types["params"] = _get_root_type(parameters)
        self._variable_types = variable_types | {"authorizer": AUTHORIZER, "variables": types.struct_type(VARIABLES)}

    def declare_variable(self, name: str, source: str) -> None:
        """Declare a variable for later expressions. One with an error has type dyn."""
        try:
            self._variables[name] = get_declarable_type(self._infer_type(source))
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


class _TypedStructs(PolicyStructs):
    """The struct types of a policy, and those of its objects."""

    def __init__(self, variables: dict[str, Type], *declared: Declared | None) -> None:
        super().__init__(variables, patches=False)
        self._declared = [objects for objects in declared if objects is not None]

    def find_field_type(self, struct: str, name: str) -> Type | None:
        for objects in self._declared:
            if objects.find_struct(struct) is not None:
                return objects.find_field_type(struct, name)
        return super().find_field_type(struct, name)


def _get_root_type(declared: Declared | None) -> Type:
    return DYN if declared is None or declared.root is None else declared.root.type
