"""MutatingAdmissionPolicies: expressions that change objects before they are validated.

Source: k8s.io/apiserver pkg/admission/plugin/policy/mutating, and recorded answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from podless.admission import patches
from podless.admission.attributes import DELETE, AdmissionAttributes
from podless.admission.matching import ConditionFailed
from podless.admission.policies import CompiledPolicy, Invocation, PolicyAdmission, PolicyFault
from podless.admission.refusals import forbid_write, internal_error
from podless.admission.reinvocation import Reinvocation
from podless.admission.subject import AdmissionSubject
from podless.apis.admissionregistration.group import MUTATING_BINDINGS, MUTATING_POLICIES
from podless.codec import gotext, serializer
from podless.kinds.conversion import ConversionFailed
from podless.kinds.kind import Kind
from podless.runtime import lazy
from podless.runtime.jsonobject import Object
from podless.runtime.memo import made_once

if TYPE_CHECKING:
    from podless.cel.policies import Expression
    from podless.fields import jsonpatch
else:
    jsonpatch = lazy.LateModule("podless.fields.jsonpatch")


class Mutation(NamedTuple):
    """One mutation. patch: the expression returns the operations of a JSON patch, else an object to apply."""

    expression: Expression
    patch: bool


class MutatingPolicy(CompiledPolicy):
    """A policy that mutates objects."""

    @made_once
    def mutations(self) -> list[Mutation]:
        """The mutations, in order."""
        from podless.cel.policies import JSON_PATCHES, OBJECT

        result = []
        for mutation in self.spec.get("mutations") or ():
            patch = mutation["patchType"] == "JSONPatch"
            source = (mutation.get("jsonPatch" if patch else "applyConfiguration") or {}).get("expression") or ""
            expression = self.environment.compile_expression(source, JSON_PATCHES if patch else OBJECT, patches=True)
            result.append(Mutation(expression, patch))
        return result


class MutatingAdmissionPolicy(PolicyAdmission[MutatingPolicy]):
    """The plugin of policies that change objects."""

    policies, bindings, make = MUTATING_POLICIES, MUTATING_BINDINGS, MutatingPolicy

    def mutates(self, operation: str, kind: Kind, subresource: str, namespace: str) -> bool:
        return operation != DELETE and bool(self._bound.find_bindings(operation, kind, subresource))

    async def mutate(self, attr: AdmissionAttributes) -> None:
        """Raise Forbidden if a policy fails and its failurePolicy is Fail."""
        bound = self._bound.find_bindings(attr.operation, attr.kind, attr.subresource)
        subject = AdmissionSubject(attr, self._state, self._authorizer)
        rounds = Reinvocation.record_of(attr, "MutatingAdmissionPolicy")
        faults: list[PolicyFault] = []
        changed_by_policy: dict[str, bool] = {}
        for evaluation in await self._bound.find_evaluations(subject, bound):
            if isinstance(evaluation, PolicyFault):
                faults.append(evaluation)
                continue
            faults += await _apply_policy(attr, subject, evaluation, rounds, changed_by_policy)
        if changed_by_policy and changed_by_policy[next(reversed(changed_by_policy))]:
            rounds.note_change(attr)  # even if the object is unchanged, and also for the policies that ran
        rounds.end_round(attr)
        counting = [fault for fault in faults if fault.policy.strict]
        if counting:
            raise _make_error(attr, counting)


def _make_error(attr: AdmissionAttributes, faults: list[PolicyFault]) -> Exception:
    texts = []
    for fault in faults:
        named = gotext.quote(fault.policy.name)
        if fault.binding is not None:
            named = f"'{fault.policy.name}' with binding '{fault.binding.name}'"
        texts.append(f"policy {named} denied request: {fault.reason}")
    refusal = forbid_write(attr, "", causes=[{"message": text} for text in texts])
    refusal.message = texts[0]
    if not faults[0].unconfigured:
        refusal.reason = "Invalid"
    return refusal


async def _apply_policy(
    attr: AdmissionAttributes,
    subject: AdmissionSubject,
    invocation: Invocation[MutatingPolicy],
    rounds: Reinvocation,
    applied: dict[str, bool],
) -> list[PolicyFault]:
    """Carry out the mutations of one policy. Return its faults.

    applied: for each version of an evaluation, the latest last, whether a mutation succeeded.
    """
    policy, binding = invocation.policy, invocation.binding
    key = (policy.name, binding.name, _read_name(invocation.params))
    try:
        if policy.conditions is not None:
            values = await subject.bind_variables(invocation.version, policy.conditions.variables) | {
                "params": invocation.params
            }
            if not policy.conditions.are_met(values, policy.environment.variables):
                return []
        if rounds.skips_call(attr, key):
            return []
    except (ConditionFailed, ConversionFailed) as error:
        return [PolicyFault(policy, binding, str(error))]
    before = attr.obj
    faults: list[PolicyFault] = []
    for mutation in policy.mutations:
        reason = await _apply_mutation(attr, subject, invocation, mutation)
        applied[invocation.version.name] = applied.pop(invocation.version.name, False) or not reason
        if reason:
            faults.append(PolicyFault(policy, binding, reason))
    if attr.obj != before:
        rounds.note_change(attr)
    if policy.spec.get("reinvocationPolicy") == "IfNeeded":
        rounds.request_call(key)
    return faults


def _read_name(params: Object | None) -> tuple[str, str]:
    metadata = (params or {}).get("metadata") or {}
    return metadata.get("namespace", ""), metadata.get("name", "")


async def _apply_mutation(
    attr: AdmissionAttributes, subject: AdmissionSubject, invocation: Invocation[MutatingPolicy], mutation: Mutation
) -> str:
    """Carry out one mutation. Return the error, or ""."""
    from podless.cel import policies

    if mutation.expression.error:
        return mutation.expression.error
    try:
        obj = await subject.show_object(attr.obj, invocation.version)
        if obj is None:
            return ""
        names = invocation.policy.environment.used_variables
        values = await subject.bind_variables(invocation.version, names) | {"params": invocation.params}
        activation = policies.Activation(values, invocation.policy.environment.variables)
        result = activation.evaluate(mutation.expression)
        if mutation.patch:
            changed = _apply_patch(obj, policies.make_patch_operations(result))
        else:
            changed = _apply_configuration(
                attr, invocation, obj, policies.apply_message(result, policies.collect_container_ids(values))
            )
        if attr.subresource == "scale" and attr.kind.custom:
            return "request to convert CR to an invalid group/version: autoscaling/v1"
        if changed is not obj:
            await patches.settle_object(subject, invocation.version, changed, strict=mutation.patch)
    except patches.KindChanged as foreign:
        raise internal_error(f"failed to convert object: {foreign}") from None
    except (
        policies.ExpressionFailure,
        policies.OutOfBudget,
        policies.TypeMismatch,
        ConversionFailed,
        patches.InvalidChange,
    ) as error:
        return str(error)
    return ""


def _apply_patch(obj: Object, operations: list[Object]) -> Object:
    """Return the object after a JSON patch; the unchanged object if a test operation fails. Raises InvalidChange."""
    named = [
        {name: value for name, value in {"op": "", "path": "", **operation}.items() if name != "from" or value}
        for operation in operations
    ]
    try:
        return patches.apply_json_patch(obj, serializer.encode_json(named))
    except jsonpatch.OperationRejected as rejected:
        if rejected.untrue:
            return obj
        raise patches.InvalidChange(f"JSON Patch: {rejected.why}") from None


def _apply_configuration(
    attr: AdmissionAttributes, invocation: Invocation[MutatingPolicy], obj: Object, applied: Object
) -> Object:
    try:
        return patches.apply_configuration(
            attr.kind_in(invocation.version), invocation.version, attr.subresource, obj, applied
        )
    except patches.InvalidChange as error:
        raise patches.InvalidChange(f"error applying patch: {error}") from None
