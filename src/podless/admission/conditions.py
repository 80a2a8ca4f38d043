"""matchConditions: CEL expressions that decide whether a webhook or policy applies to a write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from podless.auth.rules import join_errors
from podless.runtime.jsonobject import Object

if TYPE_CHECKING:
    from podless.cel.policies import Environment, Expression


class ConditionFailed(Exception):
    """The match conditions cannot be evaluated, and failurePolicy is Fail. The text says why."""


class MatchConditions:
    """The matchConditions of a webhook or policy.

    strict: raise ConditionFailed on errors, else they mean "not met". read_params: whether the result depends on the
    parameters of a binding.
    """

    def __init__(self, conditions: Sequence[Mapping[str, str]], environment: Environment, *, strict: bool) -> None:
        from podless.cel.policies import BOOL

        self._expressions: list[Expression] = [
            environment.compile_expression(condition["expression"].strip(), BOOL) for condition in conditions
        ]
        self._strict = strict
        # as in kube-apiserver, match conditions have no namespaceObject
        self.variables = frozenset(name for expression in self._expressions for name in expression.names) - {
            "namespaceObject"
        }
        self.read_params = not self.variables.isdisjoint(("params", "variables"))

    def are_met(self, values: Object, variables: Mapping[str, Expression] | None = None) -> bool:
        """Return whether all conditions are met. One false condition hides the errors of others.

        Raises ConditionFailed if a condition has an error and `strict` is set.
        """
        from podless.cel.policies import BUDGET, Activation, ExpressionFailure, OutOfBudget

        activation = Activation(values, variables, BUDGET // 4)
        errors: list[str] = []
        try:
            for expression in self._expressions:
                if expression.error:
                    errors.append(f"compilation error: {expression.error}")
                    continue
                try:
                    if activation.evaluate(expression) is False:
                        return False
                except ExpressionFailure as failure:
                    errors.append(str(failure))
        except OutOfBudget as spent:
            errors = [str(spent)]
        if not errors:
            return True
        if not self._strict:
            return False
        raise ConditionFailed(join_errors(errors))
