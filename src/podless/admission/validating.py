"""ValidatingAdmissionPolicies: expressions that writes must satisfy.

Source: k8s.io/apiserver pkg/admission/plugin/policy/validating, and recorded answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from podless.admission.attributes import AdmissionAttributes
from podless.admission.matching import ConditionFailed
from podless.admission.policies import (
    BoundPolicies,
    BoundPolicy,
    CompiledPolicy,
    Invocation,
    PolicyAdmission,
    PolicyFault,
)
from podless.admission.refusals import CODES, forbid_write
from podless.admission.subject import AdmissionSubject
from podless.apis.admissionregistration.group import VALIDATING_BINDINGS, VALIDATING_POLICIES
from podless.codec import serializer
from podless.kinds.conversion import ConversionFailed
from podless.kinds.kind import Kind
from podless.meta.errors import Forbidden
from podless.runtime.jsonobject import Object
from podless.runtime.memo import made_once

if TYPE_CHECKING:
    from podless.cel.policies import Activation, Expression


_LONGEST_MESSAGE = 5 * 1024
_LONGEST_ANNOTATION = 10 * 1024
_FAILURES = "validation.policy.admission.k8s.io/validation_failure"


class Validation(NamedTuple):
    """One expression, and its message if it is false."""

    expression: Expression
    message: str
    message_expression: Expression | None
    reason: str


class ValidatingPolicy(CompiledPolicy):
    """A policy whose expressions must be true."""

    @made_once
    def validations(self) -> list[Validation]:
        """The expressions, in order."""
        from podless.cel.policies import BOOL, STRING

        result = []
        for item in self.spec.get("validations") or ():
            source = item.get("messageExpression")
            message = self.environment.compile_expression(source, STRING, authorizer=False) if source else None
            expression = self.environment.compile_expression(item["expression"], BOOL)
            result.append(Validation(expression, item.get("message") or "", message, item.get("reason") or "Invalid"))
        return result

    @made_once
    def annotations(self) -> list[tuple[str, Expression]]:
        """The audit annotations, by key."""
        from podless.cel.policies import TEXT_OR_NULL

        compile_expression, annotations = self.environment.compile_expression, self.spec.get("auditAnnotations") or ()
        return [
            (item["key"], compile_expression(item["valueExpression"].strip(), TEXT_OR_NULL)) for item in annotations
        ]


class ValidationFailure(NamedTuple):
    """A failed validation. number: its index in the policy."""

    number: int
    message: str
    reason: str = "Invalid"


class ValidatingAdmissionPolicy(PolicyAdmission[ValidatingPolicy]):
    """The plugin of policies that accept or reject writes."""

    policies, bindings, make = VALIDATING_POLICIES, VALIDATING_BINDINGS, ValidatingPolicy

    def validates(self, operation: str, kind: Kind, subresource: str) -> bool:
        return bool(self._bound.find_bindings(operation, kind, subresource))

    async def validate(self, attr: AdmissionAttributes) -> None:
        """Raise Forbidden, with the status code and reason of the first denial."""
        bound = self._bound.find_bindings(attr.operation, attr.kind, attr.subresource)
        await _PolicyRun(attr, AdmissionSubject(attr, self._state, self._authorizer)).run_policies(self._bound, bound)


class _PolicyRun:
    """The evaluation of all policies for one write."""

    def __init__(self, attr: AdmissionAttributes, subject: AdmissionSubject) -> None:
        self.attr = attr
        self.subject = subject
        self.denied: Forbidden | None = None
        self.annotations: dict[str, list[str]] = {}
        # by policy and version: whether match conditions that do not read parameters are met, or why that is unknown
        self.met: dict[tuple[str, str], bool | str] = {}

    async def run_policies(
        self, policies: BoundPolicies[ValidatingPolicy], bound: Sequence[BoundPolicy[ValidatingPolicy]]
    ) -> None:
        for evaluation in await policies.find_evaluations(self.subject, bound):
            if isinstance(evaluation, PolicyFault):
                if evaluation.policy.strict:
                    self.record_denial(evaluation, ValidationFailure(0, evaluation.reason))
                continue
            for failure in await self.find_failures(evaluation):
                self.apply_actions(evaluation, failure)
            await self.add_annotations(evaluation)
        for key, values in self.annotations.items():
            self.attr.annotate(key, ", ".join(values))
        denied, self.denied = self.denied, None
        try:
            if denied is not None:
                raise denied
        finally:
            del denied  # its traceback refers to this frame

    def record_denial(self, source: PolicyFault | Invocation[ValidatingPolicy], failure: ValidationFailure) -> None:
        """Record a denial. Only the first one is reported."""
        if self.denied is not None:
            return
        bound = f" with binding '{source.binding.name}'" if source.binding is not None else ""
        message = f"ValidatingAdmissionPolicy '{source.policy.name}'{bound} denied request: {failure.message}"
        self.denied = forbid_write(self.attr, message, causes=[{"message": message}])
        self.denied.reason = failure.reason
        self.denied.code = CODES.get(failure.reason, 422)

    def apply_actions(self, invocation: Invocation[ValidatingPolicy], failure: ValidationFailure) -> None:
        """Carry out the binding's actions for a failure: deny, warn, audit."""
        policy, binding = invocation.policy.name, invocation.binding
        actions = binding.spec.get("validationActions") or ()
        if "Deny" in actions:
            self.record_denial(invocation, failure)
        if "Warn" in actions:
            source = f"ValidatingAdmissionPolicy '{policy}' with binding '{binding.name}'"
            self.attr.warnings.append(f"Validation failed for {source}: {failure.message}")
        if "Audit" in actions:
            noted = {
                "message": failure.message,
                "policy": policy,
                "binding": binding.name,
                "expressionIndex": failure.number,
                "validationActions": list(actions),
            }
            self.attr.annotate(_FAILURES, serializer.encode_json([noted]).decode())  # which keeps only the first one

    async def find_failures(self, invocation: Invocation[ValidatingPolicy]) -> list[ValidationFailure]:
        """Return the failed validations. Those with an error are included if failurePolicy is Fail."""
        from podless.cel import policies

        policy = invocation.policy
        failures: list[ValidationFailure] = []
        try:
            if not await self.matches_conditions(invocation):
                return []
            validations = policy.validations
            activation = policies.Activation(await self.bind_variables(invocation), policy.environment.variables)
            for index, validation in enumerate(validations):
                try:
                    if activation.evaluate(validation.expression) is not True:
                        failures.append(_make_failure(index, validation, activation))
                except policies.ExpressionFailure as failure:
                    if policy.strict:
                        failures.append(ValidationFailure(index, str(failure)))
        except ConversionFailed as error:
            reason = f"failed to configure binding: failed to convert object version: {error}"
            return [ValidationFailure(0, reason)] if policy.strict else []
        except (ConditionFailed, policies.OutOfBudget) as error:
            return [ValidationFailure(0, str(error))] if policy.strict else []
        return failures

    async def matches_conditions(self, invocation: Invocation[ValidatingPolicy]) -> bool:
        """Return whether the match conditions are met. Raises ConditionFailed."""
        conditions = invocation.policy.conditions
        if conditions is None:
            return True
        key = invocation.policy.name, invocation.version.name
        met = self.met.get(key)
        if met is None:
            values = await self.subject.bind_variables(invocation.version, conditions.variables)
            values["params"] = invocation.params
            try:
                met = conditions.are_met(values, invocation.policy.environment.variables)
            except ConditionFailed as failed:
                met = str(failed)
            if not conditions.read_params:
                self.met[key] = met
        if isinstance(met, str):
            raise ConditionFailed(met)
        return met

    async def bind_variables(self, invocation: Invocation[ValidatingPolicy]) -> Object:
        names = invocation.policy.environment.used_variables
        return await self.subject.bind_variables(invocation.version, names) | {"params": invocation.params}

    async def add_annotations(self, invocation: Invocation[ValidatingPolicy]) -> None:
        """Add the policy's audit annotations."""
        from podless.cel import policies

        policy = invocation.policy
        if not policy.spec.get("auditAnnotations"):
            return
        try:
            if not await self.matches_conditions(invocation):
                return
            annotations = policy.annotations
            activation = policies.Activation(await self.bind_variables(invocation), policy.environment.variables)
            for key, expression in annotations:
                self.collect_annotation(invocation, f"{policy.name}/{key}", expression, activation)
        except (ConditionFailed, ConversionFailed):
            return  # `find_failures` has reported it
        except policies.OutOfBudget as error:
            if policy.strict:
                self.record_denial(invocation, ValidationFailure(0, str(error)))

    def collect_annotation(
        self, invocation: Invocation[ValidatingPolicy], key: str, expression: Expression, activation: Activation
    ) -> None:
        from podless.cel import policies

        try:
            value = activation.evaluate(expression)
        except policies.ExpressionFailure as failure:
            if invocation.policy.strict:
                self.record_denial(invocation, ValidationFailure(0, str(failure)))
            return
        text = value.strip()[:_LONGEST_ANNOTATION] if isinstance(value, str) else ""
        texts = self.annotations.setdefault(key, []) if text else []
        if text and text not in texts:
            texts.append(text)


def _make_failure(index: int, validation: Validation, activation: Activation) -> ValidationFailure:
    """Return the failure of a validation. Its text is the messageExpression, the message, or the expression."""
    from podless.cel import policies

    text = ""
    if validation.message_expression is not None:
        try:
            value = activation.evaluate(validation.message_expression)
            text = value.strip() if isinstance(value, str) else ""
        except policies.ExpressionFailure:
            text = ""
        except policies.OutOfBudget as spent:
            return ValidationFailure(index, f"failed messageExpression: {spent}")
        if len(text.encode()) > _LONGEST_MESSAGE or "\n" in text:
            text = ""
    text = text or validation.message.strip() or f"failed expression: {validation.expression.source.strip()}"
    return ValidationFailure(index, text, validation.reason)
