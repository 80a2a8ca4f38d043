"""Evaluates expressions for one request, within a budget. Policy variables are evaluated at first use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from podless.cel.errors import EvaluationError, NoSuchKey
from podless.cel.policies.environment import Expression
from podless.cel.program import LIMIT
from podless.cel.values import Fields
from podless.codec import gotext
from podless.runtime.meter import charge

# maximum cost of all expressions of one policy for one request
BUDGET = 10_000_000
_EVALUATION_STEPS = 4  # steps for each evaluation
_COST_SHIFT = 4  # cost is shifted right by so many bits to get steps


class ExpressionFailure(Exception):
    """An evaluation failed. The text names the expression and says why."""


class OutOfBudget(Exception):
    """The budget is used up, and no further expression is evaluated."""

    def __init__(self) -> None:
        super().__init__("validation failed due to running out of cost budget, no further validation rules will be run")


class _VariablesValue(Fields):
    """The value of the variable `variables`, for one evaluation.

    The activation does not refer to it: requests with long objects must not leave them in reference cycles.
    """

    __slots__ = ("_activation",)

    def __init__(self, activation: Activation) -> None:
        self._activation = activation

    def __contains__(self, name: str) -> bool:
        return name in self._activation.variables

    def __getitem__(self, name: str) -> Any:
        activation = self._activation
        if name not in activation.variable_values:
            activation.variable_values[name] = self._find_variable(name)
        result = activation.variable_values[name]
        if isinstance(result, EvaluationError):
            raise EvaluationError(str(result))
        return result

    def _find_variable(self, name: str) -> Any:
        """Return the value of a variable, or its error."""
        expression = self._activation.variables.get(name)
        if expression is None:
            return NoSuchKey(name)
        if expression.program is None:
            return EvaluationError(f"composited variable {gotext.quote(name)} fails to compile: {expression.error}")
        try:
            return self._activation.evaluate_expression(expression)
        except EvaluationError as error:
            return EvaluationError(f"composited variable {gotext.quote(name)} fails to evaluate: {error}")


class Activation:
    """The variables of expressions and their values.

    values: by name; missing ones are null. variables: of the policy. budget: the maximum cost of all evaluations
    together. variable_values: the values of variables so far, or their errors.
    """

    def __init__(
        self, values: Mapping[str, Any], variables: Mapping[str, Expression] | None = None, budget: int = BUDGET
    ) -> None:
        self._values = values
        self.variables = variables or {}
        self.variable_values: dict[str, Any] = {}
        self.remaining_budget = budget

    def evaluate(self, expression: Expression) -> Any:
        """Return the value of an expression.

        Raises ExpressionFailure, or OutOfBudget if earlier expressions used up the budget.
        """
        if expression.error:
            raise ExpressionFailure(f"compilation error: {expression.error}")
        try:
            value = self.evaluate_expression(expression)
        except EvaluationError as error:
            self._check_cost()
            raise ExpressionFailure(f"expression '{expression.source}' resulted in error: {error}") from None
        self._check_cost()
        return value

    def evaluate_expression(self, expression: Expression) -> Any:
        """Return the value of an expression. Raises EvaluationError."""
        program = expression.program
        assert program is not None, expression.error
        try:
            value, cost = program.run(*map(self._find_value, expression.names), limit=LIMIT)
        except EvaluationError as error:
            self.spend_cost(error.cost)
            raise
        self.spend_cost(cost)
        return value

    def _find_value(self, name: str) -> Any:
        return _VariablesValue(self) if name == "variables" else self._values.get(name)

    def spend_cost(self, cost: int) -> None:
        """Subtract a cost from the budget."""
        self.remaining_budget -= cost
        charge(_EVALUATION_STEPS + (cost >> _COST_SHIFT))

    def _check_cost(self) -> None:
        if self.remaining_budget < 0:
            raise OutOfBudget
