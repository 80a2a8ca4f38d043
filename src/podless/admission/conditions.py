"""Conditions in CEL that a write has to meet for a webhook or a policy to count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from podless.runtime.jsonobject import Object

if TYPE_CHECKING:
    from podless.cel.policies import Environment, Expression


class ConditionFailed(Exception):
    """The match conditions cannot be evaluated, and failurePolicy is Fail. The text says why."""


class Conditions:
    """The matchConditions of a webhook or policy. strict: a condition that fails counts, else nothing is matched."""

    def __init__(self, given: Sequence[Mapping[str, str]], environment: Environment, *, strict: bool) -> None:
        from podless.cel.policies import BOOL

        self._expressions: list[Expression] = [
            environment.compile(condition["expression"].strip(), BOOL) for condition in given
        ]
        self._strict = strict
        # they see no namespace
        self.needs = frozenset(name for expression in self._expressions for name in expression.names) - {
            "namespaceObject"
        }

    def are_met(self, values: Object, variables: Mapping[str, Expression] | None = None) -> bool:
        """Return whether all are met. Raises ConditionFailed where one has no value, unless another is not met."""
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
        raise ConditionFailed(aggregate_errors(errors))


def aggregate_errors(errors: Sequence[str]) -> str:
    """Join errors into one text, equal ones once."""
    texts = list(dict.fromkeys(errors))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
